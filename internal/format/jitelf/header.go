package jitelf

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// ErrNotObject means that the bytes do not begin like an ELF file.
var ErrNotObject = errors.New(FormatName + ": the symfile does not begin as an ELF file")

// A section is a section header. Its name aliases the image.
type section struct {
	name         []byte
	kind         elf.SectionType
	flags        elf.SectionFlag
	addr         uint64 // load address; 0 if the section is not loaded
	offset, size uint64 // in the image, in bytes
	link, info   uint32
	entrySize    uint64
	align        uint64
	relative     bool  // values of symbols are offsets in the section; see findRelative
	at           int64 // offset of the header in the image

	// used is the name of debugging information that the package reads, or "".
	used string
	// joined and length are the offset and size of the content among all sections of the name; see
	// contents. Both are 0 for sections that are not used.
	joined, length uint64
}

// Sizes of the ELF header and a section header, for 32 and 64 bit [gABI 4].
const (
	ehdr32, ehdr64 = 52, 64
	shdr32, shdr64 = 40, 64
)

// header reads the ELF header and the section headers.
func (o *Object) header() error {
	b := o.image
	if len(b) < elf.EI_NIDENT || string(b[:4]) != elf.ELFMAG {
		return ErrNotObject
	}
	headerSize, shdr := uint64(ehdr64), uint64(shdr64)
	switch class := elf.Class(b[elf.EI_CLASS]); class {
	case elf.ELFCLASS32:
		o.addrSize, headerSize, shdr = 4, ehdr32, shdr32
	case elf.ELFCLASS64:
		o.addrSize = 8
	default:
		return fmt.Errorf("%s: e_ident at offset %#x: %v is no class", FormatName, elf.EI_CLASS, class)
	}
	switch data := elf.Data(b[elf.EI_DATA]); data {
	case elf.ELFDATA2LSB:
		o.order = binary.LittleEndian
	case elf.ELFDATA2MSB:
		o.order = binary.BigEndian
	default:
		return fmt.Errorf("%s: e_ident at offset %#x: %v is no byte order", FormatName, elf.EI_DATA, data)
	}
	c := o.cursor("ELF header", b[:min(uint64(len(b)), headerSize)], 0)
	c.Bytes("e_ident", elf.EI_NIDENT)
	o.kind = elf.Type(c.U16("e_type"))
	switch o.kind {
	case elf.ET_REL, elf.ET_EXEC, elf.ET_DYN:
	default:
		c.Bad("e_type", "%v, want ET_REL, ET_EXEC or ET_DYN", o.kind)
	}
	o.machine = elf.Machine(c.U16("e_machine"))
	c.U32("e_version")
	o.word(&c, "e_entry")
	o.word(&c, "e_phoff")
	shoff := o.word(&c, "e_shoff")
	c.U32("e_flags")
	c.Bytes("e_ehsize", 6) // and e_phentsize, e_phnum
	entry := uint64(c.U16("e_shentsize"))
	number := uint64(c.U16("e_shnum"))
	names := uint64(c.U16("e_shstrndx"))
	if c.Err() == nil && shoff == 0 {
		c.Fail("e_shoff", "no section headers")
	} else if c.Err() == nil && entry != shdr {
		c.Fail("e_shentsize", "%d, and section headers have %d bytes", entry, shdr)
	}
	if err := c.Err(); err != nil {
		return err
	}
	return o.sectionHeaders(shoff, shdr, number, names)
}

// sectionHeaders reads the section headers. The first one has the numbers that are too large for
// the ELF header [gABI 4, SHN_UNDEF].
func (o *Object) sectionHeaders(shoff, shdr, number, names uint64) error {
	left := uint64(len(o.image)) - min(shoff, uint64(len(o.image)))
	if left < shdr {
		return &wire.Error{Format: FormatName, Record: "ELF header", Field: "e_shoff", Text: fmt.Sprintf("section headers at offset %#x, and the symfile has %d bytes", shoff, len(o.image))}
	}
	first := o.sectionHeader(shoff, shdr)
	if number == 0 {
		number = first.size
	}
	if names == uint64(elf.SHN_XINDEX) {
		names = uint64(first.link)
	}
	if number > left/shdr {
		return &wire.Error{Format: FormatName, Record: "ELF header", Field: "e_shnum", Text: fmt.Sprintf("%d section headers at offset %#x, and the symfile has %d bytes", number, shoff, len(o.image))}
	}
	o.sections = make([]section, number)
	for i := range o.sections {
		o.sections[i] = o.sectionHeader(shoff+uint64(i)*shdr, shdr)
	}
	if names >= number {
		o.problem(&wire.Error{Format: FormatName, Record: "ELF header", Field: "e_shstrndx", Text: fmt.Sprintf("%d, and there are %d sections", names, number)})
		return nil
	}
	strings, err := o.stored(&o.sections[names])
	if err != nil {
		o.problem(err)
		return nil
	}
	for i := range o.sections {
		s := &o.sections[i]
		s.name = cString(strings, uint64(o.order.Uint32(o.image[s.at:]))) // sh_name
	}
	return nil
}

// sectionHeader reads the section header at an offset, which must be in the image.
func (o *Object) sectionHeader(at, size uint64) (s section) {
	c := o.cursor("section header", o.image[at:at+size], int64(at))
	c.U32("sh_name")
	s.kind = elf.SectionType(c.U32("sh_type"))
	s.flags = elf.SectionFlag(o.word(&c, "sh_flags"))
	s.addr = o.word(&c, "sh_addr")
	s.offset = o.word(&c, "sh_offset")
	s.size = o.word(&c, "sh_size")
	s.link = c.U32("sh_link")
	s.info = c.U32("sh_info")
	s.align = o.word(&c, "sh_addralign")
	s.entrySize = o.word(&c, "sh_entsize")
	s.at = int64(at)
	return s
}

// stored returns the bytes of a section in the image.
func (o *Object) stored(s *section) ([]byte, error) {
	if s.kind == elf.SHT_NOBITS {
		return nil, nil
	}
	if size := uint64(len(o.image)); s.offset > size || s.size > size-s.offset {
		return nil, &wire.Error{Format: FormatName, Record: "section " + printable(s.name), Offset: s.at, Text: fmt.Sprintf("%d bytes at offset %#x, and the symfile has %d bytes", s.size, s.offset, size)}
	}
	return o.image[s.offset : s.offset+s.size : s.offset+s.size], nil
}

// isLoaded reports whether a section is in the memory of the process. JITs write the load address
// into the headers of sections in a relocatable object.
func (o *Object) isLoaded(s *section) bool {
	return s.flags&elf.SHF_ALLOC != 0 && (s.addr != 0 || o.kind != elf.ET_REL)
}

// isCode reports whether a section has code in the memory of the process.
func (o *Object) isCode(s *section) bool { return o.isLoaded(s) && s.flags&elf.SHF_EXECINSTR != 0 }

func (o *Object) cursor(record string, data []byte, base int64) wire.Cursor {
	return wire.NewCursor(FormatName, record, data, o.order, base)
}

// word reads an address, offset or size: its width is that of the class.
func (o *Object) word(c *wire.Cursor, field string) uint64 {
	if o.addrSize == 4 {
		return uint64(c.U32(field))
	}
	return c.U64(field)
}

// mask reduces an address to the width of the class.
func (o *Object) mask(addr uint64) uint64 {
	if o.addrSize == 4 {
		return addr & math.MaxUint32
	}
	return addr
}
