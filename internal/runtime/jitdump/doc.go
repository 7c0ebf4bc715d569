// Package jitdump turns the records of a jitdump into functions.
//
// A [Dump] is read twice. Scanning it frames every record once, pairs the records that
// describe a function with the load they describe, and leaves a list of events that know
// where in the file their parts are. Functions are read, decoded and repaired later, one by
// one, by any number of goroutines ([Dump.Reader]).
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
// # Frames
//
// The producer's unwind tables are used where package cfi finds nothing wrong with them.
// Otherwise cfi derives rows from the code (unwind.go).
//
// # Quirks
//
// What producers get wrong is repaired only where the dump itself proves it. Each repair has
// a name, its evidence, and a count ([Dump.Repairs]; quirks.go). All line tables of a dump
// decide about the addresses of its lines (skew.go, [Dump.LineAddresses]). The tables of
// baseline code decide about the files of V8's lines (v8positions.go). Both are settled when
// a scan ends. Functions that are read while the dump still grows ([Dump.Grow]) get certain
// lines only.
//
// The package does not know where a dump was found, or which process it belongs to.
package jitdump
