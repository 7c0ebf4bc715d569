// Package showperf shows recordings of perf: files, directories and streams, with headers, events,
// features and records. It decodes all fields of samples itself. The package knows no other format.
package showperf
