package cfi

// X86Starts sets the bits of the offsets at which an instruction starts, by a sweep of
// x86-64 code from its first byte. Bit 0 of set[0] is for the first byte. It returns the
// number of bytes decoded: the sweep ends with the code, or before an unknown instruction.
// set has a bit for each byte of code, all 0.
func X86Starts(set []uint64, code []byte) (reached int) {
	var ops []op
	for at := 0; at < len(code); {
		n := 0
		if len(code)-at >= x86Room {
			n = commonLength((*[x86Room]byte)(code[at:]))
		}
		if n == 0 {
			if ops, n = decodeX86(code, at, ops[:0]); n == 0 {
				return at
			}
		}
		set[at>>6] |= 1 << (at & 63)
		at += n
	}
	return len(code)
}

// Parts that follow an opcode, for commonLength. The low bits are the number of bytes of an immediate.
const (
	lenImmediate = 1<<4 - 1
	lenModRM     = 1 << 4
	lenLong      = 1 << 5 // with REX.W, the immediate has 4 bytes more
	lenNot66     = 1 << 6 // with prefix 66, the immediate has other bytes
	lenTest      = 1 << 7 // only test, with ModRM.reg below 2, has the immediate
	lenRare      = 1 << 8 // left to decodeX86
)

// lenNoBase marks a ModRM byte after which a SIB byte without a base adds 4 bytes.
const lenNoBase = 1 << 7

var (
	lenOne      [256]uint16 // by opcode of one byte
	lenTwo      [256]uint16 // by opcode after 0F
	lenVEX      [256]uint16 // by opcode after a VEX prefix of two bytes
	lenOperands [256]uint8  // by ModRM byte: bytes of it, of the SIB byte and of the displacement
)

// commonLength returns the length of the instruction at the start of b, or 0 if decodeX86 has to
// find it. It knows instructions with at most one of the prefixes 66, F2 and F3 and at most one
// REX: nearly all, in practice. A sweep of a whole dump needs no more than lengths.
func commonLength(b *[x86Room]byte) int {
	at, c := 1, b[0]
	avoid, long := lenRare, 0
	switch c {
	case 0xc5:
		return lengthAfter(b, 3, int(lenVEX[b[2]]))
	case 0x66:
		avoid |= lenNot66
		at, c = 2, b[1]
	case 0xf2, 0xf3:
		at, c = 2, b[1]
	}
	if c&0xf0 == 0x40 {
		long = int(c>>3&1) * lenLong
		c = b[at&3]
		at++
	}
	f := int(lenOne[c])
	if c == 0x0f {
		f = int(lenTwo[b[at&3]])
		at++
	}
	if f&avoid != 0 {
		return 0
	}
	return lengthAfter(b, at, f) + f&long/lenLong*4
}

// lengthAfter returns the length of an instruction from what follows its opcode, before b[at].
func lengthAfter(b *[x86Room]byte, at, f int) int {
	n := at + f&lenImmediate
	if f&lenModRM == 0 {
		return n
	}
	c := b[at&7]
	operands := int(lenOperands[c])
	if operands&lenNoBase != 0 && b[(at+1)&7]&7 == 5 {
		n += 4
	}
	if f&lenTest != 0 && c&0x38 >= 0x10 {
		n -= f & lenImmediate
	}
	return n + operands&^lenNoBase
}

// makeLengths derives the tables from those of decodeX86.
func makeLengths() {
	for i := range 256 {
		op := byte(i)
		lenOne[i], lenTwo[i] = lengthOf(x86One[i]), lengthOf(x86Two[i])
		switch {
		case op >= 0xa0 && op <= 0xa3 || op == 0xff:
			lenOne[i] = lenRare
		case op >= 0xb8 && op <= 0xbf:
			lenOne[i] |= 4 | lenLong | lenNot66
		case op == 0xe8 || op == 0xe9:
			lenOne[i] |= 4
		case op == 0xf6:
			lenOne[i] |= 1 | lenTest
		case op == 0xf7:
			lenOne[i] |= 4 | lenTest | lenNot66
		}
		if op >= 0x80 && op <= 0x8f {
			lenTwo[i] |= 4
		}
		x := x86{b: []byte{0xf8, op, 31: 0}}
		lenVEX[i] = lengthOf(x.vex(0xc5))
		x = x86{b: []byte{op, 31: 0}}
		x.modRM()
		lenOperands[i] = uint8(x.at)
		if op>>6 == 0 && op&7 == 4 {
			lenOperands[i] |= lenNoBase
		}
	}
}

// lengthOf returns what follows an opcode with flags of the tables.
func lengthOf(flags uint16) (f uint16) {
	if flags&(xUnknown|xMore) != 0 {
		return lenRare
	}
	if flags&xModRM != 0 {
		f |= lenModRM
	}
	if flags&xImm8 != 0 {
		f++
	}
	if flags&xImm16 != 0 {
		f += 2
	}
	if flags&xImm32 != 0 {
		f += 4 | lenNot66
	}
	return f
}
