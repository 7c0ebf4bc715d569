// Package profile is the model of a recording's samples that the page and the exports show.
//
// The samples come from perf script, so they are what perf itself shows: symbols and callers. Calls
// that a JIT compiler inlined are added from the line tables and inline trees (DWARF) of the objects
// that jitinject made. See [Read].
//
// A [Profile] refers by index: a sample to a stack, a stack to its caller and a frame, a frame to a
// function. Stacks form a tree, so a million samples need little more memory than their times.
package profile
