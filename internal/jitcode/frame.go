package jitcode

// A FrameRow has the rules for unwinding from an instruction at Offset or later: the Canonical
// Frame Address (CFA), and the saved registers of the caller. It is valid up to the next row or the
// end of the function. Registers have their DWARF numbers.
type FrameRow struct {
	Offset uint64 // from the start of the function, in bytes
	Known  bool   // false: no rule is known, and all other fields are zero
	CFA    CFA
	Saved  []SavedReg // sorted by number; other registers have the caller's values
}

// A CFA is a register plus an offset. If Stored is not 0, the code keeps the CFA in the word at Reg
// plus Stored. The word is valid if it is between Reg plus Offset and MaxStored bytes above.
// Otherwise the CFA is Reg plus Offset.
type CFA struct {
	Reg    uint8
	Offset int64
	Stored int64
	Marked Marked
}

// A Marked frame shows by its content which frame it is. If the word at Reg plus Zero is 0, and that
// at Reg plus One is 1, the CFA is Reg plus Offset. Otherwise the rest of the CFA counts. Offset is 0
// if there is no such frame.
type Marked struct {
	Reg               uint8
	Offset, Zero, One int64
}

// MaxStored is the maximum distance of a stored CFA above Reg plus Offset, in bytes.
const MaxStored = 1 << 20

// A SavedReg is the place of a caller's register: in memory at the CFA plus Offset, or lost. If the
// row's CFA is stored, Offset counts from the CFA's Reg plus Offset.
type SavedReg struct {
	Reg    uint8
	Offset int64
	Lost   bool
}

// A FrameTable is the content of a function's .eh_frame without addresses: it can be written
// anywhere.
type FrameTable struct {
	CIEs  []FrameCIE
	FDEs  []FrameFDE
	Moved bool // the input described another place, and was moved to the function
}

// A FrameCIE is the common part of some FDEs. Instructions are call frame instructions, in the byte
// order of the code.
type FrameCIE struct {
	CodeAlign    uint64
	DataAlign    int64
	ReturnReg    uint64
	Signal       bool
	Instructions []byte
}

// A FrameFDE describes a range of code.
type FrameFDE struct {
	CIE          int    // index into CIEs
	Offset, Size uint64 // from the start of the function, in bytes
	Instructions []byte
}
