package jitelf

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// Limits for debug/dwarf, which trusts its input. Its time and memory are not bounded by the size
// of the input: an attribute copies its string, an abbreviation may have any number of attributes
// without bytes, and tables of abbreviations may overlap. Its line reader panics on file numbers
// from 2^63 on, so package jitelf has its own; see lines.go. (Go 1.26)

const (
	// maxAttributes bounds the attributes of an entry. Compilers use some twenty.
	maxAttributes = 128
	// maxString bounds a string in .debug_str, in bytes.
	maxString = 256 << 10
	// workPerByte and minWork bound the bytes that debug/dwarf allocates in all, by the size of the
	// debugging information. Compilers' output needs 10 to 80 for each byte.
	workPerByte = 256
	minWork     = 4 << 20
	// keptPerByte and minWork likewise bound the names and ranges that are kept.
	keptPerByte = 16
)

// errTooMuch means that debugging information needs too much work for its size.
var errTooMuch = errors.New("DWARF: entries need too much memory for their size; the rest is left out")

// A unitHeader is the header of a unit in .debug_info.
type unitHeader struct {
	at, entry, end uint64 // offsets: of the header, of the first entry, and after the last one
	version        int
	addrSize       int // 4 or 8
}

// unitHeaders reads the headers of all units [DWARF5 7.5.1], and checks that debug/dwarf can read
// their abbreviations.
func unitHeaders(order binary.ByteOrder, info, abbrev []byte) (units []unitHeader, err error) {
	c := wire.NewCursor("DWARF", debugInfo, info, order, 0)
	checked := make(map[uint64]bool)
	left := 4*len(abbrev) + 1024 // bytes of tables: these may overlap
	for c.Err() == nil && c.Len() > 0 {
		u := unitHeader{at: uint64(c.Pos())}
		length, offsetSize := uint64(c.U32("unit_length")), uint64(4)
		if length == math.MaxUint32 {
			length, offsetSize = c.U64("unit_length"), 8
		}
		if length == 0 {
			continue
		}
		u.entry = uint64(c.Pos())
		b := c.Bytes("unit_length", length)
		u.end = u.entry + uint64(len(b))
		h := wire.NewCursor("DWARF", debugInfo, b, order, int64(u.entry))
		version, kind := h.U16("version"), uint8(0)
		u.version = int(version)
		if version >= 5 {
			kind = h.U8("unit_type")
			u.addrSize = int(h.U8("address_size"))
		}
		table := offset(&h, "debug_abbrev_offset", offsetSize)
		if version < 5 {
			u.addrSize = int(h.U8("address_size"))
		}
		switch kind {
		case 4, 5: // skeleton and split compile units
			h.U64("dwo_id")
		case 2, 6: // type units
			h.U64("type_signature")
			offset(&h, "type_offset", offsetSize)
		}
		u.entry += uint64(h.Pos())
		if c.Err() != nil {
			return nil, c.Err()
		}
		if h.Err() != nil {
			return nil, h.Err()
		}
		if version < 2 || version > 5 {
			return nil, fmt.Errorf("DWARF: %s at offset %#x: version %d is not supported", debugInfo, u.at, version)
		}
		if u.addrSize != 4 && u.addrSize != 8 {
			return nil, fmt.Errorf("DWARF: %s at offset %#x: addresses of %d bytes are not supported", debugInfo, u.at, u.addrSize)
		}
		if u.end > math.MaxUint32 {
			return nil, fmt.Errorf("DWARF: %s has more than 4 GB", debugInfo)
		}
		if !checked[table] {
			n, err := checkAbbreviations(order, abbrev, table)
			if left -= n; err == nil && left < 0 {
				err = fmt.Errorf("DWARF: %s: the tables of the units overlap", debugAbbrev)
			}
			if err != nil {
				return nil, err
			}
			checked[table] = true
		}
		units = append(units, u)
	}
	return units, c.Err()
}

// offset reads an offset of 4 or 8 bytes.
func offset(c *wire.Cursor, field string, size uint64) uint64 {
	if size == 8 {
		return c.U64(field)
	}
	return uint64(c.U32(field))
}

// checkAbbreviations checks the table at an offset of .debug_abbrev [DWARF5 7.5.3], and returns its
// size.
func checkAbbreviations(order binary.ByteOrder, abbrev []byte, at uint64) (size int, err error) {
	c := wire.NewCursor("DWARF", debugAbbrev, abbrev, order, 0)
	c.Bytes("debug_abbrev_offset", at)
	for c.Len() > 0 && c.Uleb("code") != 0 && c.Err() == nil { // LuaJIT leaves the end out
		c.Uleb("tag")
		c.U8("children")
		for n := 0; c.Err() == nil; n++ {
			attr, form := c.Uleb("attribute"), c.Uleb("form")
			if attr == 0 && form == 0 {
				break
			}
			if form == 0x21 { // implicit_const
				c.Sleb("constant")
			}
			if n == maxAttributes {
				c.Fail("attribute", "more than %d attributes", maxAttributes)
			}
		}
	}
	return c.Pos() - int(min(at, uint64(len(abbrev)))), c.Err()
}

// checkStrings checks that a section has no very long strings.
func checkStrings(name string, b []byte) error {
	for at := 0; at < len(b); {
		n := bytes.IndexByte(b[at:], 0)
		if n < 0 {
			n = len(b) - at
		}
		if n > maxString {
			return fmt.Errorf("DWARF: %s at offset %#x: a string of %d bytes", name, at, n)
		}
		at += n + 1
	}
	return nil
}

// newDWARF returns the entries of an object, and the headers of their units.
func newDWARF(order binary.ByteOrder, c *contents) (*dwarf.Data, []unitHeader, error) {
	if err := c.need(debugInfo, debugAbbrev, debugStr, debugLineStr, debugStrOffsets, debugAddr, debugRanges, debugRngLists); err != nil {
		return nil, nil, err
	}
	info, abbrev := c.data[debugInfo], c.data[debugAbbrev]
	if len(info) == 0 {
		return nil, nil, nil
	}
	units, err := unitHeaders(order, info, abbrev)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{debugStr, debugLineStr} {
		if err := checkStrings(name, c.data[name]); err != nil {
			return nil, nil, err
		}
	}
	d, err := dwarf.New(abbrev, nil, nil, info, nil, nil, c.data[debugRanges], c.data[debugStr])
	if err != nil {
		return nil, nil, err
	}
	for _, name := range []string{debugAddr, debugLineStr, debugStrOffsets, debugRngLists} {
		b := c.data[name]
		if name == debugStrOffsets {
			b = withoutHeader(b)
		}
		if b != nil {
			if err := d.AddSection(name, b); err != nil {
				return nil, nil, err
			}
		}
	}
	return d, units, nil
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
