// Package clock converts the times of a dump into those of the recording.
//
// With perf record -k mono they are the same. Otherwise it collects [Constraints] from the
// recording: the mapping of the dump, the samples in its functions, the end of the process. Each
// bounds the offset from one side. [Match] decides without samples where it can. [Estimate] walks
// the samples for the other dumps.
package clock
