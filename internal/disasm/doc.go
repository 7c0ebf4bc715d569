// Package disasm finds the starts of instructions and the targets of direct branches, without
// decoding more of an instruction than that takes. A sweep begins at a function's first byte;
// data between instructions may mislead it, so its result is evidence and no proof.
package disasm
