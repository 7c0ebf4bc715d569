// Package cfi derives from code how it is unwound.
//
// # From the code
//
// A [Synthesizer] derives the frame of a function, for x86-64 and arm64, the way an
// assembler's author would write it down. A decoder (x86.go, arm64.go) turns each
// instruction into ops: what it does to the stack pointer, to the frame pointer, and to
// registers that belong to the caller; nine of ten do nothing. discover.go follows
// jumps from the entry, so that data in between is not taken for code. flow.go lets a
// state go along all ways until nothing changes any more:
//
//	push rbp            CFA = rsp+16, rbp is at CFA-16
//	mov rbp, rsp        CFA = rbp+16, and rsp may do what it likes
//	sub rsp, 0x20
//	  ...
//	  leave; ret        CFA = rsp+8 between the two
//	later:              CFA = rbp+16: it is the jump here that counts, not what is above
//
// Where ways meet, only what they agree on stays (state.go), and where nothing is left
// there is no row (rows.go): an unwinder that finds no rule stops or follows frame
// pointers by itself, and one that finds a false rule tells lies. What is taken for
// granted:
//
//   - The function is entered by a call, if the caller of this package does not say
//     otherwise. [Result] tells what the code shows of that.
//   - Calls leave the stack pointer as it was. (Where callees take their arguments off
//     the stack, as V8's do, there is a frame pointer, which goes first.) Where returns
//     show that it is not so, nothing is said that counts from the stack pointer behind a
//     call; so it is behind calls into the middle of the function.
//   - Ways that disagree about the CFA do not both exist: a call in front of the place
//     where they meet does not return.
//   - Code that only jumps with unknown targets can lead to has the frame that is there
//     at such jumps, and code that nothing leads to (handlers of exceptions) has that of
//     the frame pointer, if the function has one frame pointer everywhere. It may be data,
//     too: where all frames are those of a frame pointer, so is this, and elsewhere it has
//     to end well to be believed. See gaps.go.
//   - Nobody writes to saved registers by way of pointers.
//
// Rows end where the word below the CFA loses the return address: it is popped, or
// overwritten. [Result] has these places as Moved, and [Cut] removes them from a producer's
// tables. Package internal/stepped compares rows with the frames of real programs.
//
// HotSpot's interpreter is recognized by how its code makes and removes its frame, which
// holds the CFA: see [InterpreterRows].
//
// Code without a frame of its own, entered by a jump from an interpreter, needs an
// [Entry]: the frame of the interpreter. PHP's traces run in that of execute_ex.
//
// Registers that a function destroys without saving them are not marked, except the
// frame pointer: JITs have their own conventions, and no caller misses these. Signed
// return addresses (arm64 paciasp) are not described: while there is one, there are only
// rows for classic frames, which unwinders walk by themselves, too.
//
// Functions of more than 4 MiB, and those with very many jumps, get no rows: memory and
// time are in proportion to the code, whatever it does.
//
// # Branches
//
// [Targets] says where code leads, by the same decoders, and on more machines.
package cfi
