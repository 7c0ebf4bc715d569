package source

import (
	"debug/elf"
)

// MachineOf returns the ELF machine of a name, as Mono or uname(2) has it, for programs with
// pointers of ptrSize bytes; EM_NONE if it is unknown. Programs of 32 bits run on machines of 64.
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
