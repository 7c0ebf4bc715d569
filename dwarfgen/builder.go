package dwarfgen

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// An Encoding is what all of a Builder's sections have in common.
type Encoding struct {
	Version  int // 4 or 5
	AddrSize int // 4 or 8 bytes
	Order    binary.ByteOrder
}

// A Section is one finished section.
type Section struct {
	Name string
	Data []byte
}

// A Builder collects units into one set of sections. Reset comes before first
// use, and empties it without giving up its memory.
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

	tooLarge bool // for the 32-bit format
}

// Reset empties b.
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
	return nil
}

// Sections returns the sections that have content, in the customary order. They
// alias the builder's memory until Reset.
func (b *Builder) Sections() ([]Section, error) {
	for _, n := range []int{b.info.Len(), b.ranges.Len(), b.line.Len(), len(b.str.data), len(b.lineStr.data)} {
		if b.tooLarge || uint64(n) > maxSection {
			return nil, errors.New("dwarf: more than 4 GiB in a section; the 32-bit format has no room for that")
		}
	}
	for _, buf := range []*wire.Buffer{&b.info, &b.line, &b.aranges, &b.ranges} {
		if err := buf.Err(); err != nil {
			return nil, fmt.Errorf("dwarf: %w", err)
		}
	}
	ranges := ".debug_ranges"
	if b.enc.Version >= 5 {
		ranges = ".debug_rnglists"
	}
	b.out = b.out[:0]
	for _, s := range []Section{
		{".debug_aranges", b.aranges.Data},
		{".debug_info", b.info.Data},
		{".debug_abbrev", b.abbrev.bytes()},
		{".debug_line", b.line.Data},
		{ranges, b.ranges.Data},
		{".debug_str", b.str.data},
		{".debug_line_str", b.lineStr.data},
	} {
		if len(s.Data) > 0 {
			b.out = append(b.out, s)
		}
	}
	return b.out, nil
}

// A stringTable is a section of NUL-terminated strings, each of them once.
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

// offset returns the place of s, which must not contain a NUL.
func (t *stringTable) offset(s string) uint32 {
	if at, ok := t.at[s]; ok {
		return at
	}
	at := uint32(len(t.data))
	t.data = append(append(t.data, s...), 0)
	t.at[s] = at
	return at
}
