// Package profile is the model of a recording's samples that the page and the exports show.
//
// The samples come from perf script, so they are what perf itself shows: symbols and callers. Calls
// that a JIT compiler inlined are added from the line tables and inline trees (DWARF) of the objects
// that jitinject made. See [Read].
//
// A [Profile] refers by index: a sample to a stack, a stack to its caller and a frame, a frame to a
// function. Stacks form a tree, so a million samples need little more memory than their times.
//
// # How it is made
//
//	recorded.go    one walk over the recording: header, names of threads, mappings, lost samples
//	script.go      runs perf script without inlining, which takes seconds; with it, minutes
//	scripttext.go  divides its text into samples, scriptframe.go a line into address, symbol and file
//	tables.go      keeps each thread, function, place and stack once
//	expand.go      asks each object about its places, object.go and unit.go read its DWARF
//	native.go      asks addr2line about native code, once for each file
//	names.go       names functions for people, and says which are one; the marks of runtimes are in internal/tier
//
// A place is an instruction in a function. The addresses of callers are taken as perf prints them:
// in copies of stacks perf subtracts one from return addresses, in chains of frame pointers it does not.
// So lines and inlined calls are those that perf shows.
package profile
