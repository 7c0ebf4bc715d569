package elfgen

import (
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Target is the machine of a file. [TargetFor] makes one.
type Target struct {
	Class   elf.Class        // ELFCLASS32; any other value is ELFCLASS64
	Order   binary.ByteOrder // of all fields; must be set
	Machine elf.Machine      // e_machine; 0 is no machine
	Flags   uint32           // e_flags; some machines need them for their ABI; 0 for none
}

func (t *Target) wordSize() int {
	if t.Class == elf.ELFCLASS32 {
		return 4
	}
	return 8
}

// headerSize returns the length of the ELF header in bytes. It is the offset of the first section,
// before alignment.
func (t *Target) headerSize() int {
	if t.Class == elf.ELFCLASS32 {
		return 52
	}
	return 64
}

// A SectionID identifies a section of its file. Sections count from 1; 0 is no section (SHN_UNDEF).
type SectionID int

// A Section is a section to be written.
type Section struct {
	Name    string
	Type    elf.SectionType // sh_type; 0, SHT_NULL, is an entry that readers ignore
	Flags   elf.SectionFlag // sh_flags; SHF_ALLOC: part of the memory image, with an address
	Align   uint64          // of its file offset, in bytes, a power of two; 0 means 1
	Link    SectionID       // sh_link, by Type; 0 for none
	Info    uint32          // sh_info, by Type; 0 for none
	EntSize uint64          // sh_entsize: bytes of an entry, in tables; 0 in others
	Away    uint64          // address minus file offset, in bytes; not 0: there is an address without SHF_ALLOC, too

	// The content is Data, followed by Pieces. All may be empty.
	Data   []byte
	Pieces [][]byte

	// A Fixed section lies at file offset At and address Addr, and the caller writes its Room bytes.
	// Only WriteTo writes files with fixed sections, and the caller keeps them apart from others.
	Fixed    bool
	At, Addr uint64

	// Room is the number of bytes after them. AppendTo writes zeros. For WriteTo, the caller writes
	// these bytes, and Data and Pieces must be empty. A section of type SHT_NOBITS has Room bytes
	// in memory and none in the file. AppendTo and WriteTo still reserve space for it in the file,
	// so that offsets remain addresses. The space is Room bytes, or the length of Data if that is
	// not empty.
	Room uint64
}

// size returns the section's length in bytes.
func (s *Section) size() uint64 {
	if s.Type == elf.SHT_NOBITS {
		return s.Room
	}
	n := uint64(len(s.Data)) + s.Room
	for _, p := range s.Pieces {
		n += uint64(len(p))
	}
	return n
}

// kept returns the reserved space in the file, in bytes.
func (s *Section) kept() uint64 {
	if s.Type == elf.SHT_NOBITS && len(s.Data) > 0 {
		return uint64(len(s.Data))
	}
	return s.size()
}

// fileSize returns the section's size in the file, in bytes.
func (s *Section) fileSize() uint64 {
	if s.Type == elf.SHT_NOBITS {
		return 0
	}
	return s.size()
}

// A Segment is a program header for consecutive sections.
type Segment struct {
	Type        elf.ProgType // p_type
	Flags       elf.ProgFlag // p_flags; 0 allows nothing
	First, Last SectionID    // Last is included
	Align       uint64       // p_align in bytes; 0 and 1 are none
	FromStart   bool         // it begins at the start of the file, at address 0, not at First

	// Fixed, if not nil, is the whole program header. Sections that are not fixed follow the part of
	// the file that it describes, except those before the first fixed one.
	Fixed *elf.ProgHeader
}

// A Symbol is an entry of the symbol table.
type Symbol struct {
	Name    []byte      // without a NUL
	Bind    elf.SymBind // 0 is STB_LOCAL
	Type    elf.SymType // 0 is STT_NOTYPE
	Section SectionID   // section of the symbol
	Value   uint64      // from the start of the section, in bytes; st_value has the address
	Size    uint64      // bytes; 0 if it has none
}

// A File describes an ELF file. Reset makes it empty again, and keeps its memory. The zero File has
// to be Reset before use.
type File struct {
	target   Target
	fileType elf.Type
	sections []section
	segments []Segment
	symbols  []Symbol
	symtab   wire.Buffer
	strtab   []byte
	names    []byte
	out      wire.Forward // kept for its memory
}

type section struct {
	Section
	nameAt       uint32
	offset, addr uint64
}

// Reset empties f and sets its target and type.
func (f *File) Reset(t Target, fileType elf.Type) {
	f.target, f.fileType = t, fileType
	f.sections = append(f.sections[:0], section{}) // SHN_UNDEF
	f.segments = f.segments[:0]
	f.symbols = f.symbols[:0]
}

// Add adds a section after the existing ones and returns its id. Its content is not copied and must
// stay until the file is written.
func (f *File) Add(s Section) SectionID {
	f.sections = append(f.sections, section{Section: s})
	return SectionID(len(f.sections) - 1)
}

// Set replaces a section that was added. Its id stays.
func (f *File) Set(id SectionID, s Section) { f.sections[id].Section = s }

// AddSegment adds a program header.
func (f *File) AddSegment(s Segment) { f.segments = append(f.segments, s) }

// AddSymbol adds a symbol. Local symbols must precede all others [gABI, Symbol Table]. Its Name is
// not copied.
func (f *File) AddSymbol(s Symbol) { f.symbols = append(f.symbols, s) }

// place computes the offsets of sections, and returns the end of the last one.
func (f *File) place() (end uint64) {
	end = uint64(f.target.headerSize())
	for i := 1; i < len(f.sections); i++ {
		s := &f.sections[i]
		if s.Fixed {
			s.offset, s.addr = s.At, s.Addr
			end = max(end, s.At+s.kept(), f.fixedEnd())
			continue
		}
		if s.Align > 1 {
			end = (end + s.Align - 1) &^ (s.Align - 1)
		}
		s.offset = end
		if s.Flags&elf.SHF_ALLOC != 0 || s.Away != 0 {
			s.addr = end + s.Away
		}
		end += s.kept()
	}
	return end
}

// fixedEnd returns the end in the file of all fixed segments.
func (f *File) fixedEnd() (end uint64) {
	for i := range f.segments {
		if p := f.segments[i].Fixed; p != nil {
			end = max(end, p.Off+p.Filesz)
		}
	}
	return end
}

// A layout has the places of the headers.
type layout struct {
	phoff, shoff         uint64
	phentsize, shentsize uint16
}

// lay adds the symbol table and string tables, and computes all places.
func (f *File) lay() (l layout, err error) {
	if err := f.addSymtab(); err != nil {
		return l, err
	}
	f.addNames()
	end := f.place()
	word := uint64(f.target.wordSize())
	l.phoff = (end + word - 1) &^ (word - 1)
	l.phentsize, l.shentsize = 56, 64
	if word == 4 {
		l.phentsize, l.shentsize = 32, 40
	}
	l.shoff = l.phoff + uint64(l.phentsize)*uint64(len(f.segments))
	if word == 4 && l.shoff+uint64(l.shentsize)*uint64(len(f.sections)) > 1<<32-1 {
		err = fmt.Errorf("elf: %d bytes are too much for a 32-bit file", l.shoff)
	}
	return l, err
}

// AppendTo appends the file to dst. The symbol table and string tables are the last sections. The
// File has to be Reset after that.
func (f *File) AppendTo(dst []byte) ([]byte, error) {
	l, err := f.lay()
	if err != nil {
		return dst, err
	}
	b, start := wire.AppendTo(dst, f.target.Order), len(dst)
	f.header(b, &l)
	for i := range f.sections {
		s := &f.sections[i]
		if i > 0 {
			b.Zeros(int(s.offset) - (b.Len() - start))
			b.Bytes(s.Data)
			for _, p := range s.Pieces {
				b.Bytes(p)
			}
			if s.Type != elf.SHT_NOBITS || len(s.Data) == 0 {
				b.Zeros(int(s.Room))
			}
		}
	}
	b.Zeros(int(l.phoff) - (b.Len() - start))
	f.headers(b)
	return b.Data, nil
}

// headers appends program headers and section headers.
func (f *File) headers(b *wire.Buffer) {
	for i := range f.segments {
		f.programHeader(b, &f.segments[i])
	}
	for i := range f.sections {
		f.sectionHeader(b, &f.sections[i], i == 0)
	}
}

func (f *File) header(b *wire.Buffer, l *layout) {
	t := &f.target
	phoff, phentsize := l.phoff, l.phentsize
	data := elf.ELFDATA2LSB
	if t.Order == binary.BigEndian {
		data = elf.ELFDATA2MSB
	}
	if len(f.segments) == 0 {
		phoff, phentsize = 0, 0
	}
	b.Bytes([]byte(elf.ELFMAG))
	b.U8(uint8(t.Class))
	b.U8(uint8(data))
	b.U8(uint8(elf.EV_CURRENT))
	b.Zeros(elf.EI_NIDENT - 7) // EI_OSABI 0 is System V, as for GNU/Linux without extensions
	b.U16(uint16(f.fileType))
	b.U16(uint16(t.Machine))
	b.U32(uint32(elf.EV_CURRENT))
	b.Word(0, t.wordSize()) // e_entry
	b.Word(phoff, t.wordSize())
	b.Word(l.shoff, t.wordSize())
	b.U32(t.Flags)
	b.U16(uint16(t.headerSize()))
	b.U16(phentsize)
	b.U16(uint16(len(f.segments)))
	b.U16(l.shentsize)
	b.U16(uint16(len(f.sections)))
	b.U16(uint16(len(f.sections) - 1)) // e_shstrndx: .shstrtab is last
}

// progHeader returns the fields of a program header.
func (f *File) progHeader(s *Segment) elf.ProgHeader {
	if s.Fixed != nil {
		return *s.Fixed
	}
	first, last := &f.sections[s.First], &f.sections[s.Last]
	offset, addr := first.offset, first.addr
	if s.FromStart {
		offset, addr = 0, 0
	}
	return elf.ProgHeader{
		Type: s.Type, Flags: s.Flags, Off: offset, Vaddr: addr, Paddr: addr, Align: s.Align,
		Filesz: last.offset + last.fileSize() - offset, Memsz: last.addr + last.size() - addr,
	}
}

func (f *File) programHeader(b *wire.Buffer, s *Segment) {
	p, word := f.progHeader(s), f.target.wordSize()
	b.U32(uint32(p.Type))
	if word == 8 { // in 32-bit files, the flags come later
		b.U32(uint32(p.Flags))
	}
	b.Word(p.Off, word)
	b.Word(p.Vaddr, word)
	b.Word(p.Paddr, word)
	b.Word(p.Filesz, word)
	b.Word(p.Memsz, word)
	if word == 4 {
		b.U32(uint32(p.Flags))
	}
	b.Word(p.Align, word)
}

func (f *File) sectionHeader(b *wire.Buffer, s *section, null bool) {
	word := f.target.wordSize()
	align := max(s.Align, 1)
	if null {
		align = 0
	}
	b.U32(s.nameAt)
	b.U32(uint32(s.Type))
	b.Word(uint64(s.Flags), word)
	b.Word(s.addr, word)
	b.Word(s.offset, word)
	b.Word(s.size(), word)
	b.U32(uint32(s.Link))
	b.U32(s.Info)
	b.Word(align, word)
	b.Word(s.EntSize, word)
}
