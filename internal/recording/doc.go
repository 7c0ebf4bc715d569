// Package recording reads a perf.data once, before anything is decided ([Survey]).
//
// The result fits in memory for any length of the recording:
//
//	markers       mappings that name a dump                survey.go
//	processes     mappings of files and memory, names      processes.go, memory.go
//	process tree  forks and execs                          processes.go
//	histogram     samples by address, up to a bound        histogram.go
//	runs          blocks that can be copied unread         runs.go
//
// [Open] opens a file, a directory (perf record --threads) or a pipe. A pipe is copied to a file first
// ([Input.Spool]).
package recording
