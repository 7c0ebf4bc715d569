// Package source defines the interfaces between side files and the engine, for all formats.
//
// A [Dump] lists functions: when and where each was loaded ([Listing]). A [FunctionReader] reads
// their names, code, lines, inlined calls and unwind tables. The packages below internal/runtime
// implement Dump, one for each format.
//
// A dump may implement optional interfaces:
//
//	WithoutCode  it has no bytes of code; they come from a memory or a file
//	LackingCode  it may lack the bytes of some functions
//	Texter       it has embedded sources
//	Tracer       its code may run in an interpreter frame
//	Comparer     it can find repeated functions
//	Group        it consists of several files
//	PartlyTimed  some functions may have no time
//	Splitter     functions may lose a part of their addresses to other sources
//	Coder        names and code can be read alone
//	Relocator    it knows code from before relocation
//
// The package also has the shared parts of the formats: the search for code in memories (memory.go,
// memorytime.go), the list of source files (texts.go), and the names of machines
// (machine.go).
package source
