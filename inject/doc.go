// Package inject is the engine of jitinject: it reads a perf.data, finds the
// side files that just-in-time compilers wrote, makes an ELF object of every
// jitted function, and writes a perf.data in which perf finds them.
//
//	sum, err := inject.Run(ctx, inject.Options{Input: "perf.data", Output: "perf.jit.data"})
//
// The work goes in five steps, a file each. In a pipe, which can be read only once,
// they are one: live.go.
//
//	survey.go    walk the recording once: markers, forks, execs, clocks
//	dumps.go     find and scan the side file behind each marker, and match its clock
//	plan.go      which objects there will be, and which mappings say where they are
//	objects.go   make the objects, in parallel
//	rewrite.go   copy the recording through, with the mappings put in
//
// With Options.Sampled, touch.go walks the samples behind the plan, targets.go adds what
// the code that they touch branches to, and touched.go drops the rest. Clean removes the objects of a result again.
//
// A program that shows how far a run is asks Options.Progress, whenever it likes.
//
// # Markers
//
// A runtime that writes a jitdump maps one page of it executable, only so that
// the mapping shows up in the recording. That record, the marker, names the dump
// and the process. It is taken out, as perf does, so that injecting twice does
// no harm; and so are later records of anonymous memory in that process: they
// are about the memory that code is made in, say nothing that could be looked
// up, and would hide the functions.
//
// # Order
//
// perf reads records in rounds: FINISHED_ROUND promises that nothing later is
// older than the end of the round before. A new record goes in front of the
// first record of the file that is not older than it. That keeps the promise,
// for any number of CPUs and without looking at the rounds.
//
// # Stacks
//
// Where a recording has copies of stacks, perf unwinds them by the objects' tables.
// Where a recording has copies of stacks, perf unwinds them by the objects' tables. libdw
// forgets files that overlap, so functions that lie close together share an object
// (regions.go, regionmap.go; crowded.go for addresses that are reused very often). Tables
// have addresses of their own, as there is no room for them after the code (tables.go). A
// function without a proved row gets a blank table. Functions that are part of a file have
// no object, except at its other copies (filecode.go). Traces of an interpreter without a
// frame of their own use its frame (host.go).
package inject
