// Package perfmap makes dumps of perf maps: files /tmp/perf-PID.map with the addresses and names of
// functions. Recordings do not mention them. [Find] looks where perf looks for them, and beside the
// recording. A map with the number of no process, as a container's, is known by its functions
// (content.go). A map also completes a dump that was cut.
//
// A map has no times. A function counts from the time on that its memory was mapped. Where an
// address was used again, the later line counts, for the whole recording.
//
// A map has no code either. Core dumps and mapped files may have it.
package perfmap
