package j9meta

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Layout says how the machine and the make of the VM that wrote a blob lay out
// its structures. The metadata itself does not say: it never leaves its process.
type Layout struct {
	Order       binary.ByteOrder
	PointerSize int         // 4 or 8
	Machine     elf.Machine // some have habits of their own, see below; EM_NONE has none
	// HeaderSize is the size of struct J9JITExceptionTable in bytes, which grew at
	// its end: 216 up to OpenJ9 0.50, 224 from 0.51 to 0.53, 232 later; with 4-byte
	// pointers 116, 120, 124. 0: Decode infers it.
	HeaderSize int
}

// HeaderSizes are the sizes of struct J9JITExceptionTable that VMs are known to
// have, in the order of time, for the given size of a pointer.
func HeaderSizes(pointerSize int) []int {
	if pointerSize == 4 {
		return []int{116, 120, 124}
	}
	return []int{216, 224, 232}
}

// maxHeaderWords bounds the header of VMs to come, which have more fields at its
// end. Those of today have 27 to 31 words.
const maxHeaderWords = 64

// minHeaderSize is that of the oldest known make.
func (l Layout) minHeaderSize() int { return HeaderSizes(l.PointerSize)[0] }

// headerSizeOK says whether a header may have n bytes.
func (l Layout) headerSizeOK(n int) bool {
	return n >= l.minHeaderSize() && n <= maxHeaderWords*l.PointerSize && n%l.PointerSize == l.minHeaderSize()%l.PointerSize
}

// check says what is wrong with a layout.
func (l Layout) check() error {
	bad := func(field, format string, args ...any) error {
		return &wire.Error{Format: FormatName, Field: field, Text: fmt.Sprintf(format, args...)}
	}
	switch {
	case l.Order != binary.ByteOrder(binary.LittleEndian) && l.Order != binary.ByteOrder(binary.BigEndian):
		return bad("byte order", "neither little nor big endian")
	case l.PointerSize != 4 && l.PointerSize != 8:
		return bad("pointer size", "%d, expected 4 or 8", l.PointerSize)
	case l.HeaderSize != 0 && !l.headerSizeOK(l.HeaderSize):
		return bad("header size", "%d, expected %d or more", l.HeaderSize, l.minHeaderSize())
	}
	return nil
}

// alignedMaps says whether stack maps keep to multiples of four bytes.
func (l Layout) alignedMaps() bool { return l.Machine == elf.EM_ARM }

// internalPointerBit is the bit of a register map that says that registers hold
// internal pointers, which the map goes on to list.
func (l Layout) internalPointerBit() uint32 {
	if l.Machine == elf.EM_PPC || l.Machine == elf.EM_PPC64 {
		return 0x00040000
	}
	return 0x80000000
}

// Unloaded says whether a pointer to an inlined method says that its class was
// unloaded, or that the VM that compiled it, ahead of time, could not know it.
// On POWER and ARM the VM sets the lowest bit, elsewhere all of them.
func (l Layout) Unloaded(method uint64) bool {
	switch l.Machine {
	case elf.EM_PPC, elf.EM_PPC64, elf.EM_ARM:
		return method&1 != 0
	}
	return method == l.allOnes()
}

// allOnes is the pointer -1.
func (l Layout) allOnes() uint64 {
	if l.PointerSize == 4 {
		return 1<<32 - 1
	}
	return 1<<64 - 1
}

// siteSize is the size of struct TR_InlinedCallSite.
func (l Layout) siteSize() int {
	if l.PointerSize == 4 {
		return 8
	}
	return 16
}

// word reads a number of the size of a pointer.
func word(c *wire.Cursor, l Layout, field string) uint64 {
	if l.PointerSize == 4 {
		return uint64(c.U32(field))
	}
	return c.U64(field)
}
