package cfi

// Operands of an x86-64 opcode, and what it writes.
const (
	xModRM   = 1 << iota
	xImm8    // an immediate of one byte
	xImm16   // two bytes
	xImm32   // four, or two after prefix 66
	xReg     // ModRM.reg is written
	xRM      // ModRM.rm is written
	xBytes   // operands are bytes
	xSpecial // see special
	xUnknown // unknown opcode
	xMore    // no opcode yet, or one of several bytes
)

var (
	x86One [256]uint16 // opcodes of one byte
	x86Two [256]uint16 // after 0F
)

// The tables follow [Intel SDM 2, appendix A, tables ].
func init() {
	set := func(t *[256]uint16, first, last int, flags uint16) {
		for i := first; i <= last; i++ {
			t[i] = flags
		}
	}
	one := func(first, last int, flags uint16) { set(&x86One, first, last, flags) }
	two := func(first, last int, flags uint16) { set(&x86Two, first, last, flags) }

	for row := 0; row < 0x40; row += 8 { // add or adc sbb and sub xor cmp
		rm, reg := uint16(xRM), uint16(xReg)
		if row == 0x38 {
			rm, reg = 0, 0
		}
		one(row, row, xModRM|rm|xBytes)
		one(row+1, row+1, xModRM|rm)
		one(row+2, row+2, xModRM|reg|xBytes)
		one(row+3, row+3, xModRM|reg)
		one(row+4, row+4, xImm8)
		one(row+5, row+5, xImm32)
		one(row+6, row+7, xUnknown)
	}
	for _, c := range []int{0x0f, 0x26, 0x2e, 0x36, 0x3e, 0x62, 0x64, 0x65, 0x66, 0x67, 0xc4, 0xc5, 0xf0, 0xf2, 0xf3} {
		x86One[c] = xMore
	}
	one(0x40, 0x4f, xMore)    // REX
	one(0x50, 0x5f, xSpecial) // push, pop
	one(0x60, 0x61, xUnknown)
	one(0x63, 0x63, xModRM|xReg)        // movsxd
	one(0x68, 0x68, xImm32|xSpecial)    // push
	one(0x69, 0x69, xModRM|xImm32|xReg) // imul
	one(0x6a, 0x6a, xImm8|xSpecial)     // push
	one(0x6b, 0x6b, xModRM|xImm8|xReg)  // imul
	one(0x70, 0x7f, xImm8|xSpecial)     // jcc
	one(0x80, 0x80, xModRM|xImm8|xRM|xBytes)
	one(0x81, 0x81, xModRM|xImm32|xRM|xSpecial)
	one(0x82, 0x82, xUnknown)
	one(0x83, 0x83, xModRM|xImm8|xRM|xSpecial)
	one(0x84, 0x85, xModRM) // test
	one(0x86, 0x86, xModRM|xReg|xRM|xBytes)
	one(0x87, 0x87, xModRM|xReg|xRM) // xchg
	one(0x88, 0x88, xModRM|xRM|xBytes)
	one(0x89, 0x89, xModRM|xRM|xSpecial) // mov
	one(0x8a, 0x8a, xModRM|xReg|xBytes)
	one(0x8b, 0x8b, xModRM|xReg|xSpecial) // mov
	one(0x8c, 0x8c, xModRM|xRM)
	one(0x8d, 0x8d, xModRM|xReg|xSpecial) // lea
	one(0x8e, 0x8e, xModRM)
	one(0x8f, 0x8f, xModRM|xSpecial) // pop
	one(0x90, 0x97, xSpecial)        // xchg rax
	one(0x9a, 0x9a, xUnknown)
	one(0x9c, 0x9d, xSpecial) // pushf, popf
	one(0xa0, 0xa3, xSpecial) // mov with an address of eight bytes
	one(0xa8, 0xa8, xImm8)
	one(0xa9, 0xa9, xImm32)
	one(0xb0, 0xb7, xImm8|xSpecial)
	one(0xb8, 0xbf, xSpecial) // mov
	one(0xc0, 0xc0, xModRM|xImm8|xRM|xBytes)
	one(0xc1, 0xc1, xModRM|xImm8|xRM)
	one(0xc2, 0xc2, xImm16|xSpecial) // ret
	one(0xc3, 0xc3, xSpecial)
	one(0xc6, 0xc6, xModRM|xImm8|xRM|xBytes)
	one(0xc7, 0xc7, xModRM|xImm32|xRM)
	one(0xc8, 0xc8, xImm16|xImm8|xSpecial) // enter
	one(0xc9, 0xc9, xSpecial)              // leave
	one(0xca, 0xca, xImm16|xSpecial)
	one(0xcb, 0xcc, xSpecial)
	one(0xcd, 0xcd, xImm8)
	one(0xce, 0xce, xUnknown)
	one(0xcf, 0xcf, xSpecial)
	one(0xd0, 0xd0, xModRM|xRM|xBytes)
	one(0xd1, 0xd1, xModRM|xRM)
	one(0xd2, 0xd2, xModRM|xRM|xBytes)
	one(0xd3, 0xd3, xModRM|xRM)
	one(0xd4, 0xd6, xUnknown)
	one(0xd8, 0xdf, xModRM) // x87
	one(0xe0, 0xe3, xImm8|xSpecial)
	one(0xe4, 0xe7, xImm8)
	one(0xe8, 0xe9, xSpecial) // call, jmp
	one(0xea, 0xea, xUnknown)
	one(0xeb, 0xeb, xImm8|xSpecial)
	one(0xf1, 0xf1, xSpecial)
	one(0xf4, 0xf4, xSpecial)
	one(0xf6, 0xf7, xModRM|xSpecial)
	one(0xfe, 0xfe, xModRM|xRM|xBytes)
	one(0xff, 0xff, xModRM|xSpecial)

	two(0x00, 0xff, xModRM)
	two(0x04, 0x04, xUnknown)
	two(0x05, 0x09, 0)        // syscall, ...
	two(0x07, 0x07, xSpecial) // sysret
	two(0x0a, 0x0a, xUnknown)
	two(0x0b, 0x0b, xSpecial) // ud2
	two(0x0c, 0x0c, xUnknown)
	two(0x0e, 0x0e, 0)
	two(0x0f, 0x0f, xUnknown) // 3DNow!
	two(0x20, 0x27, xUnknown)
	two(0x2c, 0x2d, xModRM|xReg) // cvt(t)ss2si
	two(0x30, 0x37, 0)
	two(0x38, 0x3f, xUnknown)    // more maps
	two(0x40, 0x50, xModRM|xReg) // cmovcc, movmskps
	two(0x70, 0x73, xModRM|xImm8)
	two(0x77, 0x77, 0)
	two(0x78, 0x79, xUnknown)
	two(0x7a, 0x7b, xUnknown)
	two(0x7e, 0x7e, xModRM|xRM) // movd
	two(0x80, 0x8f, xSpecial)   // jcc
	two(0x90, 0x9f, xModRM|xRM|xBytes)
	two(0xa0, 0xa2, xSpecial) // push, pop fs; cpuid
	two(0xa4, 0xa4, xModRM|xImm8|xRM)
	two(0xa5, 0xa5, xModRM|xRM)
	two(0xa6, 0xa7, xUnknown)
	two(0xa8, 0xa9, xSpecial) // push, pop gs
	two(0xaa, 0xaa, 0)
	two(0xab, 0xab, xModRM|xRM)
	two(0xac, 0xac, xModRM|xImm8|xRM)
	two(0xad, 0xae, xModRM|xRM)
	two(0xaf, 0xaf, xModRM|xReg)
	two(0xb0, 0xb0, xModRM|xRM|xBytes)
	two(0xb1, 0xb1, xModRM|xRM)
	two(0xb2, 0xb2, xModRM|xReg)
	two(0xb3, 0xb3, xModRM|xRM)
	two(0xb4, 0xb8, xModRM|xReg)
	two(0xb9, 0xb9, xSpecial|xModRM) // ud1
	two(0xba, 0xba, xModRM|xImm8|xRM)
	two(0xbb, 0xbb, xModRM|xRM)
	two(0xbc, 0xbf, xModRM|xReg)
	two(0xc0, 0xc0, xModRM|xReg|xRM|xBytes)
	two(0xc1, 0xc1, xModRM|xReg|xRM)
	two(0xc2, 0xc2, xModRM|xImm8)
	two(0xc4, 0xc4, xModRM|xImm8)
	two(0xc5, 0xc5, xModRM|xImm8|xReg)
	two(0xc6, 0xc6, xModRM|xImm8)
	two(0xc7, 0xc7, xModRM|xRM)
	two(0xc8, 0xcf, xSpecial) // bswap
	two(0xd7, 0xd7, xModRM|xReg)
	two(0xff, 0xff, xSpecial|xModRM) // ud0
	makeLengths()
}
