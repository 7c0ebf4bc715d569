// Package inject is the engine of jitinject: it reads a perf.data, finds the
// side files that just-in-time compilers wrote, makes an ELF object of every
// jitted function, and writes a perf.data in which perf finds them.
//
//	sum, err := inject.Run(ctx, inject.Options{Input: "perf.data", Output: "perf.jit.data"})
//
// The stages of a run are packages below internal. Each takes what the ones before
// returned (run.go):
//
//	recording  walk the recording once: processes, memory, markers, clocks
//	locate     find, open and scan the side files, and match their clocks
//	codebytes  find the code of dumps that have none
//	calltrace  open logs of calls, whose calls become samples
//	plan       which objects there will be, and which mappings describe them
//	build      make the objects, in parallel
//	rewrite    copy the recording with the mappings put in, and count its samples
//	diagnose   explain what is missing
//
// The [Summary] is made of what they return (summary.go). A stream that can be read only
// once goes through the same stages record by record (live.go, livedumps.go).
//
// # Markers
//
// A runtime that writes a jitdump maps one page of it executable, only so that
// the mapping shows up in the recording. That record, the marker, names the dump
// and the process. It is dropped, as perf does, so that injecting twice does
// no harm. Later records of anonymous memory in that process are dropped, too: they
// are about the memory that code is made in, and would hide the functions.
//
// # Order
//
// perf reads records in rounds: FINISHED_ROUND promises that nothing later is
// older than the end of the round before. A new record goes before the
// first record of the file that is not older than it. That keeps the promise,
// for any number of CPUs and without looking at the rounds.
//
// # Messages
//
// Problems, notes and errors name fields of [Options]. A program with a command line puts its
// own words in their place with [ReplaceMentions].
package inject
