package ehframe

import "debug/elf"

func AddressSize(m elf.Machine, addr uint64) int {
	switch m {
	case elf.EM_386, elf.EM_ARM, elf.EM_PPC, elf.EM_SPARC, elf.EM_68K, elf.EM_SH, elf.EM_PARISC, elf.EM_XTENSA, elf.EM_MICROBLAZE, elf.EM_OPENRISC:
		return 4
	case elf.EM_MIPS:
		if addr < 1<<32 {
			return 4
		}
	}
	return 8
}
