package jitelf

import (
	"debug/elf"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/wire"
)

// Names of sections with unwind tables.
const (
	debugFrame = ".debug_frame"
	ehFrame    = ".eh_frame"
)

// usedNames are the names of the sections that the package reads.
var usedNames = append([]string{debugFrame, ehFrame}, dwarfdata.Names...)

// findUsed sets the names of sections that the package reads.
func (s *section) findUsed() {
	if i := slices.Index(usedNames, s.name); i >= 0 {
		s.used = usedNames[i]
	}
}

// maxExpansion bounds the size of decompressed sections: that many times the size of the image, and
// minExpanded bytes. Debugging information shrinks to a third, its strings to a tenth.
const (
	maxExpansion = 32
	minExpanded  = 1 << 20
)

// A contents has the joined and relocated content of sections, by name, and the faults of those
// that are unusable.
type contents struct {
	data   map[string][]byte
	faults map[string]error
	frames uint64 // address of .eh_frame
	size   int    // of the image, and of what was decompressed, in bytes
	kept   int    // bytes of memory that may still be kept
}

// keptPerByte and minKept bound the memory that is kept for an object, by its size in bytes. Compilers' output
// needs three for each byte.
const keptPerByte, minKept = 8, 64 << 10

// contents reads the used sections. Sections of one name are joined in the order of their headers,
// as a linker would do.
func (o *Object) contents() *contents {
	c := &contents{data: make(map[string][]byte), faults: make(map[string]error)}
	stored, expanded := uint64(0), uint64(0)
	for i := range o.sections {
		s := &o.sections[i]
		s.findUsed()
		name := s.used
		if name == "" || s.kind == elf.SHT_NOBITS || c.faults[name] != nil {
			continue
		}
		if name == ehFrame && len(c.data[name]) > 0 && o.kind != elf.ET_REL {
			continue // of another address
		}
		b, err := o.stored(s)
		if stored += uint64(len(b)); err == nil && stored > uint64(len(o.image)) {
			err = fault(s, "sections overlap in the symfile")
		}
		if err == nil && s.flags&elf.SHF_COMPRESSED != 0 {
			b, err = o.decompressed(s, b, uint64(len(o.image))*maxExpansion+minExpanded-expanded)
			expanded += uint64(len(b))
		}
		if err != nil {
			c.faults[name] = err
			continue
		}
		s.length = uint64(len(b))
		if s.joined = uint64(len(c.data[name])); s.joined > 0 {
			b = append(c.data[name], b...)
		}
		c.data[name] = b
	}
	c.size = len(o.image) + int(expanded)
	c.kept = keptPerByte*c.size + minKept
	o.frameAddress(c)
	if o.kind == elf.ET_REL {
		o.relocate(c)
	}
	for name := range c.faults {
		delete(c.data, name)
	}
	return c
}

// fault returns an error about a section.
func fault(s *section, format string, args ...any) error {
	return &wire.Error{Format: FormatName, Record: "section " + printable(s.name), Offset: s.at, Text: fmt.Sprintf(format, args...)}
}

// decompressed returns the content of a compressed section, of at most limit bytes.
func (o *Object) decompressed(s *section, b []byte, limit uint64) ([]byte, error) {
	c := wire.NewCursor(FormatName, "section "+printable(s.name), b, o.order, int64(s.offset))
	kind := elf.CompressionType(c.U32("ch_type"))
	if o.addrSize == 8 {
		c.U32("ch_reserved")
	}
	size := o.word(&c, "ch_size")
	o.word(&c, "ch_addralign")
	if c.Err() == nil && size > limit {
		c.Bad("ch_size", "%d bytes, and %d are allowed for a symfile of %d bytes", size, limit, len(o.image))
	}
	rest := c.Rest()
	if err := c.Err(); err != nil {
		return nil, err
	}
	b, err := elffile.Decompress(kind, rest, size)
	if err != nil {
		return nil, fault(s, "%v", err)
	}
	return b, nil
}

// need returns the first fault of some sections, or nil.
func (c *contents) need(names ...string) error {
	for _, name := range names {
		if err := c.faults[name]; err != nil {
			return err
		}
	}
	return nil
}
