package cfi

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// A machine describes a kind of code.
type machine struct {
	decode    func(code []byte, at int, ops []op) ([]op, int)
	regs      []uint8 // DWARF numbers of the watched registers
	sp        uint8   // and of the stack pointer
	linked    bool    // calls put the return address into a register, ra
	returnReg uint8   // the column of the return address
	codeAlign uint64
	padding   func(code []byte) int // length of the padding at the start of code, or 0

	// displacement returns the distance from a direct branch's first byte to its target, in
	// bytes.
	displacement func(insn []byte) (by int64, ok bool)
}

var machines = map[elf.Machine]*machine{
	// [System V ABI, AMD64 Supplement, 3.6.2]: rbp, then the preserved registers.
	elf.EM_X86_64: {
		decode: decodeX86, padding: paddingX86, displacement: x86BranchDisplacement,
		regs: []uint8{6, none, 3, 12, 13, 14, 15}, sp: 7, returnReg: 16, codeAlign: 1,
	},
	// [DWARF for the Arm 64-bit Architecture, 4.1]: x29, x30, then the preserved registers.
	elf.EM_AARCH64: {
		decode: decodeARM64, padding: paddingARM64, displacement: arm64BranchDisplacement,
		regs: []uint8{29, 30, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28}, sp: 31, linked: true, returnReg: 30, codeAlign: 4,
	},
}

func machineOf(t jitcode.Target) *machine { return machines[elf.Machine(t.Machine)] }

// entrySP returns the distance from the stack pointer to the CFA just after a call, in bytes.
func (m *machine) entrySP() int32 {
	if m.linked {
		return 0
	}
	return wordSize
}

// index returns the index of a watched register, by its DWARF number.
func (m *machine) index(reg uint8) (i int, ok bool) {
	for i, r := range m.regs {
		if r == reg && r != none {
			return i, true
		}
	}
	return 0, false
}

// CIE returns the common part of rows of functions for a target. Their FDEs refer to it, and begin
// with initial, the row just after a call. cie is nil for unsupported machines.
func CIE(t jitcode.Target) (cie *jitcode.FrameCIE, initial jitcode.FrameRow) {
	m := machineOf(t)
	if m == nil {
		return nil, jitcode.FrameRow{}
	}
	initial = jitcode.FrameRow{Known: true, CFA: jitcode.CFA{Reg: m.sp, Offset: int64(m.entrySP())}}
	if !m.linked {
		initial.Saved = []jitcode.SavedReg{{Reg: m.returnReg, Offset: -wordSize}}
	}
	return &jitcode.FrameCIE{CodeAlign: m.codeAlign, DataAlign: -wordSize, ReturnReg: uint64(m.returnReg)}, initial
}
