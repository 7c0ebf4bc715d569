// Package engine reads a perf.data, finds the side files that just-in-time compilers wrote, and
// makes an ELF object of every jitted function. Then it writes a perf.data in which perf finds those
// objects. Package inject publishes it.
//
// The stages of a run are packages below internal. Each takes the results of earlier ones
// (run.go):
//
//	recording  walk the recording once: processes, memory, markers, clocks
//	locate     find, open and scan the side files, and match their clocks
//	codebytes  find the code of dumps that have none
//	calltrace  open logs of calls, which become samples
//	plan       decide which objects and mappings there will be
//	build      make the objects, in parallel
//	rewrite    copy the recording with the mappings inserted
//	count      count the samples in functions, meanwhile
//	diagnose   explain what is missing
//
// Their results make up the [report.Summary] (summary.go). A recording that comes
// through a pipe is copied to a file before (spool.go).
//
// # Markers
//
// A runtime that writes a jitdump maps one page of it executable, only so that the mapping shows
// up in the recording. That record, the marker, names the dump and the process. It is dropped, as
// perf does, so that injecting twice does no harm. Later records of anonymous memory in that
// process are dropped, too: they describe the memory that code is made in, and would hide the
// functions.
//
// # Order
//
// perf reads records in rounds. FINISHED_ROUND promises that no later record is older than the
// end of the round before. A new record goes before the first record of the file that is not
// older than it. That keeps the promise, for any number of CPUs and without reading the rounds.
package engine
