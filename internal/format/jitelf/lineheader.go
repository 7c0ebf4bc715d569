package jitelf

import (
	"encoding/binary"
	"math"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/wire"
)

// A lineReader reads one table.
type lineReader struct {
	c        wire.Cursor
	sections *contents
	order    binary.ByteOrder
	table    lineTable

	offsetSize    uint64
	addrSize      uint8
	minLength     uint64
	maxOperations uint64
	lineBase      int64
	lineRange     uint8
	opcodeBase    uint8
	lengths       []byte // of standard opcodes, from 1
}

// length reads the length of a table [DWARF5 6.2.4]. The cursor then ends with the table.
func (r *lineReader) length() {
	c := &r.c
	length := uint64(c.U32("unit_length"))
	if r.offsetSize = 4; length == math.MaxUint32 {
		r.offsetSize = 8
		length = c.U64("unit_length")
	}
	body := c.Bytes("unit_length", length)
	if c.Err() == nil {
		*c = wire.NewCursor("DWARF", dwarfdata.Line, body, r.order, c.Offset()-int64(length))
	}
}

// header reads the rest of the header. The cursor is then at the program.
func (r *lineReader) header() {
	c := &r.c
	if r.table.version = c.U16("version"); c.Err() == nil && (r.table.version < 2 || r.table.version > 5) {
		c.Bad("version", "%d is not supported", r.table.version)
	}
	if r.table.version >= 5 {
		r.addrSize = c.U8("address_size")
		if segment := c.U8("segment_selector_size"); segment != 0 && c.Err() == nil {
			c.Bad("segment_selector_size", "%d, want 0", segment)
		}
	}
	headerLength := dwarfdata.Offset(c, "header_length", r.offsetSize)
	program := *c
	program.Bytes("header_length", headerLength)
	r.minLength = uint64(c.U8("minimum_instruction_length"))
	if r.maxOperations = 1; r.table.version >= 4 {
		r.maxOperations = uint64(c.U8("maximum_operations_per_instruction"))
	}
	c.U8("default_is_stmt")
	r.lineBase = int64(int8(c.U8("line_base")))
	r.lineRange = c.U8("line_range")
	if r.opcodeBase = c.U8("opcode_base"); r.opcodeBase > 0 {
		r.lengths = c.Bytes("standard_opcode_lengths", uint64(r.opcodeBase-1))
	}
	if c.Err() == nil && (r.maxOperations == 0 || r.lineRange == 0 || r.opcodeBase == 0) {
		c.Fail("line_range", "maximum operations %d, line range %d, opcode base %d: none may be 0", r.maxOperations, r.lineRange, r.opcodeBase)
	}
	if r.table.version >= 5 {
		r.entries("directory", func(name []byte, _ uint64) { r.table.dirs = append(r.table.dirs, name) })
		r.entries("file name", r.addFile)
	} else {
		r.table.dirs = append(r.table.dirs, nil) // the compilation directory
		for c.Err() == nil && r.sections.kept >= 0 {
			dir := c.CString("include_directories")
			if len(dir) == 0 {
				break
			}
			r.table.dirs = append(r.table.dirs, dir)
			r.sections.kept -= 24
		}
		r.table.files = append(r.table.files, lineFile{})
		for c.Err() == nil && r.sections.kept >= 0 && r.file() {
		}
	}
	if c.Err() == nil {
		*c = program
	}
}

// file reads a file entry of DWARF 2 to 4. It reports whether there was one.
func (r *lineReader) file() bool {
	name := r.c.CString("file_names")
	if len(name) == 0 {
		return false
	}
	dir := r.c.Uleb("directory index")
	r.c.Uleb("time")
	r.c.Uleb("length")
	r.addFile(name, dir)
	r.sections.kept -= 32
	return true
}

func (r *lineReader) addFile(name []byte, dir uint64) {
	r.table.files = append(r.table.files, lineFile{name: name, dir: uint32(min(dir, math.MaxUint32))})
}

// entries reads the directories or files of DWARF 5, and calls f for each.
func (r *lineReader) entries(what string, f func(name []byte, dir uint64)) {
	c := &r.c
	type format struct{ content, form uint64 }
	var formats []format
	for range c.U8(what + " entry format count") {
		formats = append(formats, format{c.Uleb("content type"), c.Uleb("form")})
	}
	n := c.Uleb(what + " count")
	if c.Err() == nil && (n > uint64(c.Len()) || n > 0 && len(formats) == 0) {
		c.Bad(what+" count", "%d, with %d bytes left", n, c.Len())
	} else if r.sections.kept -= 32 * int(n); c.Err() == nil && r.sections.kept < 0 {
		c.Bad(what+" count", "%d are too many for the size of the object", n)
	}
	for i := uint64(0); i < n && c.Err() == nil; i++ {
		before := c.Pos()
		var name []byte
		dir := uint64(0)
		for _, x := range formats {
			s, v := r.form(x.form)
			switch x.content {
			case 1: // path
				name = s
			case 2: // directory index
				dir = v
			}
		}
		if c.Err() == nil && c.Pos() == before {
			c.Fail(what, "an entry without bytes")
		}
		f(name, dir)
	}
}

// form reads a value of the header: a string or a number.
func (r *lineReader) form(form uint64) (s []byte, v uint64) {
	c := &r.c
	switch form {
	case 0x08: // string
		s = c.CString("string")
	case 0x0e: // strp
		s = cString(r.sections.data[dwarfdata.Str], dwarfdata.Offset(c, "string", r.offsetSize))
	case 0x1f: // line_strp
		s = cString(r.sections.data[dwarfdata.LineStr], dwarfdata.Offset(c, "string", r.offsetSize))
	case 0x0b, 0x25: // data1, strx1
		v = uint64(c.U8("number"))
	case 0x05, 0x26: // data2, strx2
		v = uint64(c.U16("number"))
	case 0x27: // strx3
		c.Bytes("number", 3)
	case 0x06, 0x28: // data4, strx4
		v = uint64(c.U32("number"))
	case 0x07: // data8
		v = c.U64("number")
	case 0x1e: // data16
		c.Bytes("number", 16)
	case 0x0f, 0x1a: // udata, strx
		v = c.Uleb("number")
	case 0x09: // block
		c.Bytes("block", c.Uleb("block"))
	default:
		c.Fail("form", "%#x is not supported", form)
	}
	return s, v
}
