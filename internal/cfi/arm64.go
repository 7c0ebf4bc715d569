package cfi

import (
	"encoding/binary"
)

// Register numbers in instructions.
const (
	aFP = 29
	aSP = 31 // or the zero register, depending on the instruction
)

// arm64Watched returns the index of a watched register, or none.
func arm64Watched(reg uint32) uint8 {
	switch {
	case reg == aFP:
		return fp
	case reg == 30:
		return ra
	case reg >= 19 && reg <= 28:
		return uint8(reg - 17)
	}
	return none
}

// bits returns bits hi to lo of an instruction.
func bits(w uint32, hi, lo int) uint32 { return w >> lo & (1<<(hi-lo+1) - 1) }

// signed returns the low n bits of v as a signed number.
func signed(v uint32, n int) int32 { return int32(v<<(32-n)) >> (32 - n) }

// decodeARM64 decodes the instruction at code[at:] and appends its ops [Arm ARM, C4.1]. Every word
// counts as an instruction of 4 bytes. Instructions are little-endian, with any byte order of
// the data.
func decodeARM64(code []byte, at int, ops []op) ([]op, int) {
	if len(code)-at < 4 {
		return ops, 0
	}
	w := binary.LittleEndian.Uint32(code[at:])
	e := emitter{ops: ops, off: uint32(at)}
	first := len(ops)
	switch bits(w, 28, 25) {
	case 0: // reserved: udf
		e.add(op{kind: opTrap})
	case 8, 9:
		arm64Immediate(&e, w)
	case 10, 11:
		arm64Branch(&e, w, at, len(code))
	case 4, 6, 12, 14:
		arm64Memory(&e, w)
	case 5, 13:
		arm64Register(&e, w, code[:at])
	case 7, 15:
		arm64Vector(&e, w)
	}
	for i := first; i < len(e.ops); i++ {
		e.ops[i].end = uint32(at + 4)
	}
	return e.ops, 4
}

// arm64Write adds the op of writing a general register.
func arm64Write(e *emitter, reg uint32) {
	if r := arm64Watched(reg); r != none {
		e.add(op{kind: opWrite, reg: r})
	}
}

// arm64Immediate decodes data processing with immediates.
func arm64Immediate(e *emitter, w uint32) {
	rd, rn := bits(w, 4, 0), bits(w, 9, 5)
	class := bits(w, 25, 23)
	if class == 2 && bits(w, 31, 31) == 1 && bits(w, 29, 29) == 0 { // add, sub, 64 bits
		imm := int32(bits(w, 21, 10)) << (12 * bits(w, 22, 22))
		if bits(w, 30, 30) == 1 {
			imm = -imm
		}
		switch {
		case rd == aSP && rn == aSP:
			e.add(opAdd(imm))
			return
		case rd == aSP && rn == aFP:
			e.add(op{kind: opSPFromFP, imm: imm})
			return
		case rd == aFP && rn == aSP:
			e.add(op{kind: opFPFromSP, imm: imm})
			return
		}
	}
	// Register 31 is the stack pointer in add and sub, and in and, orr and eor, but not if they set
	// flags.
	addsub, logic := class == 2 && bits(w, 29, 29) == 0, class == 4 && bits(w, 30, 29) != 3
	if rd == aSP && (addsub || logic) {
		e.add(op{kind: opLoseSP})
		return
	}
	arm64Write(e, rd)
}

// arm64Branch decodes branches, exceptions and system instructions.
func arm64Branch(e *emitter, w uint32, at, size int) {
	to := func(imm uint32, n int) int32 { return target(int64(at)+4*int64(signed(imm, n)), size) }
	switch {
	case w&0x7c000000 == 0x14000000:
		if w>>31 == 1 {
			e.add(op{kind: opCall, imm: outside})
		} else {
			e.add(op{kind: opJump, imm: to(bits(w, 25, 0), 26)})
		}
	case w&0xfe000000 == 0x54000000, w&0x7e000000 == 0x34000000:
		e.add(op{kind: opBranch, imm: to(bits(w, 23, 5), 19)})
	case w&0x7e000000 == 0x36000000:
		e.add(op{kind: opBranch, imm: to(bits(w, 18, 5), 14)})
	case w&0xfe000000 == 0xd6000000:
		switch bits(w, 24, 21) {
		case 0, 8:
			e.add(op{kind: opIndirect})
		case 1, 9:
			e.add(op{kind: opCall, imm: outside})
		case 2:
			e.add(op{kind: opReturn})
		default:
			e.add(op{kind: opTrap})
		}
	case w&0xff000000 == 0xd4000000:
		if bits(w, 23, 21) == 1 || bits(w, 23, 21) == 2 { // brk, hlt
			e.add(op{kind: opTrap})
		}
	case w&^0xe0 == 0xd503231f: // paciasp and the like, autiasp and the like
		e.add(op{kind: opSign, imm: 1 - int32(bits(w, 7, 7))})
	case w&0xfff00000 == 0xd5300000, w&0xfff80000 == 0xd5280000: // mrs, sysl
		arm64Write(e, bits(w, 4, 0))
	}
}

// arm64Register decodes data processing with registers. behind is the code before it.
func arm64Register(e *emitter, w uint32, behind []byte) {
	rd := bits(w, 4, 0)
	if w&0x1f200000 == 0x0b200000 && rd == aSP && bits(w, 29, 29) == 0 { // add, sub with an extended register
		imm, ok := arm64Constant(behind, bits(w, 20, 16))
		switch {
		case !ok || bits(w, 9, 5) != aSP || bits(w, 31, 31) == 0 || bits(w, 15, 10) != 0x18:
			e.add(op{kind: opLoseSP})
		case bits(w, 30, 30) == 1:
			e.add(opAdd(-imm))
		default:
			e.add(opAdd(imm))
		}
		return
	}
	// mov x29, x29 and the like keep the value, but do not occur.
	arm64Write(e, rd)
}

// arm64Constant returns the constant that the last instructions of behind load into a register:
// frames too large for an immediate are made so.
func arm64Constant(behind []byte, reg uint32) (imm int32, ok bool) {
	last := func() (w uint32) {
		if n := len(behind) - 4; n >= 0 {
			w, behind = binary.LittleEndian.Uint32(behind[n:]), behind[:n]
		}
		return w
	}
	w, high := last(), uint32(0)
	if w&0xffe0001f == 0xf2a00000|reg { // movk, lsl 16
		high = bits(w, 20, 5) << 16
		w = last()
	}
	switch {
	case high < maxFrame && w&0xffe0001f == 0xd2800000|reg: // movz
		return int32(high | bits(w, 20, 5)), true
	case high == 0 && w&0xffe0001f == 0xd2a00000|reg && bits(w, 20, 5)<<16 < maxFrame: // movz, lsl 16
		return int32(bits(w, 20, 5) << 16), true
	}
	return 0, false
}

// arm64Vector decodes the few vector instructions that write a general register.
func arm64Vector(e *emitter, w uint32) {
	switch opcode := bits(w, 18, 16); {
	case w&0x5f20fc00 == 0x1e200000 && opcode != 2 && opcode != 3: // fcvt*, fmov; fmov to a vector is 7
		if opcode != 7 {
			arm64Write(e, bits(w, 4, 0))
		}
	case w&0x5f3f0000 == 0x1e180000, w&0x5f3f0000 == 0x1e190000: // fcvtz* to fixed point
		arm64Write(e, bits(w, 4, 0))
	case w&0xbfe0fc00 == 0x0e003c00, w&0xbfe0fc00 == 0x0e002c00: // umov, smov
		arm64Write(e, bits(w, 4, 0))
	}
}
