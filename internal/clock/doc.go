// Package clock finds how the times of a dump become those of the recording.
//
// With perf record -k mono they are the same. Otherwise it collects [Evidence] from the
// recording: the mapping of the dump, the samples in its functions, the end of the process.
// Each bounds the offset from one side. [Match] decides what can be decided at once,
// [Estimate] walks the samples for the rest.
package clock
