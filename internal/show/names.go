package show

import (
	"debug/elf"
	"fmt"
	"strings"
)

// Names of numbers.

// machineName is what people call an ELF e_machine, "" if it is nothing.
func machineName(m uint32) string {
	switch elf.Machine(m) {
	case elf.EM_386:
		return "i386"
	case elf.EM_X86_64:
		return "x86-64"
	case elf.EM_AARCH64:
		return "arm64"
	case elf.EM_RISCV:
		return "riscv"
	case elf.EM_LOONGARCH:
		return "loongarch"
	case elf.EM_S390:
		return "s390"
	}
	if m > 0xffff {
		return ""
	}
	name := elf.Machine(m).String()
	if short, ok := strings.CutPrefix(name, "EM_"); ok {
		return strings.ToLower(short)
	}
	return ""
}

// bitNames names the bits of v; those without a name are in one hexadecimal number.
func bitNames(v uint64, names []string) (list []string) {
	for i, name := range names {
		if bit := uint64(1) << i; v&bit != 0 && name != "" {
			list = append(list, name)
			v &^= bit
		}
	}
	if v != 0 {
		list = append(list, fmt.Sprintf("%#x", v))
	}
	return list
}

// jitdumpTypes are the names of the records of jitdumps.
var jitdumpTypes = []string{
	"JIT_CODE_LOAD", "JIT_CODE_MOVE", "JIT_CODE_DEBUG_INFO", "JIT_CODE_CLOSE", "JIT_CODE_UNWINDING_INFO",
	"SAMPLY_JIT_CODE_DEBUG_INFO2", "SAMPLY_JIT_TIER", "SAMPLY_EMBEDDED_SOURCE_FILE", "JITINJECT_OPENJ9_METADATA",
}

// objectTypes are what objects are shown as.
var objectTypes = []string{"section", "symbol", "function", "unwind"}

// unnamed is how records are called that have no name.
func unnamed(t uint32) string { return fmt.Sprintf("type %d", t) }
