// Package showmono shows logs of Mono's profiler: their events, with the names that the log has told of,
// or a table of calls. A log is read once from front to back, so that one from a pipe will do. The
// package knows no other format.
package showmono
