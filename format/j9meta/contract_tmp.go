package j9meta

import (
	"debug/elf"
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

const FormatName = "OpenJ9 metadata"

type Layout struct {
	Order       binary.ByteOrder
	PointerSize int
	Machine     elf.Machine
	HeaderSize  int
}

func word(c *wire.Cursor, l Layout, field string) uint64 {
	if l.PointerSize == 8 {
		return c.U64(field)
	}
	return uint64(c.U32(field))
}

func (l Layout) address(base uint64, offset int) uint64 {
	a := base + uint64(offset)
	if l.PointerSize == 4 {
		return uint64(uint32(a))
	}
	return a
}
