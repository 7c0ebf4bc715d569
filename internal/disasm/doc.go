// Package disasm finds the starts of instructions and the targets of direct branches. It decodes no
// more of an instruction than necessary. A sweep begins at a function's first byte. Data between
// instructions may mislead it, so its result is no proof.
package disasm
