package show

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/wire"
)

// Names of numbers.

// MachineName returns the usual name of an ELF e_machine, "" if it has none.
func MachineName(m uint32) string {
	switch elf.Machine(m) {
	case elf.EM_386:
		return "i386"
	case elf.EM_X86_64:
		return "x86-64"
	case elf.EM_AARCH64:
		return "arm64"
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

// BitNames names the bits of v; those without a name are in one hexadecimal number.
func BitNames(v uint64, names []string) (list []string) {
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

// nameOf is the i-th name, or "".
func nameOf(names []string, i uint64) string {
	if i < uint64(len(names)) {
		return names[i]
	}
	return ""
}

// Unnamed is how records are called that have no name.
func Unnamed(t uint32) string { return fmt.Sprintf("type %d", t) }

// OrderName returns the usual name of a byte order.
func OrderName(o binary.ByteOrder) string {
	if o == binary.ByteOrder(binary.BigEndian) {
		return "big-endian"
	}
	return "little-endian"
}

// OffsetOf returns the offset of a codec's error, or at if it has none.
func OffsetOf(err error, at int64) int64 {
	var located *wire.Error
	if errors.As(err, &located) {
		return located.Offset
	}
	return at
}
