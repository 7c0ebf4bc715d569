// Package source turns the records of side files into code: it is the one place
// where bytes get a meaning.
//
// A [Jitdump] is read twice. Scanning it frames every record once, pairs the
// records that describe a function with the load they describe, and leaves a
// list of events that know where in the file their parts are. Functions are
// read, decoded and repaired later, one by one, by as many goroutines as like
// to ([Jitdump.Reader]).
//
// # Pairing
//
// A debug record names the address of the function it describes, and that is
// how it is found: LLVM writes the debug records of a whole module before its
// loads, and threads interleave theirs. perf gives a load whatever debug record
// came last. A record that names no load's address is given to the next load if
// all its entries lie inside that. Unwinding records name nothing; they belong
// to the load that follows. But LLVM's ORC writes one for all functions of an object
// file: its header says where .eh_frame was, so each function gets the FDEs of its
// addresses (unwindbatch.go).
//
// A record of inlined calls names nothing either: it belongs to the next load, or,
// where threads have written into each other's records, to the load of that name.
//
// A record of OpenJ9's metadata names the address of its load, which comes behind it.
//
// # OpenJ9
//
// What OpenJ9 knows of a compiled body becomes a record of inlined calls ([J9Code]), and
// from there on takes the way of those. A method whose lines nobody knows gets a listing
// of its byte codes, which takes the place of a source file that the dump brings along.
//
// # Frames
//
// How a function is unwound, its producer says, or its code does: unwind.go takes the
// former where package cfi finds nothing wrong with it, and else asks cfi for the
// latter.
//
// # Quirks
//
// What producers get wrong is repaired in quirks.go, and only where the dump
// itself proves it: each repair has a name, says what the evidence is, and is
// counted in [Jitdump.Repairs].
//
// All line tables of a dump decide about the addresses of its lines (skew.go);
// [Jitdump.LineAddresses] returns the decision. The tables of baseline code decide about
// the files of V8's lines (v8positions.go). Both are settled when a scan ends. Functions
// that are read while the dump still grows ([Jitdump.Grow]) get only certain lines.
//
// # Mono
//
// A [MonoLog] is a log of Mono's profiler, which has events for functions and none of
// their code. Like a Jitdump it is a [Dump], and that is what the engine works with.
package source
