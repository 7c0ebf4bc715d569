package elfcore

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/wire"
)

// word returns the size of addresses in bytes.
func (c *Core) word() int {
	if c.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// headers reads the program headers, and their notes.
func (c *Core) headers() error {
	f, err := elffile.OpenSegments(c.src)
	if errors.Is(err, elffile.ErrNotELF) || err == nil && f.Type != elf.ET_CORE {
		return ErrNotCore
	}
	if err != nil {
		return fmt.Errorf("%s: %w", FormatName, err)
	}
	c.Class, c.Order, c.Machine = f.Class, f.ByteOrder, f.Machine
	c.size = f.Size()
	var notes []extent
	for i := range f.Progs {
		c.programHeader(i, &f.Progs[i].ProgHeader, &notes)
	}
	sorting.Stable(c.segments, func(a, b Segment) int { return cmp.Compare(a.Addr, b.Addr) })
	left := c.size // of it, in bytes: segments may overlap
	for _, n := range notes {
		if n.size > left {
			c.Problems = append(c.Problems, fmt.Errorf("%s: the notes have more bytes than the file; those from offset %#x on are left out", FormatName, uint64(n.offset)+left))
			n.size = left
		}
		left -= n.size
		if err := c.notes(n); err != nil {
			c.Problems = append(c.Problems, err)
		}
	}
	sorting.Stable(c.files, func(a, b File) int { return cmp.Compare(a.Start, b.Start) })
	return nil
}

// An extent is a run of bytes of the file.
type extent struct {
	offset int64
	size   uint64
}

// programHeader takes over the i-th program header. One that makes no sense is a problem, and left out.
func (c *Core) programHeader(i int, p *elf.ProgHeader, notes *[]extent) {
	bad := func(field, text string, args ...any) {
		c.Problems = append(c.Problems, fmt.Errorf("%s: program header %d: %s: %s", FormatName, i, field, fmt.Sprintf(text, args...)))
	}
	switch {
	case p.Type != elf.PT_LOAD && p.Type != elf.PT_NOTE:
	case p.Off > math.MaxInt64 || p.Filesz > math.MaxInt64-p.Off:
		bad("p_offset", "%#x bytes at offset %#x are in no file", p.Filesz, p.Off)
	case p.Type == elf.PT_NOTE:
		c.end = max(c.end, p.Off+p.Filesz)
		*notes = append(*notes, extent{int64(p.Off), p.Filesz})
	case p.Memsz == 0:
	case p.Vaddr+p.Memsz < p.Vaddr && p.Vaddr+p.Memsz != 0 || c.word() == 4 && p.Vaddr+p.Memsz > 1<<32:
		bad("p_memsz", "%#x bytes at %#x are beyond the end of memory", p.Memsz, p.Vaddr)
	default:
		c.end = max(c.end, p.Off+p.Filesz)
		c.segments = append(c.segments, Segment{Addr: p.Vaddr, Size: p.Memsz, Offset: int64(p.Off), Stored: min(p.Filesz, p.Memsz), Flags: p.Flags})
	}
}

func (c *Core) cursor(record string, data []byte, base int64) wire.Cursor {
	return wire.NewCursor(FormatName, record, data, c.Order, base)
}

// uword reads an address or an offset, as wide as the class says.
func (c *Core) uword(r *wire.Cursor, field string) uint64 {
	if c.word() == 4 {
		return uint64(r.U32(field))
	}
	return r.U64(field)
}
