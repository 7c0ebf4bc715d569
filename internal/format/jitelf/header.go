package jitelf

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/wire"
)

// ErrNotObject means that the bytes do not begin like an ELF file.
var ErrNotObject = errors.New(FormatName + ": the symfile does not begin as an ELF file")

// A section is a section header.
type section struct {
	name         string
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

// header reads the ELF header and the section headers.
func (o *Object) header() error {
	f, err := elffile.Open(bytes.NewReader(o.image))
	if err == elffile.ErrNotELF {
		return ErrNotObject
	}
	if err != nil {
		return err
	}
	o.class, o.addrSize, o.order, o.kind, o.machine = f.Class, f.AddrSize(), f.ByteOrder, f.Type, f.Machine
	switch o.kind {
	case elf.ET_REL, elf.ET_EXEC, elf.ET_DYN:
	default:
		return &wire.Error{Format: FormatName, Record: "ELF header", Field: "e_type", Text: fmt.Sprintf("%v, want ET_REL, ET_EXEC or ET_DYN", o.kind)}
	}
	if len(f.Sections) == 0 {
		return &wire.Error{Format: FormatName, Record: "ELF header", Field: "e_shoff", Text: "no section headers"}
	}
	if f.NoNames != nil {
		o.problem(f.NoNames)
	}
	o.sections = make([]section, len(f.Sections))
	for i := range f.Sections {
		s := &f.Sections[i]
		o.sections[i] = section{name: s.Name, kind: s.Type, flags: s.Flags, addr: s.Addr, offset: s.Offset, size: s.Size, link: s.Link, info: s.Info, entrySize: s.Entsize, align: s.Addralign, at: s.HeaderAt}
	}
	return nil
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
