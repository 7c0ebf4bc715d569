package source

import (
	"debug/elf"
)

// MachineOf returns the ELF machine for a name from Mono or uname(2), or EM_NONE if it is unknown.
// Pointers of the program have ptrSize bytes: 64-bit machines also run 32-bit programs.
func MachineOf(name string, ptrSize uint8) elf.Machine {
	narrow := ptrSize == 4
	switch name {
	case "x86-64", "amd64", "x86_64":
		if narrow {
			return elf.EM_386
		}
		return elf.EM_X86_64
	case "x86", "i386", "i486", "i586", "i686":
		return elf.EM_386
	case "arm64", "aarch64":
		if narrow {
			return elf.EM_ARM
		}
		return elf.EM_AARCH64
	case "arm", "armv6l", "armv7l", "armv8l":
		return elf.EM_ARM
	case "ppc64", "ppc64le":
		return elf.EM_PPC64
	case "ppc":
		return elf.EM_PPC
	case "s390x", "s390":
		return elf.EM_S390
	case "riscv", "riscv64", "riscv32":
		return elf.EM_RISCV
	case "mips", "mips64":
		return elf.EM_MIPS
	case "sparc", "sparc64":
		return elf.EM_SPARCV9
	}
	return elf.EM_NONE
}
