// Package jitdump turns the records of a jitdump into functions.
//
// A [Dump] is read in two passes. The scan reads every record once, and pairs each load with the
// records that describe it. It leaves a list of events with the offsets of their records. Later,
// functions are read, decoded and fixed one by one, by any number of goroutines ([Dump.Reader]).
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
// The producer's unwind tables are used if package cfi finds no fault in them. Otherwise cfi
// derives rows from the code (unwind.go).
//
// # Quirks
//
// Quirks of producers are fixed only if the dump itself proves them. Each fix has a name, a proof,
// and a count ([Dump.Fixes]; quirks.go). All line tables of a dump decide about the addresses of
// its lines (skew.go, [Dump.LineAddresses]). The tables of baseline code decide about the files of
// V8's lines (v8positions.go). Both decisions are made at the end of a scan. Functions that are
// read while the dump still grows ([Dump.Grow]) get certain lines only.
//
// The package does not know where a dump was found, or which process it belongs to.
package jitdump
