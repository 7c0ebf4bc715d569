package cfi

import (
	"encoding/binary"
)

// x86 is an instruction during decoding.
type x86 struct {
	b     []byte // bytes from the instruction's first on, at least 32
	at    int    // of the next byte
	rex   byte
	wide  bool // prefix 66
	short bool // prefix 67
	rep   byte // prefix f2, f3 or 0
	op    byte
	mod   byte // 3 for a register
	reg   byte
	rm    byte // a register, or the base of a memory operand, or noBase
	plus  bool // there is an index, too
	disp  int32
	imm   int32
}

// Register numbers in instructions.
const (
	xRSP   = 4
	xRBP   = 5
	noBase = 0xff
)

// x86Watched has the index of each watched register.
var x86Watched = [16]uint8{none, none, none, 2, none, fp, none, none, none, none, none, none, 3, 4, 5, 6}

// decodeX86 decodes the instruction at code[at:], and appends its ops. It returns its length, or 0
// for an unknown instruction.
//
// It has to be fast: nine of ten instructions have no effect on frames, and of those only the
// length matters. A test compares it with golang.org/x/arch.
func decodeX86(code []byte, at int, ops []op) ([]op, int) {
	if len(code)-at < x86Room {
		return decodeX86Last(code, at, ops)
	}
	return decodeX86In(code[at:], code, at, ops)
}

// x86Room is above the length of all instructions, valid or not. With so many bytes available, the
// decoder need not check for the end of the code.
const x86Room = 32

// decodeX86Last is decodeX86 near the end of code.
func decodeX86Last(code []byte, at int, ops []op) ([]op, int) {
	var b [x86Room]byte
	copy(b[:], code[at:])
	return decodeX86In(b[:], code, at, ops)
}

// decodeX86In is decodeX86 with b, the bytes of the instruction and those after it.
func decodeX86In(b, code []byte, at int, ops []op) ([]op, int) {
	x := x86{b: b}
	flags := x.opcode()
	if flags&xUnknown != 0 {
		return ops, 0
	}
	if flags&xModRM != 0 {
		x.modRM()
	}
	if flags&(xImm8|xImm16|xImm32) != 0 {
		x.immediates(flags)
	}
	usesFP := flags&xModRM != 0 && x.mod != 3 && x.rm == xRBP
	if flags&(xSpecial|xReg|xRM) == 0 && !usesFP { // no effect on the state
		if x.at > 15 || x.at > len(code)-at {
			return ops, 0
		}
		return ops, x.at
	}
	e := emitter{ops: ops, off: uint32(at)}
	first := len(ops)
	if usesFP {
		e.add(op{kind: opUseFP})
	}
	if flags&xSpecial != 0 {
		if flags = x.special(&e, flags); flags&xUnknown != 0 {
			return ops, 0
		}
	}
	if flags&xReg != 0 && (flags&xBytes == 0 || x.rex != 0 || x.reg < 4) {
		x.write(&e, x.reg)
	}
	if flags&xRM != 0 {
		switch {
		case x.mod == 3:
			if flags&xBytes == 0 || x.rex != 0 || x.rm < 4 {
				x.write(&e, x.rm)
			}
		case x.base() != baseNone:
			e.add(op{kind: opStore, reg: none, base: x.base(), imm: x.disp, size: x.size(flags)})
		}
	}
	if x.at > 15 || x.at > len(code)-at {
		return ops, 0
	}
	for i := first; i < len(e.ops); i++ {
		o := &e.ops[i]
		o.end = uint32(at + x.at)
		if o.kind == opBranch || o.kind == opJump || o.kind == opCall && x.op == 0xe8 {
			o.imm = target(int64(o.end)+int64(x.imm), len(code))
		}
	}
	return e.ops, x.at
}

// target returns a place in code as the imm of an op.
func target(to int64, size int) int32 {
	if to < 0 || to >= int64(size) {
		return outside
	}
	return int32(to)
}

// An emitter collects the ops of one instruction.
type emitter struct {
	ops []op
	off uint32
}

func (e *emitter) add(o op) {
	o.off = e.off
	e.ops = append(e.ops, o)
}

// opcode reads prefixes and the opcode.
func (x *x86) opcode() uint16 {
	for {
		if x.at == 14 {
			return xUnknown // no instruction has more than 15 bytes
		}
		c := x.b[x.at]
		x.at++
		flags := x86One[c]
		switch {
		case flags&xMore == 0:
			x.op = c
			return flags
		case c&0xf0 == 0x40:
			x.rex = c
			continue
		case c == 0x0f:
			return x.opcode0F()
		case c == 0x66:
			x.wide = true
		case c == 0xf2 || c == 0xf3:
			x.rep = c
		case c == 0x67:
			x.short = true
		case c == 0xc4 || c == 0xc5 || c == 0x62:
			return x.vex(c)
		}
		if x.rex = 0; x.at > 14 {
			return xUnknown
		}
	}
}

// opcode0F reads on after 0F. x.op distinguishes specials of both maps.
func (x *x86) opcode0F() uint16 {
	c := x.b[x.at]
	x.at++
	switch c {
	case 0x38, 0x3a:
		sub := x.b[x.at]
		x.at++
		switch {
		case c == 0x3a:
			return xModRM | xImm8 | x86Pextr(sub)
		case sub >= 0xf0:
			return xModRM | xReg | xRM // movbe, crc32, adcx
		}
		return xModRM
	case 0x7e:
		if x.rep != 0 { // between vector registers
			return xModRM
		}
	case 0xae:
		if x.rep == 0 { // not rdfsbase
			return xModRM
		}
	case 0x01: // the operand may belong to the opcode
		return xModRM
	}
	x.op = c
	flags := x86Two[c]
	if flags&xSpecial != 0 {
		return flags | xTwo
	}
	return flags
}

// xTwo marks specials after 0F.
const xTwo = 1 << 15

// vex reads VEX and EVEX prefixes and the opcode [Intel SDM 2, 2.3.5 and 2.7.1]. They have the maps
// of older instructions.
func (x *x86) vex(c byte) uint16 {
	maps, p := byte(1), x.b[x.at]
	x.rex = 0x40
	switch c {
	case 0xc5:
		x.rex |= ^p >> 5 & 4 // R
		x.at++
	case 0xc4:
		x.rex |= ^p >> 5 // R, X, B
		maps = p & 0x1f
		x.at += 2
	default:
		x.rex |= ^p >> 5
		maps = p & 7
		x.at += 3
	}
	x.rep = x.b[x.at-1] & 3
	x.op = x.b[x.at]
	x.at++
	switch maps {
	case 1:
		switch op := x.op; {
		case op == 0x77 && c != 0x62:
			return 0
		case op >= 0x70 && op <= 0x73 || op == 0xc2 || op >= 0xc4 && op <= 0xc6:
			return xModRM | xImm8 | x86Two[op]&xReg
		case op == 0x7e && x.rep == 1: // vmovd
			return xModRM | xRM
		case op == 0x2c, op == 0x2d, op == 0x50, op == 0xd7, op == 0x93: // vcvt(t)ss2si, vmovmskps, vpmovmskb, kmov
			return xModRM | xReg
		}
		return xModRM
	case 2:
		if x.op == 0xf3 { // blsr: VEX.vvvv has the register
			x.imm = int32(x.b[x.at-2]>>3&15 ^ 15)
			return xModRM | xSpecial | xVVVV
		}
		if x.op >= 0xf0 {
			return xModRM | xReg
		}
		return xModRM
	case 3:
		if x.op == 0xf0 { // rorx
			return xModRM | xImm8 | xReg
		}
		return xModRM | xImm8 | x86Pextr(x.op)
	case 5, 6:
		if c == 0x62 {
			return xModRM
		}
	}
	return xUnknown
}

// xVVVV marks an instruction that writes the register in a VEX prefix.
const xVVVV = 1 << 14

// x86Pextr returns xRM for the instructions of map 0F3A that write a register or
// memory.
func x86Pextr(op byte) uint16 {
	if op >= 0x14 && op <= 0x17 {
		return xRM
	}
	return 0
}

// modRM reads the operands.
func (x *x86) modRM() {
	c := x.b[x.at]
	x.at++
	x.mod, x.reg, x.rm = c>>6, c>>3&7|x.rex<<1&8, c&7
	if x.mod == 3 {
		x.rm |= x.rex << 3 & 8
		return
	}
	low := x.rm
	if low == 4 {
		sib := x.b[x.at]
		x.at++
		low = sib & 7
		x.plus = sib>>3&7|x.rex<<2&8 != 4
	}
	x.rm = low | x.rex<<3&8
	switch {
	case x.mod == 1:
		x.disp = int32(int8(x.b[x.at]))
		x.at++
	case x.mod == 2 || low == 5:
		if x.mod == 0 {
			x.rm = noBase
		}
		x.disp = int32(binary.LittleEndian.Uint32(x.b[x.at:]))
		x.at += 4
	}
}

// immediates reads immediates.
func (x *x86) immediates(flags uint16) {
	if flags&xImm16 != 0 {
		x.imm = int32(binary.LittleEndian.Uint16(x.b[x.at:]))
		x.at += 2
	}
	if flags&xImm8 != 0 {
		if flags&xImm16 == 0 {
			x.imm = int32(int8(x.b[x.at]))
		}
		x.at++
	}
	if flags&xImm32 != 0 {
		x.immediate()
	}
}

// immediate reads an immediate of four bytes, or of two after prefix 66.
func (x *x86) immediate() {
	if x.wide && x.rex&8 == 0 {
		x.imm = int32(int16(binary.LittleEndian.Uint16(x.b[x.at:])))
		x.at += 2
		return
	}
	x.imm = int32(binary.LittleEndian.Uint32(x.b[x.at:]))
	x.at += 4
}

// base returns the base of a memory operand, or baseNone if it is not tracked.
func (x *x86) base() uint8 {
	switch {
	case x.plus || x.mod == 3:
	case x.rm == xRSP:
		return baseSP
	case x.rm == xRBP:
		return baseFP
	}
	return baseNone
}

// size returns the size of a memory operand, in bytes.
func (x *x86) size(flags uint16) uint8 {
	switch {
	case flags&xBytes != 0:
		return 1
	case x.rex&8 != 0:
		return 8
	case x.wide:
		return 2
	}
	return 4
}

// write adds the op of writing a register.
func (x *x86) write(e *emitter, reg byte) {
	if reg == xRSP {
		e.add(op{kind: opLoseSP})
	} else if w := x86Watched[reg&15]; w != none {
		e.add(op{kind: opWrite, reg: w})
	}
}
