// Package source defines what a side file means to the engine, whatever its format.
//
// A [Dump] lists functions: when each was loaded and where ([Listing]), and, through a
// [FunctionReader], its name, code, lines, inlined calls and unwind tables. The rooms below
// internal/runtime implement Dump, one for each format.
//
// A dump may do more than that. Optional interfaces say so:
//
//	Codeless     it has no bytes of code; they come from a memory or a file
//	Texter       it brings source files along
//	Tracer       its code may run in the frame of an interpreter
//	Comparer     it can find repeated functions
//	Group        it consists of several files
//	PartlyTimed  some functions may have no time
//
// The package also has what rooms share: the search for code in memories (memory.go, memorytime.go),
// the list of source files (texts.go, listings.go), and the names of machines (machine.go).
package source
