// Package ehframe reads the unwind tables that a producer sent with a function.
//
// [Split] finds .eh_frame and .eh_frame_hdr in an unwinding record. [ReadBatch] does so for a
// record of many functions. [Check] interprets each FDE as an unwinder would, and rejects unusable
// ones. [Cut] removes rows that the code proves wrong. V8 sends empty tables for most functions.
// For these the result is empty, and package cfi derives rows from the code.
//
// The package depends on no producer. Of a function it uses only the place ([Place]).
package ehframe
