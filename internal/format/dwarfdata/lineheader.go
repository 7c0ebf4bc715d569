package dwarfdata

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// CheckLineHeader checks the header of the line table at an offset of .debug_line: its counts
// of directories and files fit into the bytes that are left [DWARF5 6.2.4]. Its errors are
// a *wire.Error, or say that there is no such offset.
func CheckLineHeader(order binary.ByteOrder, section []byte, at int64) error {
	if at < 0 || at > int64(len(section)) {
		return fmt.Errorf("DWARF: a line table at offset %#x, and .debug_line has %d bytes", at, len(section))
	}
	c := wire.NewCursor("DWARF", ".debug_line", section[at:], order, at)
	wide := false
	length := uint64(c.U32("unit_length"))
	if length == math.MaxUint32 {
		wide = true
		length = c.U64("unit_length")
	}
	c = wire.NewCursor("DWARF", ".debug_line", c.Bytes("unit_length", length), order, c.Offset()-int64(length))
	version := c.U16("version")
	if c.Err() != nil {
		return c.Err()
	}
	if version < 5 {
		return nil // their lists end with an empty entry, and grow one by one
	}
	c.Bytes("address_size", 2)
	if wide {
		c.U64("header_length")
	} else {
		c.U32("header_length")
	}
	c.Bytes("minimum_instruction_length", 5)
	if n := c.U8("opcode_base"); n > 0 {
		c.Bytes("standard_opcode_lengths", uint64(n)-1)
	}
	skipEntries(&c, "directory_entry_format", wide)
	skipEntries(&c, "file_name_entry_format", wide)
	return c.Err()
}

// skipEntries steps over a list of directories or files.
func skipEntries(c *wire.Cursor, field string, wide bool) {
	var forms []uint64
	for range c.U8(field) {
		c.Uleb("LEB128")
		forms = append(forms, c.Uleb("LEB128"))
	}
	n := c.Uleb("LEB128")
	if n > uint64(c.Len()) {
		c.Fail(field, "%d entries, with %d bytes left", n, c.Len())
	}
	for i := uint64(0); i < n && c.Err() == nil; i++ {
		for _, form := range forms {
			skipForm(c, form, wide)
		}
	}
}

// skipForm steps over a value.
func skipForm(c *wire.Cursor, form uint64, wide bool) {
	switch form {
	case 0x08: // string
		c.CString("string")
	case 0x0e, 0x1f, 0x17: // strp, line_strp, sec_offset
		if wide {
			c.U64("offset")
		} else {
			c.U32("offset")
		}
	case 0x0b:
		c.U8("data1")
	case 0x05:
		c.U16("data2")
	case 0x06:
		c.U32("data4")
	case 0x07:
		c.U64("data8")
	case 0x1e:
		c.Bytes("data16", 16)
	case 0x0f: // udata
		c.Uleb("LEB128")
	case 0x09: // block
		c.Bytes("block", c.Uleb("LEB128"))
	default:
		c.Fail("form", "%#x is not in a line table", form)
	}
}
