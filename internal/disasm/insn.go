package disasm

import (
	"debug/elf"
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// Starts has the starts of a function's instructions, found by a sweep from its first byte. They
// help to judge addresses in a dump.
type Starts struct {
	set     []uint64 // a bit for each byte of the code
	reached int      // number of bytes that the sweep decoded
	fixed   int      // if not 0: every length is a multiple of this, in bytes
}

// fixedLength returns a divisor of all instruction lengths, in bytes, for machines without a sweep.
// It returns 0 for machines with a sweep, and for unknown ones.
func fixedLength(machine elf.Machine) int {
	switch machine {
	case elf.EM_ARM: // 4 bytes, or 2 in the T32 set
		return 2
	case elf.EM_AARCH64, elf.EM_PPC64, elf.EM_PPC, elf.EM_MIPS, elf.EM_LOONGARCH, elf.EM_SPARCV9:
		return 4
	}
	return 0
}

// HasSweep reports whether a sweep can find the starts of a machine's instructions.
func HasSweep(machine elf.Machine) bool {
	return machine == elf.EM_X86_64 || machine == elf.EM_386 || machine == elf.EM_RISCV || machine == elf.EM_S390
}

// Sweep finds the starts of code. It reuses the memory of an earlier sweep. On unknown machines the
// result is empty.
func (s *Starts) Sweep(t jitcode.Target, code []byte) {
	machine := elf.Machine(t.Machine)
	s.reached, s.fixed = 0, fixedLength(machine)
	if !HasSweep(machine) {
		return
	}
	words := len(code)/64 + 1
	if cap(s.set) < words {
		s.set = make([]uint64, words)
	}
	s.set = s.set[:words]
	clear(s.set)
	length := s390Length
	switch machine {
	case elf.EM_X86_64:
		s.reached = cfi.X86Starts(s.set, code)
		return
	case elf.EM_386:
		length = func(b []byte) int { return x86Length(b, 32) }
	case elf.EM_RISCV:
		length = riscvLength
	}
	for s.reached < len(code) {
		n := length(code[s.reached:])
		if n <= 0 || n > len(code)-s.reached {
			return // data, or an unknown instruction
		}
		s.set[s.reached>>6] |= 1 << (s.reached & 63)
		s.reached += n
	}
}

// At reports whether an instruction starts at offset off. known is false after the end of the
// sweep.
func (s *Starts) At(off uint64) (start, known bool) {
	if s.fixed != 0 {
		return off%uint64(s.fixed) == 0, true
	}
	if off >= uint64(s.reached) {
		return false, false
	}
	return s.set[off>>6]>>(off&63)&1 != 0, true
}

// x86Length returns the length of the instruction at the start of b, or 0. It avoids faults of
// x86asm, which takes operand bytes after vzeroupper and vzeroall, and reads endbr64 as a lone
// prefix (golang.org/issue/46196).
func x86Length(b []byte, mode int) int {
	switch {
	case len(b) >= 3 && b[0] == 0xc5 && b[2] == 0x77:
		return 3
	case len(b) >= 4 && b[0] == 0xc4 && b[3] == 0x77:
		return 4
	case len(b) >= 4 && b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3]&0xfe == 0xfa:
		return 4
	}
	inst, err := x86asm.Decode(b, mode)
	if err != nil || inst.Op == 0 {
		return 0
	}
	return inst.Len
}

// riscvLength returns the length from the low bits of the first 16 [RISC-V unprivileged ISA 1.5],
// or 0.
func riscvLength(b []byte) int {
	switch {
	case len(b) < 2:
		return 0
	case b[0]&3 != 3:
		return 2
	case b[0]&0x1f != 0x1f:
		return 4
	}
	return 0
}

// s390Length returns the length from the top two bits [z/Architecture Principles of Operation,
// Instruction Formats], or 0.
func s390Length(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	return [4]int{2, 4, 4, 6}[binary.BigEndian.Uint16(b)>>14]
}
