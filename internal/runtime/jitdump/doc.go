// Package jitdump turns the records of a jitdump into functions.
//
// The format is that of tools/perf/Documentation/jitdump-specification.txt. A file has a header and
// records. A JIT_CODE_LOAD has the name, the address and the code of a function. It is the last
// record of a function, mostly: lines, inlined calls and unwind tables come before, in records of
// their own. Threads write at the same time, and records are not marked as belonging together.
// Package jitdump at the top of the module decodes single records.
//
// # The way of a function
//
//	scan.go       each record is read once; a load becomes an event and a function
//	pairing.go    which records belong to the load
//	listing.go    what stays in memory: the places of its records, 28 bytes
//	decisions.go  after the scan: the line tables of all functions decide about each
//	skew.go         where their addresses lie
//	v8positions.go  the files of lines of V8's optimized code
//	callees.go      what called functions do to their callers' stacks, for unwind rows
//	reader.go     a function is read, by any number of goroutines
//	window.go       its records, in one read with those of its neighbours
//	lines.go        a debug record becomes rows: entries with their addresses in the dump
//	inlines.go      a record with an inline tree becomes calls and rows
//	linemaker.go    rows become lines, inside the function
//	texts.go        files get their embedded sources
//	unwind.go       the producer's unwind tables, or rows that package cfi derives from the code
//
// A [Dump] joins these parts: the scanner fills the listing, decisions follow from it, and a
// [Reader] reads functions with both. A log of V8, or objects that a program registered for
// debuggers, may describe functions better than the dump does (descriptions.go, originals.go).
//
// # Pairing
//
//	record                    belongs to
//	DEBUG_INFO                the load of its address, before or after it; else to the next load
//	                          if all entries lie in that
//	UNWINDING_INFO            the next load; one of LLVM's ORC, to all loads that its FDEs cover
//	SAMPLY_DEBUG_INFO2        the next load, or where threads interleave, the load of its name
//	OPENJ9_METADATA           the load of its address that follows
//	EMBEDDED_SOURCE_FILE      loads that follow, until another of its name
//
// # Quirks
//
// Quirks of producers are fixed only if the dump itself proves them. Each fix has a name, a proof,
// and a count (fixes.go). Each producer has files of its own:
//
//	V8       v8names.go (names and files), v8freed.go (overwritten file names); skew.go
//	LLVM     llvm.go (one unwinding record for many functions); skew.go
//	CPython  cpython.go (replaced bytes of code)
//	BeamAsm  beam.go (thread ids, lines before the code)
//	.NET     dotnet.go (the last record is cut after its name)
//	PHP      php.go (traces, which run in the interpreter's frame)
//	OpenJ9   openj9.go (metadata instead of lines)
//	HotSpot  package hotspot (code in frames that it does not show)
//
// The package does not know where a dump was found, or which process it belongs to.
package jitdump
