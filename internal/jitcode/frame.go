package jitcode

// A FrameRow says how an unwinder gets from the registers, at an instruction from
// Offset on, to those of the caller: where the Canonical Frame Address (CFA) is, and
// which registers of the caller are where. A row holds up to the next one or the end
// of the function. Registers have the numbers that DWARF gives them.
type FrameRow struct {
	Offset uint64 // from the start of the function
	Known  bool   // or else nobody can say anything, and the rest is zero
	CFA    CFA
	Saved  []SavedReg // in the order of their numbers; others hold what they held in the caller
}

// A CFA is a register and a number to be added to it. If Stored is not 0, the code keeps
// the CFA in the word at Reg plus Stored: that word is the CFA where it is between Reg plus
// Offset and MaxStored bytes above, and Reg plus Offset is where it is anything else.
type CFA struct {
	Reg    uint8
	Offset int64
	Stored int64
}

// MaxStored is how many bytes above Reg plus Offset a stored CFA is at most.
const MaxStored = 1 << 20

// A SavedReg says that a register of the caller is in memory at the CFA plus
// Offset, or that it is gone. Where the row's CFA is stored, Offset counts from the CFA's
// Reg plus Offset.
type SavedReg struct {
	Reg    uint8
	Offset int64
	Lost   bool
}

// A FrameTable is what an .eh_frame says of a function, without the places in it:
// so it can be written anywhere.
type FrameTable struct {
	CIEs  []FrameCIE
	FDEs  []FrameFDE
	Moved bool // they told of another place, and have been moved to the function
}

// A FrameCIE is what some FDEs have in common. Instructions are call frame
// instructions, in the byte order of the code.
type FrameCIE struct {
	CodeAlign    uint64
	DataAlign    int64
	ReturnReg    uint64
	Signal       bool
	Instructions []byte
}

// A FrameFDE is about a run of code.
type FrameFDE struct {
	CIE          int    // index into CIEs
	Offset, Size uint64 // from the start of the function
	Instructions []byte
}
