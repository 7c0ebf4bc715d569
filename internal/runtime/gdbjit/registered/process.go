package registered

import (
	"debug/elf"
	"encoding/binary"
	"io"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/gdbjit"
)

// A Memory is the memory of a process.
type Memory interface {
	gdbjit.Memory
	Files() []elfcore.File       // in the order of their addresses
	Segments() []elfcore.Segment // in the order of their addresses
}

// A Process is a process to search.
type Process struct {
	Memory
	Class   elf.Class
	Order   binary.ByteOrder
	Machine elf.Machine

	// Open opens a mapped file by its name. It returns nil if there is no such file. It is nil if
	// only the memory counts.
	Open func(name string) File

	// Live says that the memory may change while it is read.
	Live bool
}

// A File is an open file.
type File interface {
	io.ReaderAt
	io.Closer
}

// layout returns the layout of the lists.
func (p *Process) layout() gdbjit.Layout { return gdbjit.LayoutOf(p.Class, p.Order, p.Machine) }

// word returns the size of an address in ELF structures, in bytes.
func (p *Process) word() int {
	if p.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// segmentAt returns the segment of an address, or nil.
func segmentAt(m Memory, addr uint64) *elfcore.Segment {
	segments := m.Segments()
	lo, hi := 0, len(segments)
	for lo < hi {
		mid := (lo + hi) / 2
		if segments[mid].Addr+(segments[mid].Size-1) < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(segments) || segments[lo].Addr > addr {
		return nil
	}
	return &segments[lo]
}

// IsExecutable reports whether the process could execute the memory of [addr, addr+size). size is not
// 0. Adjacent segments count as one.
func (p *Process) IsExecutable(addr, size uint64) bool {
	for size > 0 {
		s := segmentAt(p.Memory, addr)
		if s == nil || s.Flags&elf.PF_X == 0 {
			return false
		}
		n := min(s.Size-(addr-s.Addr), size)
		addr, size = addr+n, size-n
	}
	return true
}
