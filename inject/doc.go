// Package inject does what the command jitinject does, for other Go programs. It reads a perf.data,
// finds the side files that just-in-time compilers wrote, and makes an ELF object of every jitted
// function. Then it writes a perf.data in which perf finds those objects.
//
//	sum, err := inject.Run(ctx, inject.Options{Input: "perf.data", Output: "perf.jit.data"})
//
// [Options] says what to read and what to make. The [Summary] has the results: what was made, how
// many samples are in jitted functions now, and what is missing. [Progress] says how far a run is.
// [Clean] removes the objects of a result.
//
// # Messages
//
// Problems, notes and errors name fields of [Options], in backquotes: `Options.Objects = DIR`. A
// program with a command line sets its own words for them with [NameSettings].
package inject
