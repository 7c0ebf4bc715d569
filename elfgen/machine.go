package elfgen

import (
	"debug/elf"
	"encoding/binary"
)

// TargetFor returns class and e_flags for code of a machine, as a compiler for Linux writes them.
// highAddress is the highest address of the code. It distinguishes 64-bit from 32-bit code on MIPS,
// which has one number for both.
func TargetFor(machine elf.Machine, order binary.ByteOrder, highAddress uint64) Target {
	t := Target{Class: elf.ELFCLASS64, Order: order, Machine: machine}
	wide := highAddress >= 1<<32
	switch machine {
	case elf.EM_386, elf.EM_PPC, elf.EM_SPARC, elf.EM_68K, elf.EM_SH, elf.EM_PARISC, elf.EM_XTENSA, elf.EM_MICROBLAZE, elf.EM_OPENRISC:
		t.Class = elf.ELFCLASS32
	case elf.EM_ARM:
		t.Class = elf.ELFCLASS32
		t.Flags = 0x05000000 // EF_ARM_EABI_VER5
		if order == binary.BigEndian {
			t.Flags |= 0x00800000 // EF_ARM_BE8: from ARMv6 on, instructions are still little-endian
		}
	case elf.EM_PPC64:
		t.Flags = 1 // ELFv1, with function descriptors
		if order == binary.LittleEndian {
			t.Flags = 2 // ELFv2
		}
	case elf.EM_RISCV:
		t.Flags = 0x5 // EF_RISCV_RVC | EF_RISCV_FLOAT_ABI_DOUBLE; Linux is on RV64
	case elf.EM_LOONGARCH:
		t.Flags = 0x43 // LP64D, object file ABI 1
	case elf.EM_MIPS:
		if wide {
			t.Flags = 0x80000000 | 0x6 // EF_MIPS_ARCH_64R2, PIC and CPIC
		} else {
			t.Class = elf.ELFCLASS32
			t.Flags = 0x70001000 | 0x6 // EF_MIPS_ARCH_32R2, ABI o32
		}
	}
	return t
}
