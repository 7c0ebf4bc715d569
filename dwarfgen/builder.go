package dwarfgen

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// An Encoding is the encoding of all sections of a Builder.
type Encoding struct {
	Version  int              // 4 or 5; others are rejected
	AddrSize int              // of addresses: 4 or 8 bytes
	Order    binary.ByteOrder // of all fields; must be set
}

// A Section is one finished section.
type Section struct {
	Name string // such as ".debug_info"
	Data []byte
}

// A Builder collects units in one set of sections. It has to be Reset before first use. Reset
// empties it and keeps its memory.
type Builder struct {
	enc     Encoding
	info    wire.Buffer
	line    wire.Buffer
	aranges wire.Buffer
	ranges  wire.Buffer
	abbrev  abbrevTable
	str     stringTable
	lineStr stringTable
	out     []Section
	refs    []ref // from one section into another

	tooLarge bool // for the 32-bit format
}

// Reset empties b and sets its encoding.
func (b *Builder) Reset(enc Encoding) error {
	if enc.Version != 4 && enc.Version != 5 {
		return fmt.Errorf("dwarf: version %d; 4 and 5 can be written", enc.Version)
	}
	if enc.AddrSize != 4 && enc.AddrSize != 8 {
		return fmt.Errorf("dwarf: addresses of %d bytes; 4 and 8 can be written", enc.AddrSize)
	}
	b.tooLarge = false
	b.enc = enc
	b.info.Reset(enc.Order)
	b.line.Reset(enc.Order)
	b.aranges.Reset(enc.Order)
	b.ranges.Reset(enc.Order)
	b.abbrev.reset()
	b.str.reset()
	b.lineStr.reset()
	b.refs = b.refs[:0]
	return nil
}

// Sections returns the sections with content, in the customary order. They alias the builder's
// memory until Reset.
func (b *Builder) Sections() ([]Section, error) {
	if err := b.check(); err != nil {
		return nil, err
	}
	b.out = b.out[:0]
	for i, data := range b.contents() {
		if len(data) > 0 {
			b.out = append(b.out, Section{sectionID(i).name(b.enc), data})
		}
	}
	return b.out, nil
}

// contents returns the content of each section.
func (b *Builder) contents() [numSections][]byte {
	return [numSections][]byte{
		aranges: b.aranges.Data, info: b.info.Data, abbrevs: b.abbrev.bytes(), line: b.line.Data,
		ranges: b.ranges.Data, str: b.str.data, lineStr: b.lineStr.data,
	}
}

var errTooLarge = errors.New("dwarf: more than 4 GiB in a section; the 32-bit format has no room for that")

// check returns an error if the sections are invalid.
func (b *Builder) check() error {
	for _, n := range []int{b.info.Len(), b.ranges.Len(), b.line.Len(), len(b.str.data), len(b.lineStr.data)} {
		if b.tooLarge || uint64(n) > maxSection {
			return errTooLarge
		}
	}
	for _, buf := range []*wire.Buffer{&b.info, &b.line, &b.aranges, &b.ranges} {
		if err := buf.Err(); err != nil {
			return fmt.Errorf("dwarf: %w", err)
		}
	}
	return nil
}

// A sectionID identifies one of the sections, in their customary order.
type sectionID uint8

const (
	aranges sectionID = iota
	info
	abbrevs
	line
	ranges
	str
	lineStr
	numSections
)

var sectionNames = [numSections]string{
	".debug_aranges", ".debug_info", ".debug_abbrev", ".debug_line", ".debug_rnglists", ".debug_str", ".debug_line_str",
}

func (s sectionID) name(enc Encoding) string {
	if s == ranges && enc.Version < 5 {
		return ".debug_ranges"
	}
	return sectionNames[s]
}

// A stringTable is a section of NUL-terminated strings, each stored once.
type stringTable struct {
	data []byte
	at   map[string]uint32
}

func (t *stringTable) reset() {
	t.data = t.data[:0]
	if t.at == nil {
		t.at = make(map[string]uint32)
	}
	clear(t.at)
}

// offset returns the offset of s, and adds s if it is new. s must not contain a NUL.
func (t *stringTable) offset(s string) uint32 {
	if at, ok := t.at[s]; ok {
		return at
	}
	at := uint32(len(t.data))
	t.data = append(append(t.data, s...), 0)
	t.at[s] = at
	return at
}
