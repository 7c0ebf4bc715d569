// Package xraymap finds out which function the numbers in an XRay trace mean.
//
// A trace names functions by numbers that the linked program gives them: a compiler
// describes every place that can be patched (a sled) in the section xray_instr_map, 32
// bytes each, 16 in 32-bit programs:
//
//	address of the sled     a word
//	address of the function a word
//	kind                    1 byte: enter, exit, tail call, enter with arguments, custom event, typed event
//	always instrumented     1 byte
//	version                 1 byte
//	zeros
//
// Addresses are absolute in versions 0 and 1; where the program can be loaded anywhere, a
// relocation puts them in. Since version 2 (LLVM 12) they are relative to their own
// place. A function's number is how many functions there are in the table up to it,
// where sleds that follow each other and are of the same function count once.
//
// With a section xray_fn_idx its entries count instead: those of number n say which sleds
// belong to function n. They are two absolute addresses, begin and end, or since LLVM 22 a
// begin that is relative to its own place, and a count. Which of them, the entries show.
//
// All of this is what compiler-rt's runtime does when it numbers functions
// (compiler-rt/lib/xray/xray_interface.cpp) and llvm-xray when it reads them
// (llvm/lib/XRay/InstrumentationMap.cpp).
//
// What is read may be anything: nothing is allocated that the file is too small for.
package xraymap
