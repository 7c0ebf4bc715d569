package cfi

import (
	"encoding/binary"
)

// Direct branches of machines without derived frames.

// ppcDisplacement [Power ISA, I, 2.4]: b, bl; bc, bcl. Those with AA have absolute targets.
func ppcDisplacement(w uint32) (by int32, ok bool) {
	switch {
	case w&2 != 0:
	case w>>26 == 18:
		return signed(w&^3, 26), true
	case w>>26 == 16:
		return signed(w&^3, 16), true
	}
	return 0, false
}

// loongDisplacement [LoongArch Reference Manual 1, 2.2.5]: beqz, bnez, bceqz, bcnez; b, bl; beq and
// the like. The lower bits of long displacements come first. Pairs of pcaddu18i and jirl are not
// decoded.
func loongDisplacement(w uint32) (by int32, ok bool) {
	low := w >> 10 & 0xffff
	switch op := w >> 26; {
	case op >= 0x10 && op <= 0x12:
		return 4 * signed(w<<16|low, 21), true
	case op == 0x14 || op == 0x15:
		return 4 * signed(w<<16|low, 26), true
	case op >= 0x16 && op <= 0x1b:
		return 4 * signed(low, 16), true
	}
	return 0, false
}

// riscvTargets [RISC-V unprivileged ISA, 2.5 and 28.4]: instructions have two bytes or four.
func riscvTargets(code []byte, _ binary.ByteOrder, f func(to int64)) {
	var before uint32 // the previous instruction, if it has four bytes
	for at := 0; at+2 <= len(code); {
		if code[at]&3 != 3 {
			if by, ok := riscvShort(uint32(binary.LittleEndian.Uint16(code[at:]))); ok {
				f(int64(at) + int64(by))
			}
			before = 0
			at += 2
			continue
		}
		if at+4 > len(code) {
			return
		}
		w := binary.LittleEndian.Uint32(code[at:])
		switch w & 0x7f {
		case 0x6f: // jal
			f(int64(at) + int64(signed(w>>31<<20|w>>12&0xff<<12|w>>20&1<<11|w>>21&0x3ff<<1, 21)))
		case 0x63: // beq and the like
			f(int64(at) + int64(signed(w>>31<<12|w>>7&1<<11|w>>25&0x3f<<5|w>>8&15<<1, 13)))
		case 0x67: // jalr after auipc: a branch to anywhere
			if before&0x7f == 0x17 && before>>7&31 == w>>15&31 {
				f(int64(at-4) + int64(int32(before&^0xfff)) + int64(signed(w>>20, 12)))
			}
		}
		before = w
		at += 4
	}
}

// riscvShort decodes c.j, c.beqz and c.bnez.
func riscvShort(h uint32) (by int32, ok bool) {
	bit := func(from, to int) uint32 { return h >> from & 1 << to }
	switch h & 0xe003 {
	case 0xa001:
		return signed(bit(12, 11)|bit(11, 4)|bit(10, 9)|bit(9, 8)|bit(8, 10)|bit(7, 6)|bit(6, 7)|h>>3&7<<1|bit(2, 5), 12), true
	case 0xc001, 0xe001:
		return signed(bit(12, 8)|h>>10&3<<3|h>>5&3<<6|h>>3&3<<1|bit(2, 5), 9), true
	}
	return 0, false
}

// s390Targets [z/Architecture Principles of Operation, B]: displacements count halfwords.
func s390Targets(code []byte, _ binary.ByteOrder, f func(to int64)) {
	for at := 0; at+2 <= len(code); {
		n := [4]int{2, 4, 4, 6}[code[at]>>6]
		if at+n > len(code) {
			return
		}
		insn, low := code[at:at+n], code[at+1]&15
		long := insn[0] == 0xc0 && (low == 4 || low == 5) || insn[0] == 0xcc && low == 6 // brcl, brasl, brcth
		short := insn[0] == 0xa7 && low >= 4 && low <= 7 || insn[0] == 0x84 || insn[0] == 0x85
		if insn[0] == 0xec { // brxhg, brxlg; compare and branch relative
			switch insn[5] {
			case 0x44, 0x45, 0x64, 0x65, 0x76, 0x77, 0x7c, 0x7d, 0x7e, 0x7f:
				short = true
			}
		}
		switch {
		case long:
			f(int64(at) + 2*int64(int32(binary.BigEndian.Uint32(insn[2:]))))
		case short:
			f(int64(at) + 2*int64(int16(binary.BigEndian.Uint16(insn[2:]))))
		}
		at += n
	}
}
