package registered

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"sort"

	"github.com/jitinject/jitinject/internal/elfcore"
	"github.com/jitinject/jitinject/internal/format/gdbjit"
	"github.com/jitinject/jitinject/internal/safefile/sys"
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

	// Failed is for Open: a failure other than that there is no such file.
	Failed error

	// Live says that the memory may change while it is read.
	Live bool

	symbols    map[sys.Inode]fileSymbol // descriptors of files
	executable []span                   // adjacent segments are one; nil before the first use
}

// OfCore returns the process of a core dump. The mapped files are those of this machine.
func OfCore(c *elfcore.Core) *Process {
	return &Process{Memory: c, Class: c.Class, Order: c.Order, Machine: c.Machine, Open: func(name string) File {
		f, err := sys.Open(name)
		if err != nil {
			return nil
		}
		return f
	}}
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

// IsExecutable reports whether the process could execute all memory of [addr, addr+size). size is not
// 0. Only one goroutine may call it first.
func (p *Process) IsExecutable(addr, size uint64) bool {
	if p.executable == nil {
		p.executable = []span{{}}
		for _, s := range p.Segments() {
			last := &p.executable[len(p.executable)-1]
			switch {
			case s.Flags&elf.PF_X == 0:
			case last.end == s.Addr && last.size > 0: // two mappings of one kind
				last.end, last.size = last.end+s.Size, last.size+s.Size
			default:
				p.executable = append(p.executable, span{s.Addr + s.Size, s.Size})
			}
		}
	}
	i := sort.Search(len(p.executable), func(i int) bool { return p.executable[i].end-p.executable[i].size > addr })
	if i == 0 {
		return false
	}
	s := &p.executable[i-1]
	return addr-(s.end-s.size) < s.size && size <= s.end-addr
}

// A span is memory up to an address.
type span struct{ end, size uint64 }
