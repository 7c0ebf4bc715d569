package dwarfdata

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

const (
	// maxAttributes bounds the attributes of an entry. Compilers use some twenty.
	maxAttributes = 128
	// maxString bounds a string in .debug_str, in bytes.
	maxString = 256 << 10
)

// A Unit is the header of a unit in .debug_info.
type Unit struct {
	At, Entry, End uint64 // offsets: of the header, of the first entry, and after the last one
	Version        int
	AddrSize       int // 4 or 8
}

// unitHeaders reads the headers of all units [DWARF5 7.5.1], and checks that debug/dwarf can read
// their abbreviations.
func unitHeaders(order binary.ByteOrder, info, abbrev []byte) (units []Unit, err error) {
	c := wire.NewCursor("DWARF", Info, info, order, 0)
	checked := make(map[uint64]bool)
	left := len(abbrev) + 1024 // bytes of tables: these may overlap
	for c.Err() == nil && c.Len() > 0 {
		u := Unit{At: uint64(c.Pos())}
		length, offsetSize := uint64(c.U32("unit_length")), uint64(4)
		if length == math.MaxUint32 {
			length, offsetSize = c.U64("unit_length"), 8
		}
		if length == 0 {
			continue
		}
		u.Entry = uint64(c.Pos())
		b := c.Bytes("unit_length", length)
		u.End = u.Entry + uint64(len(b))
		h := wire.NewCursor("DWARF", Info, b, order, int64(u.Entry))
		version, kind := h.U16("version"), uint8(0)
		u.Version = int(version)
		if version >= 5 {
			kind = h.U8("unit_type")
			u.AddrSize = int(h.U8("address_size"))
		}
		table := Offset(&h, "debug_abbrev_offset", offsetSize)
		if version < 5 {
			u.AddrSize = int(h.U8("address_size"))
		}
		switch kind {
		case 4, 5: // skeleton and split compile units
			h.U64("dwo_id")
		case 2, 6: // type units
			h.U64("type_signature")
			Offset(&h, "type_offset", offsetSize)
		}
		u.Entry += uint64(h.Pos())
		if c.Err() != nil {
			return nil, c.Err()
		}
		if h.Err() != nil {
			return nil, h.Err()
		}
		if version < 2 || version > 5 {
			return nil, fmt.Errorf("DWARF: %s at offset %#x: version %d is not supported", Info, u.At, version)
		}
		if u.AddrSize != 4 && u.AddrSize != 8 {
			return nil, fmt.Errorf("DWARF: %s at offset %#x: addresses of %d bytes are not supported", Info, u.At, u.AddrSize)
		}
		if u.End > math.MaxUint32 {
			return nil, fmt.Errorf("DWARF: %s has more than 4 GB", Info)
		}
		if !checked[table] {
			n, err := checkAbbreviations(order, abbrev, table)
			if left -= n; err == nil && left < 0 {
				err = fmt.Errorf("DWARF: %s: the tables of the units overlap", Abbrev)
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

// Offset reads an offset of 4 or 8 bytes.
func Offset(c *wire.Cursor, field string, size uint64) uint64 {
	if size == 8 {
		return c.U64(field)
	}
	return uint64(c.U32(field))
}

// checkAbbreviations checks the table at an offset of .debug_abbrev [DWARF5 7.5.3], and returns its
// size.
func checkAbbreviations(order binary.ByteOrder, abbrev []byte, at uint64) (size int, err error) {
	c := wire.NewCursor("DWARF", Abbrev, abbrev, order, 0)
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
