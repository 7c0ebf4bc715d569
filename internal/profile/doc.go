// Package profile is the model of a recording's samples that the page and the exports show.
//
// The samples come from perf script, so they are what perf itself shows: symbols and callers. Calls
// that a JIT compiler inlined are added from the line tables and inline trees (DWARF) of the objects
// that jitinject made. See [Read].
//
// A [Profile] refers by index: a sample to a stack, a stack to its caller and a frame, a frame to a
// function. Stacks form a tree, so a million samples need little more memory than their times.
//
// One walk over the recording finds the header, names of threads, mappings and lost samples. perf script runs without
// inlining, which takes seconds; with it, minutes. Then each object is asked about its places, by its DWARF, and
// addr2line about native code, once for each file.
//
// A place is an instruction in a function. The addresses of callers are taken as perf prints them:
// in copies of stacks perf subtracts one from return addresses, in chains of frame pointers it does not.
// So lines and inlined calls are those that perf shows.
package profile
