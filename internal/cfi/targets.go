package cfi

import (
	"debug/elf"
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// Targets calls f for every direct branch that leaves code, jumps and calls alike. The argument is
// the branch target, counted from the start of the code. The code is swept from its first byte, as
// disassemblers do, so data in it may give some false targets. Unsupported machines have none.
func Targets(t jitcode.Target, code []byte, f func(offset int64)) {
	sweep := sweeps[elf.Machine(t.Machine)]
	if sweep == nil {
		return
	}
	sweep(code, t.Order, func(to int64) {
		if to < 0 || to >= int64(len(code)) {
			f(to)
		}
	})
}

// sweeps find all direct branches of code. Only on PowerPC do instructions have the byte order of
// the data.
var sweeps = map[elf.Machine]func(code []byte, order binary.ByteOrder, f func(to int64)){
	elf.EM_X86_64:    x86Targets,
	elf.EM_AARCH64:   fixedTargets(binary.LittleEndian, arm64Displacement),
	elf.EM_ARM:       fixedTargets(binary.LittleEndian, armDisplacement),
	elf.EM_PPC64:     fixedTargets(nil, ppcDisplacement),
	elf.EM_PPC:       fixedTargets(nil, ppcDisplacement),
	elf.EM_LOONGARCH: fixedTargets(binary.LittleEndian, loongDisplacement),
	elf.EM_RISCV:     riscvTargets,
	elf.EM_S390:      s390Targets,
}

// x86Targets skips undecodable code byte by byte.
func x86Targets(code []byte, _ binary.ByteOrder, f func(to int64)) {
	var room [8]op
	for at := 0; at < len(code); {
		ops, n := decodeX86(code, at, room[:0])
		if n == 0 {
			at++
			continue
		}
		for i := range ops {
			if k := ops[i].kind; k == opBranch || k == opJump || k == opCall {
				if by, ok := x86Displacement(code[at : at+n]); ok {
					f(int64(at+n) + by)
				}
				break
			}
		}
		at += n
	}
}

// x86Displacement returns the distance from a direct branch's end to its target. The displacement
// is its last operand.
func x86Displacement(insn []byte) (by int64, ok bool) {
	var b [x86Room]byte
	copy(b[:], insn)
	x := x86{b: b[:]}
	two := x.opcode()&xTwo != 0
	rest := insn[min(x.at, len(insn)):]
	switch op := x.op; {
	case two && op&0xf0 == 0x80, !two && (op == 0xe8 || op == 0xe9):
		if len(rest) == 4 {
			return int64(int32(binary.LittleEndian.Uint32(rest))), true
		}
	case !two && (op&0xf0 == 0x70 || op >= 0xe0 && op <= 0xe3 || op == 0xeb):
		if len(rest) == 1 {
			return int64(int8(rest[0])), true
		}
	}
	return 0, false
}

// fixedTargets returns a sweep for machines with instructions of four bytes. displacement returns
// the distance from an instruction to its target. order is nil for the byte order of the data.
func fixedTargets(order binary.ByteOrder, displacement func(w uint32) (by int32, ok bool)) func([]byte, binary.ByteOrder, func(int64)) {
	return func(code []byte, data binary.ByteOrder, f func(to int64)) {
		order := order
		if order == nil {
			order = data
		}
		for at := 0; at+4 <= len(code); at += 4 {
			if by, ok := displacement(order.Uint32(code[at:])); ok {
				f(int64(at) + int64(by))
			}
		}
	}
}

// arm64Displacement [Arm ARM, C4.1.66]: b, bl; b.cond, cbz, cbnz; tbz, tbnz.
func arm64Displacement(w uint32) (by int32, ok bool) {
	switch {
	case w&0x7c000000 == 0x14000000:
		return 4 * signed(w, 26), true
	case w&0xfe000000 == 0x54000000, w&0x7e000000 == 0x34000000:
		return 4 * signed(w>>5, 19), true
	case w&0x7e000000 == 0x36000000:
		return 4 * signed(w>>5, 14), true
	}
	return 0, false
}

// armDisplacement [Arm ARM for A-profile, F4.1]: b, bl, blx of the A32 set. Displacements count
// from two instructions further. T32 is not decoded.
func armDisplacement(w uint32) (by int32, ok bool) {
	if w&0x0e000000 != 0x0a000000 {
		return 0, false
	}
	by = 4*signed(w, 24) + 8
	if w>>28 == 15 { // the target of blx may lie between two words
		by += int32(w >> 23 & 2)
	}
	return by, true
}

// x86BranchDisplacement is x86Displacement, counted from the branch's first byte.
func x86BranchDisplacement(insn []byte) (by int64, ok bool) {
	by, ok = x86Displacement(insn)
	return by + int64(len(insn)), ok
}

func arm64BranchDisplacement(insn []byte) (int64, bool) {
	by, ok := arm64Displacement(binary.LittleEndian.Uint32(insn))
	return int64(by), ok
}
