package checkgdbjit

import (
	"context"
	"debug/elf"
	"slices"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/verify"
)

// A checker checks a core dump.
type checker struct {
	*verify.Reporter
	ctx  context.Context
	core *elfcore.Core

	objects    int                  // that could be read
	named      map[[2]uint64]uint64 // by address and size of an object, the entry that names it first
	functions  []function
	executable [][2]uint64 // memory that could be executed; adjacent segments are one
}

// A function is a function of a registered object.
type function struct {
	lo, hi uint64
	name   string
	entry  uint64 // its address
}

const (
	// maxData bounds how much data of files is searched, in bytes.
	maxData = 1 << 28

	// maxObject and minObject bound the size of an object, in bytes.
	maxObject, minObject = 1 << 28, 52

	// maxList bounds the entries of a list.
	maxList = 1 << 18
)

// pointerSize returns the size of a pointer in bytes.
func (c *checker) pointerSize() uint64 {
	if c.core.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// u32 reads a number of 32 bits.
func (c *checker) u32(addr uint64) (uint32, bool) {
	var b [4]byte
	if c.core.ReadCode(addr, b[:]) != nil {
		return 0, false
	}
	return c.core.Order.Uint32(b[:]), true
}

// u64 reads a number of 64 bits.
func (c *checker) u64(addr uint64) (uint64, bool) {
	var b [8]byte
	if c.core.ReadCode(addr, b[:]) != nil {
		return 0, false
	}
	return c.core.Order.Uint64(b[:]), true
}

// pointer reads a pointer.
func (c *checker) pointer(addr uint64) (uint64, bool) {
	if c.pointerSize() == 8 {
		return c.u64(addr)
	}
	n, ok := c.u32(addr)
	return uint64(n), ok
}

// An entry is struct jit_code_entry of GDB's manual.
type entry struct{ next, prev, symfile, size uint64 }

// entry reads an entry. On i386, an uint64_t has the alignment of a pointer.
func (c *checker) entry(addr uint64) (e entry, ok bool) {
	p := c.pointerSize()
	sizeAt := 3 * p
	if p == 4 && c.core.Machine != elf.EM_386 {
		sizeAt = 16
	}
	for _, field := range []struct {
		to *uint64
		at uint64
	}{{&e.next, 0}, {&e.prev, p}, {&e.symfile, 2 * p}} {
		if *field.to, ok = c.pointer(addr + field.at); !ok {
			return e, false
		}
	}
	e.size, ok = c.u64(addr + sizeAt)
	return e, ok
}

// descriptors returns the addresses of probable descriptors in the writable data of files. A damaged one
// counts if all but one of its facts are right.
func (c *checker) descriptors() (found []uint64, err error) {
	left := uint64(maxData)
	end := uint64(0) // of the data of a file so far
	for _, s := range c.core.Segments() {
		isData := s.Addr == end && end != 0 || c.mapsFile(&s) // .bss follows the file
		if s.Flags&elf.PF_W == 0 || !isData || s.Stored > left {
			end = 0
			if isData {
				end = s.Addr + s.Size
			}
			continue
		}
		end, left = s.Addr+s.Size, left-s.Stored
		block := make([]byte, 64<<10)
		for at := s.Addr; at < s.Addr+s.Stored; at += uint64(len(block)) {
			if err := c.ctx.Err(); err != nil {
				return nil, err
			}
			b := block[:min(uint64(len(block)), s.Addr+s.Stored-at)]
			if c.core.ReadCode(at, b) != nil {
				break
			}
			for i := 0; i+8 <= len(b); i += int(c.pointerSize()) {
				if version, action := c.core.Order.Uint32(b[i:]), c.core.Order.Uint32(b[i+4:]); version > 0 && version < 16 && action < 16 && c.isDescriptor(at+uint64(i), version, action) {
					found = append(found, at+uint64(i))
				}
			}
		}
	}
	return found, nil
}

// isDescriptor reports whether a list seems to begin at an address.
func (c *checker) isDescriptor(addr uint64, version, action uint32) bool {
	relevant, ok := c.pointer(addr + 8)
	first, ok2 := c.pointer(addr + 8 + c.pointerSize())
	if !ok || !ok2 || first == 0 || first%4 != 0 {
		return false
	}
	e, ok := c.entry(first)
	isHead := version == 1 && action <= 2 && relevant == first
	if !ok {
		return isHead && version == 1 && action == 1 && c.hasSegment(first)
	}
	var magic [4]byte
	isELF := c.core.ReadCode(e.symfile, magic[:]) == nil && string(magic[:]) == elf.ELFMAG
	isSized := e.size >= minObject && e.size <= maxObject
	switch {
	case isELF && isSized:
		return true
	case isHead && isELF, isHead && isSized && e.prev == 0 && c.hasSegment(e.symfile):
		return true
	}
	return false
}

// segmentAt returns the segment of an address, or nil.
func (c *checker) segmentAt(addr uint64) *elfcore.Segment {
	segments := c.core.Segments() // in the order of their addresses
	i, _ := slices.BinarySearchFunc(segments, addr, func(s elfcore.Segment, addr uint64) int {
		if s.Addr <= addr {
			return -1
		}
		return 1
	})
	if i == 0 || addr-segments[i-1].Addr >= segments[i-1].Size {
		return nil
	}
	return &segments[i-1]
}

// hasSegment reports whether the process had writable memory at an address, in the core or not.
func (c *checker) hasSegment(addr uint64) bool {
	s := c.segmentAt(addr)
	return s != nil && s.Flags&elf.PF_W != 0
}

// mapsFile reports whether a part of a segment is of a mapped file. The kernel makes a segment of each
// mapping.
func (c *checker) mapsFile(s *elfcore.Segment) bool {
	files := c.core.Files() // in the order of their addresses
	i, _ := slices.BinarySearchFunc(files, s.Addr+(s.Size-1), func(f elfcore.File, last uint64) int {
		if f.Start <= last {
			return -1
		}
		return 1
	})
	return i > 0 && files[i-1].End > s.Addr
}

// list checks the list of a descriptor.
func (c *checker) list(addr uint64) {
	version, _ := c.u32(addr)
	action, _ := c.u32(addr + 4)
	if version != 1 || action > 2 {
		c.Violation("core/descriptor", -1, "the descriptor at %#x has version %d and action_flag %d", addr, version, action)
	}
	seen := make(map[uint64]bool)
	prev := uint64(0)
	at, _ := c.pointer(addr + 8 + c.pointerSize())
	for at != 0 {
		if seen[at] || len(seen) == maxList {
			c.Violation("core/circle", -1, "the entry at %#x leads back to that at %#x", prev, at)
			return
		}
		seen[at] = true
		e, ok := c.entry(at)
		if !ok {
			c.Violation("core/entry", -1, "the core does not have the entry at %#x, to which %#x leads", at, max(prev, addr))
			return
		}
		if e.prev != prev {
			c.Violation("core/links", -1, "the entry at %#x has prev_entry %#x; the entry before it is at %#x", at, e.prev, prev)
		}
		if first, ok := c.named[[2]uint64{e.symfile, e.size}]; ok {
			c.Violation("core/overlap", -1, "the entry at %#x names the object of the entry at %#x", at, first)
		} else {
			c.named[[2]uint64{e.symfile, e.size}] = at
			c.object(at, &e)
		}
		prev, at = at, e.next
	}
}
