package elffile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"strings"
	"syscall"

	"github.com/jitinject/jitinject/internal/wire"
)

// formatName is the name of the format in messages.
const formatName = "ELF"

// ErrNotELF means that a file does not begin like an ELF file, or has not even a header.
var ErrNotELF = errors.New("ELF: the file does not begin as an ELF file")

// maxName bounds names of sections, in bytes: the rest is left out. Each header may have the same long
// name, and its end has to be found each time.
const maxName = 4 << 10

// A File is an open ELF file. Any number of goroutines may use it at once.
type File struct {
	Class     elf.Class
	ByteOrder binary.ByteOrder
	Type      elf.Type
	Machine   elf.Machine
	Progs     []Prog
	Sections  []Section
	NoNames   error // why sections have no names, or nil

	src  io.ReaderAt
	size uint64 // of the file, in bytes
	most uint64 // bytes that a table or a section may have
}

// A Prog is a segment.
type Prog struct{ elf.ProgHeader }

// A Section is a section. Size is what its header says, also if the content is compressed. FileSize is
// the size in the file, in bytes.
type Section struct {
	elf.SectionHeader
	HeaderAt int64 // offset of its header in the file
	file     *File
}

// Open reads the headers of an ELF file. src must stay open while the file is used. The error is ErrNotELF, a
// *wire.Error, or src's.
func Open(src io.ReaderAt) (*File, error) {
	f, h, err := begin(src)
	if err == nil {
		err = f.sections(&h)
	}
	return f, err
}

// OpenSegments is Open without the sections: those of a core may be cut off, and are not in memory.
func OpenSegments(src io.ReaderAt) (*File, error) {
	f, _, err := begin(src)
	return f, err
}

// sizeOf returns the size of a file in bytes, or a bound if it is unknown, and how many bytes a part of it may
// have. In a file with holes, that is at most some times what the file system stores: holes cost their author
// nothing, and file systems compress. Some do not tell what they store: for them, it is nothing.
func sizeOf(src io.ReaderAt) (size, most uint64, err error) {
	const factor, least = 8, 1 << 20 // times the stored bytes, and bytes
	switch src := src.(type) {
	case interface{ Size() int64 }:
		size = uint64(src.Size())
	case interface{ Stat() (fs.FileInfo, error) }:
		st, err := src.Stat()
		if err != nil {
			return 0, 0, err
		}
		size = uint64(st.Size())
		if u, ok := st.Sys().(*syscall.Stat_t); ok && u.Blocks > 0 && size/factor/512 > uint64(u.Blocks) {
			return size, min(size, 512*factor*uint64(u.Blocks)+least), nil
		}
	default:
		size = math.MaxInt64
	}
	return size, size, nil
}

// Sizes of the headers for 32 and 64 bit, in bytes [gABI 4, 5].
const (
	headerSize32, headerSize64 = 52, 64
	progSize32, progSize64     = 32, 56
	sectSize32, sectSize64     = 40, 64
)

// AddrSize returns the size of addresses in bytes: 4 or 8.
func (f *File) AddrSize() int {
	if f.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// Size returns the size of the file in bytes, without most of its holes.
func (f *File) Size() uint64 { return f.most }

// choose chooses one of two sizes, by the class.
func (f *File) choose(of32, of64 uint64) uint64 {
	if f.Class == elf.ELFCLASS32 {
		return of32
	}
	return of64
}

// A header has the places of the tables, from the ELF header.
type header struct {
	shoff, shentsize, shnum, names uint64
}

// begin reads the ELF header and the program headers.
func begin(src io.ReaderAt) (f *File, h header, err error) {
	f = &File{src: src}
	if f.size, f.most, err = sizeOf(src); err != nil {
		return nil, h, err
	}
	b := make([]byte, headerSize64)
	n, err := src.ReadAt(b, 0)
	if err != nil && err != io.EOF {
		return nil, h, err
	}
	if b = b[:n]; n < elf.EI_NIDENT || string(b[:len(elf.ELFMAG)]) != elf.ELFMAG {
		return nil, h, ErrNotELF
	}
	if f.Class = elf.Class(b[elf.EI_CLASS]); f.Class != elf.ELFCLASS32 && f.Class != elf.ELFCLASS64 {
		return nil, h, fmt.Errorf("%w: %v is no class", ErrNotELF, f.Class)
	}
	switch data := elf.Data(b[elf.EI_DATA]); data {
	case elf.ELFDATA2LSB:
		f.ByteOrder = binary.LittleEndian
	case elf.ELFDATA2MSB:
		f.ByteOrder = binary.BigEndian
	default:
		return nil, h, fmt.Errorf("%w: %v is no byte order", ErrNotELF, data)
	}
	c := wire.NewCursor(formatName, "ELF header", b[:min(uint64(n), f.choose(headerSize32, headerSize64))], f.ByteOrder, 0)
	c.Bytes("e_ident", elf.EI_NIDENT)
	f.Type, f.Machine = elf.Type(c.U16("e_type")), elf.Machine(c.U16("e_machine"))
	c.U32("e_version")
	f.word(&c, "e_entry")
	phoff := f.word(&c, "e_phoff")
	h.shoff = f.word(&c, "e_shoff")
	c.Bytes("e_flags", 6) // and e_ehsize
	phentsize, phnum := uint64(c.U16("e_phentsize")), uint64(c.U16("e_phnum"))
	h.shentsize, h.shnum, h.names = uint64(c.U16("e_shentsize")), uint64(c.U16("e_shnum")), uint64(c.U16("e_shstrndx"))
	if c.Err() != nil {
		return nil, h, c.Err()
	}
	// The first section header has the numbers that are too large for the ELF header [gABI 4].
	const extended = math.MaxUint16 // PN_XNUM and SHN_XINDEX
	if phnum == extended || h.shoff != 0 && (h.shnum == 0 || h.names == extended) {
		size := f.choose(sectSize32, sectSize64)
		first, err := f.table("section header", h.shoff, size, 1, size)
		if err != nil && phnum != extended {
			return f, h, f.progs(phoff, phentsize, phnum) // sections returns the error
		}
		if err != nil {
			return nil, h, err
		}
		s := f.sectionHeader(first, int64(h.shoff))
		if h.shnum == 0 {
			h.shnum = s.Size
		}
		if h.names == extended {
			h.names = uint64(s.Link)
		}
		if phnum == extended {
			phnum = uint64(s.Info)
		}
	}
	return f, h, f.progs(phoff, phentsize, phnum)
}

// table reads a table of headers. want is the size of an entry.
func (f *File) table(record string, at, entry, number, want uint64) ([]byte, error) {
	if number == 0 {
		return nil, nil
	}
	if entry != want {
		return nil, &wire.Error{Format: formatName, Record: "ELF header", Text: fmt.Sprintf("%ss of %d bytes; want %d", record, entry, want)}
	}
	if at > f.size || number > min(f.size-at, f.most)/entry {
		return nil, &wire.Error{Format: formatName, Record: "ELF header", Text: fmt.Sprintf("%d %ss at offset %#x, and the file has %d bytes", number, record, at, f.size)}
	}
	return f.read(at, number*entry)
}

// maxProgs bounds the program headers of files other than cores: symbols are compared with each. Linkers write
// about ten.
const maxProgs = 256

// progs reads the program headers.
func (f *File) progs(at, entry, number uint64) error {
	size := f.choose(progSize32, progSize64)
	if f.Type != elf.ET_CORE && number > maxProgs {
		return &wire.Error{Format: formatName, Record: "ELF header", Field: "e_phnum", Text: fmt.Sprintf("%d; a program has at most %d", number, maxProgs)}
	}
	table, err := f.table("program header", at, entry, number, size)
	if err != nil {
		return err
	}
	f.Progs = make([]Prog, number)
	for i := range f.Progs {
		p := &f.Progs[i]
		c := wire.NewCursor(formatName, "program header", table[uint64(i)*size:][:size], f.ByteOrder, int64(at))
		p.Type = elf.ProgType(c.U32("p_type"))
		if f.Class == elf.ELFCLASS64 {
			p.Flags = elf.ProgFlag(c.U32("p_flags"))
		}
		p.Off, p.Vaddr, p.Paddr = f.word(&c, "p_offset"), f.word(&c, "p_vaddr"), f.word(&c, "p_paddr")
		p.Filesz, p.Memsz = f.word(&c, "p_filesz"), f.word(&c, "p_memsz")
		if f.Class == elf.ELFCLASS32 {
			p.Flags = elf.ProgFlag(c.U32("p_flags"))
		}
		p.Align = f.word(&c, "p_align")
	}
	return nil
}

// sections reads the section headers.
func (f *File) sections(h *header) error {
	if h.shoff == 0 {
		return nil
	}
	if h.shnum == 0 {
		h.shnum = 1 // the first header is unreadable, and table returns the error
	}
	size := f.choose(sectSize32, sectSize64)
	table, err := f.table("section header", h.shoff, h.shentsize, h.shnum, size)
	if err != nil {
		return err
	}
	f.Sections = make([]Section, h.shnum)
	for i := range f.Sections {
		f.Sections[i] = f.sectionHeader(table[uint64(i)*size:][:size], int64(h.shoff+uint64(i)*size))
	}
	if h.names >= h.shnum {
		f.NoNames = &wire.Error{Format: formatName, Record: "ELF header", Field: "e_shstrndx", Text: fmt.Sprintf("%d, and there are %d sections", h.names, h.shnum)}
		return nil
	}
	b, err := f.Sections[h.names].Data()
	if damage := (*wire.Error)(nil); errors.As(err, &damage) {
		f.NoNames = err
		return nil
	}
	if err != nil {
		return err
	}
	all := string(b)
	for i := range f.Sections {
		f.Sections[i].Name = cString(all, uint64(f.ByteOrder.Uint32(table[uint64(i)*size:])), maxName) // sh_name
	}
	return nil
}

// cString returns the string at an offset of a table, without its NUL, and most bytes of it. It is "" if the
// table has no such string.
func cString(table string, at, most uint64) string {
	size := uint64(len(table))
	if at >= size {
		return ""
	}
	s, _, ended := strings.Cut(table[at:min(at+most, size)], "\x00")
	if !ended && at+most >= size {
		return ""
	}
	return s
}

// sectionHeader decodes a section header at an offset of the file.
func (f *File) sectionHeader(b []byte, at int64) (s Section) {
	c := wire.NewCursor(formatName, "section header", b, f.ByteOrder, at)
	c.U32("sh_name")
	s.file, s.HeaderAt = f, at
	s.Type = elf.SectionType(c.U32("sh_type"))
	s.Flags = elf.SectionFlag(f.word(&c, "sh_flags"))
	s.Addr = f.word(&c, "sh_addr")
	s.Offset = f.word(&c, "sh_offset")
	s.Size = f.word(&c, "sh_size")
	s.Link, s.Info = c.U32("sh_link"), c.U32("sh_info")
	s.Addralign = f.word(&c, "sh_addralign")
	s.Entsize = f.word(&c, "sh_entsize")
	if s.FileSize = s.Size; s.Type == elf.SHT_NOBITS {
		s.FileSize = 0
	}
	return s
}

// word reads an address, offset or size: its width is that of the class.
func (f *File) word(c *wire.Cursor, field string) uint64 {
	if f.Class == elf.ELFCLASS32 {
		return uint64(c.U32(field))
	}
	return c.U64(field)
}

// read reads bytes of the file. If they are not all there, the error is a *wire.Error.
func (f *File) read(at, size uint64) ([]byte, error) {
	if at > f.size || size > min(f.size-at, f.most) {
		return nil, &wire.Error{Format: formatName, Offset: int64(at), Text: fmt.Sprintf("%d bytes, and the file has %d bytes", size, f.size)}
	}
	b, err := io.ReadAll(io.NewSectionReader(f.src, int64(at), int64(size))) // grows with the content, not with the claim
	if err == nil && uint64(len(b)) < size {
		err = &wire.Error{Format: formatName, Offset: int64(at), Text: fmt.Sprintf("%d bytes, and the file ends after %d of them", size, len(b))}
	}
	return b, err
}

// Section returns the first section of a name, or nil.
func (f *File) Section(name string) *Section {
	for i := range f.Sections {
		if f.Sections[i].Name == name {
			return &f.Sections[i]
		}
	}
	return nil
}

// SectionByType returns the first section of a type, or nil.
func (f *File) SectionByType(t elf.SectionType) *Section {
	for i := range f.Sections {
		if f.Sections[i].Type == t {
			return &f.Sections[i]
		}
	}
	return nil
}
