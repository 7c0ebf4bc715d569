package dwarfdata

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"errors"
)

// Names of the sections that are read.
const (
	Info       = ".debug_info"
	Abbrev     = ".debug_abbrev"
	Line       = ".debug_line"
	Str        = ".debug_str"
	LineStr    = ".debug_line_str"
	StrOffsets = ".debug_str_offsets"
	Addr       = ".debug_addr"
	Ranges     = ".debug_ranges"
	RngLists   = ".debug_rnglists"
)

// EntryNames are the names of the sections that entries are read from, and Names of all.
var (
	EntryNames = []string{Info, Abbrev, Str, LineStr, StrOffsets, Addr, Ranges, RngLists}
	Names      = append([]string{Line}, EntryNames...)
)

// WorkPerByte and MinWork bound the bytes that debug/dwarf allocates in all, by the size of the debugging
// information. Compilers' output needs 10 to 80 for each byte.
const (
	WorkPerByte = 256
	MinWork     = 64 << 10
)

// ErrTooMuch means that debugging information needs too much work for its size.
var ErrTooMuch = errors.New("DWARF: entries need too much memory for their size; the rest is left out")

// A Data is debugging information. One goroutine may use it.
type Data struct {
	*dwarf.Data
	Units []Unit // headers of .debug_info

	order    binary.ByteOrder
	sections map[string][]byte
	size     int // of all sections, in bytes
	work     int // bytes that may still be allocated
}

// New returns the debugging information in sections, by name, or nil if there are no entries. It aliases
// the sections.
func New(order binary.ByteOrder, sections map[string][]byte) (*Data, error) {
	info, abbrev := sections[Info], sections[Abbrev]
	if len(info) == 0 {
		return nil, nil
	}
	units, err := unitHeaders(order, info, abbrev)
	if err != nil {
		return nil, err
	}
	for _, name := range []string{Str, LineStr} {
		if err := checkStrings(name, sections[name]); err != nil {
			return nil, err
		}
	}
	d, err := dwarf.New(abbrev, nil, nil, info, sections[Line], nil, sections[Ranges], sections[Str])
	if err != nil {
		return nil, err
	}
	for _, name := range []string{Addr, LineStr, StrOffsets, RngLists} {
		b := sections[name]
		if name == StrOffsets {
			b = withoutHeader(b)
		}
		if b != nil {
			if err := d.AddSection(name, b); err != nil {
				return nil, err
			}
		}
	}
	size := 0
	for _, b := range sections {
		size += len(b)
	}
	return &Data{Data: d, Units: units, order: order, sections: sections, size: size, work: WorkPerByte*size + MinWork}, nil
}

// Charge subtracts n bytes from those that may still be allocated. The error is ErrTooMuch.
func (d *Data) Charge(n int) error {
	if d.work -= n; d.work < 0 {
		return ErrTooMuch
	}
	return nil
}

// RangesOf returns the code of an entry, as debug/dwarf's Ranges does. It charges the memory for that.
func (d *Data) RangesOf(e *dwarf.Entry) ([][2]uint64, error) {
	ranges, err := d.Data.Ranges(e)
	if err != nil {
		return nil, err
	}
	return ranges, d.Charge(16 * len(ranges))
}

// A Reader reads entries one by one. It charges the memory for each.
type Reader struct {
	*dwarf.Reader
	data *Data
}

// Reader returns a reader at the first entry.
func (d *Data) Reader() *Reader { return &Reader{d.Data.Reader(), d} }

// Next reads the next entry, or returns nil at the end of the section. After an error, the reader must not
// be used.
func (r *Reader) Next() (*dwarf.Entry, error) {
	e, err := r.Reader.Next()
	if err != nil || e == nil {
		return nil, err
	}
	return e, r.data.Charge(entryWork(e))
}

// SkipChildren skips the entries below e, which Next has returned last.
func (r *Reader) SkipChildren(e *dwarf.Entry) error {
	if sibling, ok := e.Val(dwarf.AttrSibling).(dwarf.Offset); ok && sibling > e.Offset {
		r.Seek(sibling)
		return nil
	}
	for depth := 0; ; {
		switch {
		case e.Tag == 0:
			depth--
		case e.Children:
			depth++
		}
		if depth <= 0 {
			return nil
		}
		var err error
		if e, err = r.Next(); e == nil || err != nil {
			return err
		}
	}
}

// entryWork returns the bytes that debug/dwarf allocated for an entry, roughly.
func entryWork(e *dwarf.Entry) int {
	n := 64 + 48*len(e.Field)
	for i := range e.Field {
		if s, ok := e.Field[i].Val.(string); ok {
			n += len(s)
		}
	}
	return n
}

// withoutHeader returns .debug_str_offsets with zeros in place of the first header. To find the
// start of a unit's offsets, debug/dwarf reads the unit's first entry with the offsets from byte 0
// on. It fails if a part of the header is no offset of a string, although it drops these strings.
// (Go 1.26)
func withoutHeader(offsets []byte) []byte {
	offsets = bytes.Clone(offsets)
	size := 8 // unit_length, version and padding [DWARF5 7.26]
	if len(offsets) >= 4 && bytes.Equal(offsets[:4], []byte{0xff, 0xff, 0xff, 0xff}) {
		size = 16
	}
	clear(offsets[:min(size, len(offsets))])
	return offsets
}
