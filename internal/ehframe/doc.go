// Package ehframe reads the unwind tables that a producer sent with a function.
//
// [Split] finds .eh_frame and .eh_frame_hdr in an unwinding record; [ReadBatch] does so for a
// record of many functions. [Check] interprets each FDE as an unwinder would and refuses what
// none could follow. [Cut] removes rows that the code proves wrong. V8 sends tables without
// content for most functions: for these the result is empty, and package cfi derives rows from
// the code.
//
// The package knows no producer and no function but the place it lies at ([Place]).
package ehframe
