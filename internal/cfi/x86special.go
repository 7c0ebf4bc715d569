package cfi

import (
	"encoding/binary"
	"math"
)

// special appends the ops of an instruction that changes frames or control flow. It returns the
// flags of the table that remain to be handled.
func (x *x86) special(e *emitter, flags uint16) (rest uint16) {
	long := x.rex&8 != 0
	switch {
	case flags&xVVVV != 0:
		x.write(e, byte(x.imm))
		return 0
	case flags&xTwo != 0:
		return x.special0F(e)
	}
	reg := x.op&7 | x.rex<<3&8
	switch x.op { // every number is listed, for a jump table
	case 0x89, 0x8b, 0x8d:
		return x.move(e)
	case 0x50, 0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57:
		x.push(e, x86Watched[reg])
	case 0x58, 0x59, 0x5a, 0x5b, 0x5c, 0x5d, 0x5e, 0x5f:
		x.pop(e, reg)
	case 0x68, 0x6a, 0x9c:
		x.push(e, none)
	case 0x9d:
		e.add(opAdd(wordSize))
	case 0x8f:
		if x.mod == 3 {
			x.pop(e, x.rm)
		} else {
			e.add(opAdd(wordSize))
		}
	case 0x90, 0x91, 0x92, 0x93, 0x94, 0x95, 0x96, 0x97:
		if reg != 0 {
			x.write(e, reg)
		}
	case 0xa0, 0xa1, 0xa2, 0xa3:
		if x.short {
			x.at += 4
		} else {
			x.at += 8
		}
	case 0xb0, 0xb1, 0xb2, 0xb3, 0xb4, 0xb5, 0xb6, 0xb7:
		if x.rex != 0 || reg < 4 { // not ah, ch, dh or bh
			x.write(e, reg)
		}
	case 0xb8, 0xb9, 0xba, 0xbb, 0xbc, 0xbd, 0xbe, 0xbf:
		if long {
			x.at += 8
		} else {
			x.immediate()
		}
		x.write(e, reg)
	case 0x81, 0x83:
		return x.arithmetic(e)
	case 0xf6, 0xf7:
		return x.group3()
	case 0xff:
		return x.group5(e)
	default:
		x.flow(e)
	}
	return 0
}

func opAdd(by int32) op { return op{kind: opAddSP, imm: by} }

func (x *x86) push(e *emitter, watched uint8) {
	if x.wide {
		e.add(op{kind: opLoseSP})
		return
	}
	e.add(opAdd(-wordSize))
	e.add(op{kind: opStore, reg: watched, base: baseSP, size: wordSize})
}

func (x *x86) pop(e *emitter, reg byte) {
	switch w := x86Watched[reg&15]; {
	case x.wide || reg == xRSP:
		x.write(e, reg)
		e.add(op{kind: opLoseSP})
		return
	case w != none:
		e.add(op{kind: opLoad, reg: w, base: baseSP})
	}
	e.add(opAdd(wordSize))
}

// arithmetic decodes add, or, adc, sbb, and, sub, xor and cmp with an immediate.
func (x *x86) arithmetic(e *emitter) (rest uint16) {
	switch what := x.reg & 7; {
	case what == 7:
		return 0
	case x.mod == 3 && x.rm == xRSP && x.rex&8 != 0 && what == 0:
		e.add(opAdd(x.imm))
		return 0
	case x.mod == 3 && x.rm == xRSP && x.rex&8 != 0 && what == 5 && x.imm != math.MinInt32:
		e.add(opAdd(-x.imm))
		return 0
	}
	return xRM
}

// move decodes mov and lea.
func (x *x86) move(e *emitter) (rest uint16) {
	long, base := x.rex&8 != 0, x.base()
	to, from := x.reg, x.rm
	if x.op == 0x89 {
		to, from = x.rm, x.reg
	}
	registers := x.mod == 3 && x.op != 0x8d
	switch {
	case long && registers && to == xRSP && from == xRBP:
		e.add(op{kind: opSPFromFP})
	case long && registers && to == xRBP && from == xRSP:
		e.add(op{kind: opFPFromSP})
	case registers && to == from && long:
	case registers:
		x.write(e, to)
	case x.op == 0x8d && long && to == xRSP && base == baseSP:
		e.add(opAdd(x.disp))
	case x.op == 0x8d && long && to == xRSP && base == baseFP:
		e.add(op{kind: opSPFromFP, imm: x.disp})
	case x.op == 0x8d && long && to == xRBP && base == baseSP:
		e.add(op{kind: opFPFromSP, imm: x.disp})
	case x.op == 0x89:
		watched := uint8(none)
		if long {
			watched = x86Watched[from]
		}
		if base != baseNone {
			e.add(op{kind: opStore, reg: watched, base: base, imm: x.disp, size: x.size(0)})
		}
	case x.op == 0x8b && long && base != baseNone && x86Watched[to] != none:
		e.add(op{kind: opLoad, reg: x86Watched[to], base: base, imm: x.disp})
	default:
		x.write(e, to)
	}
	return 0
}

// group3 decodes test, not, neg, multiplication and division, which write no watched register. Only
// test has an immediate.
func (x *x86) group3() (rest uint16) {
	switch what := x.reg & 7; {
	case what < 2 && x.op == 0xf6:
		x.at++
	case what < 2:
		x.immediate()
	case what < 4 && x.op == 0xf6:
		return xRM | xBytes
	case what < 4:
		return xRM
	}
	return 0
}

// group5 decodes inc, dec, call, jmp and push.
func (x *x86) group5(e *emitter) (rest uint16) {
	switch x.reg & 7 {
	case 0, 1:
		return xRM
	case 2, 3:
		e.add(op{kind: opCall, imm: outside})
	case 4, 5:
		e.add(op{kind: opIndirect})
	case 6:
		x.push(e, none)
	default:
		return xUnknown
	}
	return 0
}

// flow decodes control flow, and enter and leave.
func (x *x86) flow(e *emitter) {
	switch op_ := x.op; {
	case op_ >= 0x70 && op_ <= 0x7f || op_ >= 0xe0 && op_ <= 0xe3:
		e.add(op{kind: opBranch})
	case op_ == 0xeb:
		e.add(op{kind: opJump})
	case op_ == 0xe8 || op_ == 0xe9:
		x.imm = int32(binary.LittleEndian.Uint32(x.b[x.at:]))
		x.at += 4
		switch next := x.b[x.at]; {
		case op_ == 0xe9:
			e.add(op{kind: opJump})
		case x.imm != 0:
			e.add(op{kind: opCall})
		case next&0xf8 == 0x58 || next&0xf0 == 0x40 && x.b[x.at+1]&0xf8 == 0x58:
			x.push(e, none) // call of the next instruction, a pop: it reads rip
		default: // or a call of a target that is not patched in yet
			e.add(op{kind: opCall})
			e.add(op{kind: opLoseSP})
		}
	case op_ == 0xc2 || op_ == 0xc3:
		e.add(op{kind: opReturn, imm: int32(uint16(x.imm))})
	case op_ == 0xc8:
		if x.b[x.at-1]&31 != 0 { // nested frames, which are not used in practice
			e.add(op{kind: opLoseSP})
			e.add(op{kind: opWrite, reg: fp})
			break
		}
		e.add(opAdd(-wordSize))
		e.add(op{kind: opStore, reg: fp, base: baseSP, size: wordSize})
		e.add(op{kind: opFPFromSP})
		e.add(opAdd(-x.imm))
	case op_ == 0xc9:
		e.add(op{kind: opSPFromFP})
		e.add(op{kind: opLoad, reg: fp, base: baseSP})
		e.add(opAdd(wordSize))
	default:
		e.add(op{kind: opTrap}) // int3, hlt, far and interrupt returns
	}
}

// special0F is special for opcodes after 0F.
func (x *x86) special0F(e *emitter) (rest uint16) {
	switch op_ := x.op; {
	case op_ >= 0x80 && op_ <= 0x8f:
		x.imm = int32(binary.LittleEndian.Uint32(x.b[x.at:]))
		x.at += 4
		e.add(op{kind: opBranch})
	case op_ == 0xa0 || op_ == 0xa8:
		x.push(e, none)
	case op_ == 0xa1 || op_ == 0xa9:
		e.add(opAdd(wordSize))
	case op_ == 0xa2:
		e.add(op{kind: opWrite, reg: x86Watched[3]})
	case op_ >= 0xc8 && op_ <= 0xcf:
		x.write(e, op_&7|x.rex<<3&8)
	default:
		e.add(op{kind: opTrap}) // ud0, ud1, ud2
	}
	return 0
}

// paddingX86 returns the length of the padding at the start of code, in bytes: nop in its many
// forms, int3, zeros.
func paddingX86(code []byte) int {
	at := 0
	for at < len(code) {
		n := at
		for n < len(code) && (code[n] == 0x66 || code[n] == 0x2e) {
			n++
		}
		switch rest := code[n:]; {
		case len(rest) > 0 && (rest[0] == 0x90 || n == at && (rest[0] == 0xcc || rest[0] == 0)):
			at = n + 1
		case len(rest) > 2 && rest[0] == 0x0f && rest[1] == 0x1f:
			_, length := decodeX86(code, at, nil)
			if length == 0 {
				return at
			}
			at += length
		default:
			return at
		}
	}
	return at
}
