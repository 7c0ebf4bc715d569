package elfcore

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// A header is what the ELF header says of the program headers [gABI 4, 5].
type header struct {
	phoff     uint64
	phentsize uint16
	phnum     uint32
}

// Sizes of the ELF header, a program header and a section header, for 32 and 64 bit.
const (
	ehdr32, ehdr64 = 52, 64
	phdr32, phdr64 = 32, 56
	shdr32, shdr64 = 40, 64
)

// extendedNumber says in e_phnum that the number is elsewhere [PN_XNUM].
const extendedNumber = 0xffff

func (c *Core) word() int {
	if c.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// header reads the ELF header.
func (c *Core) header() (h header, err error) {
	var b [ehdr64]byte
	n, err := c.src.ReadAt(b[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, fmt.Errorf("%s: ELF header at offset 0: %w", FormatName, err)
	}
	if n < elf.EI_NIDENT || string(b[:4]) != elf.ELFMAG {
		return h, ErrNotCore
	}
	c.Class = elf.Class(b[elf.EI_CLASS])
	size := ehdr64
	switch c.Class {
	case elf.ELFCLASS32:
		size = ehdr32
	case elf.ELFCLASS64:
	default:
		return h, ErrNotCore
	}
	switch elf.Data(b[elf.EI_DATA]) {
	case elf.ELFDATA2LSB:
		c.Order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		c.Order = binary.BigEndian
	default:
		return h, ErrNotCore
	}
	r := c.cursor("ELF header", b[:min(n, size)], 0)
	r.Bytes("e_ident", elf.EI_NIDENT)
	kind := elf.Type(r.U16("e_type"))
	if r.Err() == nil && kind != elf.ET_CORE {
		return h, ErrNotCore
	}
	c.Machine = elf.Machine(r.U16("e_machine"))
	r.U32("e_version")
	c.uword(&r, "e_entry")
	h.phoff = c.uword(&r, "e_phoff")
	shoff := c.uword(&r, "e_shoff")
	r.U32("e_flags")
	r.U16("e_ehsize")
	h.phentsize = r.U16("e_phentsize")
	want := phdr64
	if size == ehdr32 {
		want = phdr32
	}
	if r.Err() == nil && int(h.phentsize) != want {
		r.Bad("e_phentsize", "is %d, and program headers have %d bytes", h.phentsize, want)
	}
	h.phnum = uint32(r.U16("e_phnum"))
	if err := r.Err(); err != nil {
		return h, err
	}
	if h.phnum == extendedNumber {
		h.phnum, err = c.extendedNumber(shoff)
	}
	return h, err
}

// extendedNumber reads the number of program headers from the first section header,
// where it is if it does not fit in e_phnum.
func (c *Core) extendedNumber(shoff uint64) (uint32, error) {
	var b [shdr64]byte
	size := shdr64
	if c.word() == 4 {
		size = shdr32
	}
	at, err := c.fileOffset("ELF header", "e_shoff", shoff)
	if err != nil {
		return 0, err
	}
	n, err := c.src.ReadAt(b[:size], at)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, fmt.Errorf("%s: section header at offset %#x: %w", FormatName, shoff, err)
	}
	r := c.cursor("section header", b[:n], at)
	r.U32("sh_name")
	r.U32("sh_type")
	for _, field := range []string{"sh_flags", "sh_addr", "sh_offset", "sh_size"} {
		c.uword(&r, field)
	}
	r.U32("sh_link")
	return r.U32("sh_info"), r.Err()
}

// maxSegments bounds how many program headers a core has. The kernel lets a process
// have 65530 mappings unless it is told otherwise (vm.max_map_count).
const maxSegments = 1 << 24

// programHeaders reads the program headers, and the notes that they tell of.
func (c *Core) programHeaders(h header) error {
	if h.phnum > maxSegments {
		return &wire.Error{Format: FormatName, Record: "ELF header", Field: "e_phnum", Offset: 0, Text: fmt.Sprintf("%d program headers are more than %d", h.phnum, maxSegments)}
	}
	at, err := c.fileOffset("ELF header", "e_phoff", h.phoff)
	if err != nil {
		return err
	}
	var notes []extent
	block := make([]byte, 256*int(h.phentsize)) // so many at once: how many there are is only said
	for left := int(h.phnum); left > 0; {
		n := min(left, 256)
		b := block[:n*int(h.phentsize)]
		got, err := c.src.ReadAt(b, at)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: program header at offset %#x: %w", FormatName, at, err)
		}
		r := c.cursor("program header", b[:got], at)
		for range n {
			if err := c.programHeader(&r, &notes); err != nil {
				return err
			}
		}
		left, at = left-n, at+int64(len(b))
	}
	slices.SortStableFunc(c.segments, func(a, b Segment) int { return cmp.Compare(a.Addr, b.Addr) })
	for _, n := range notes {
		if err := c.notes(n); err != nil {
			c.Problems = append(c.Problems, err)
		}
	}
	slices.SortStableFunc(c.files, func(a, b File) int { return cmp.Compare(a.Start, b.Start) })
	return nil
}

// An extent is a run of bytes of the file.
type extent struct {
	offset int64
	size   uint64
}

// programHeader takes over one program header. One that makes no sense is a problem,
// and left out.
func (c *Core) programHeader(r *wire.Cursor, notes *[]extent) error {
	start := r.Offset()
	var flags uint32
	kind := elf.ProgType(r.U32("p_type"))
	if c.word() == 8 {
		flags = r.U32("p_flags")
	}
	offset := c.uword(r, "p_offset")
	addr := c.uword(r, "p_vaddr")
	c.uword(r, "p_paddr")
	filesz := c.uword(r, "p_filesz")
	memsz := c.uword(r, "p_memsz")
	if c.word() == 4 {
		flags = r.U32("p_flags")
	}
	c.uword(r, "p_align")
	if err := r.Err(); err != nil {
		return err
	}
	bad := func(field, text string, args ...any) {
		c.Problems = append(c.Problems, &wire.Error{Format: FormatName, Record: "program header", Field: field, Offset: start, Text: fmt.Sprintf(text, args...)})
	}
	switch {
	case kind != elf.PT_LOAD && kind != elf.PT_NOTE:
	case offset > math.MaxInt64 || filesz > math.MaxInt64-offset:
		bad("p_offset", "%#x bytes at offset %#x are in no file", filesz, offset)
	case kind == elf.PT_NOTE:
		c.end = max(c.end, offset+filesz)
		*notes = append(*notes, extent{int64(offset), filesz})
	case memsz == 0:
	case addr+memsz < addr && addr+memsz != 0 || c.word() == 4 && addr+memsz > 1<<32:
		bad("p_memsz", "%#x bytes at %#x are beyond the end of memory", memsz, addr)
	default:
		c.end = max(c.end, offset+filesz)
		c.segments = append(c.segments, Segment{Addr: addr, Size: memsz, Offset: int64(offset), Stored: min(filesz, memsz), Flags: elf.ProgFlag(flags)})
	}
	return nil
}

// fileOffset returns an offset that a field of the file gives.
func (c *Core) fileOffset(record, field string, offset uint64) (int64, error) {
	if offset > math.MaxInt64-1<<32 { // room for what is counted from there
		return 0, &wire.Error{Format: FormatName, Record: record, Field: field, Offset: 0, Text: fmt.Sprintf("%#x is in no file", offset)}
	}
	return int64(offset), nil
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
