// Package cfi derives unwind tables from code.
//
// # From the code
//
// A [Synthesizer] derives the frame of a function, for x86-64 and arm64, in the form that an
// assembler's author would write. A decoder (x86.go, arm64.go) turns each instruction into ops: its
// effects on the stack pointer, on the frame pointer, and on registers of the caller. Nine of ten
// instructions have no such effect. discover.go follows jumps from the entry, so that data in
// between is not decoded as code. flow.go propagates a state along all paths until nothing changes
// any more:
//
//	push rbp            CFA = rsp+16, rbp is at CFA-16
//	mov rbp, rsp        CFA = rbp+16, and rsp may change freely
//	sub rsp, 0x20
//	  ...
//	  leave; ret        CFA = rsp+8 between the two
//	later:              CFA = rbp+16: from the jump to here, not from the line above
//
// Where paths meet, only their common rules stay (state.go). Without any rule, there is no row
// (rows.go). An unwinder without a rule stops, or follows frame pointers by itself. With a false
// rule, it returns false callers. The package assumes:
//
//   - The function is entered by a call, unless the caller of this package passes another [Entry].
//     [Result] has what the code shows of that.
//   - Calls leave the stack pointer unchanged. If callees remove their arguments from the stack,
//     as V8's do, a frame pointer takes precedence. If returns contradict this assumption, nothing
//     counts from the stack pointer after a call. The same is true after calls into the middle of
//     the function.
//   - Paths with different CFAs do not both exist: a call before their common target does not
//     return.
//   - Code that is reached only by jumps with unknown targets has the frame of these jumps. Code
//     without any jump to it (exception handlers) has that of the frame pointer, if the function
//     has one frame pointer everywhere. It may also be data. If all frames are those of a frame
//     pointer, so is this one. Otherwise the code must end plausibly. See gaps.go. If a call may have
//     entered it, nothing is known. See called.go.
//   - Saved registers are not overwritten through pointers.
//
// Rows end where the word below the CFA loses the return address: it is popped, or overwritten.
// [Result] has these places as Moved, and ehframe.Cut removes them from a producer's tables.
// Package internal/stepped compares rows with the frames of real programs.
//
// HotSpot's interpreter is recognized by the code that makes and removes its frame, which has the
// CFA: see [InterpreterRows].
//
// Code without a frame of its own, entered by a jump from an interpreter, needs an [Entry]: the
// interpreter frame. PHP's traces run in that of execute_ex.
//
// Registers that a function overwrites without saving them are not marked, except the frame
// pointer. JITs have their own conventions, and no caller needs these registers. Signed return
// addresses (arm64 paciasp) are not described. While there is one, there are only rows for classic
// frames, which unwinders also walk by themselves.
//
// Functions of more than 4 MiB, and those beyond maxOps or maxTargets, get no rows.
// Memory and time are proportional to the code's size, for any code.
//
// # Branches
//
// [Targets] finds the direct branches of code, by the same decoders, and on more machines.
package cfi
