package dwarfdata

import (
	"bytes"
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// LineReader returns a reader of the line table of a unit with a first entry, as debug/dwarf's does, or nil if it
// has none. It charges the memory for all of the table.
func (d *Data) LineReader(unit *dwarf.Entry) (*dwarf.LineReader, error) {
	at, ok := unit.Val(dwarf.AttrStmtList).(int64)
	if !ok {
		return nil, nil
	}
	dir, _ := unit.Val(dwarf.AttrCompDir).(string)
	size, texts, err := CheckLineHeader(d.order, d.sections, at, len(dir))
	if err == nil && texts > maxTexts*d.size+MinWork {
		err = ErrTooMuch
	}
	if err == nil {
		err = d.Charge(16*size + texts)
	}
	if err != nil {
		return nil, err
	}
	return d.Data.LineReader(unit)
}

// maxTexts bounds the paths of a line table, by the size of the debugging information: any number may share a
// directory.
const maxTexts = 8

// CheckLineHeader checks the header of the line table at an offset of .debug_line: its counts
// of directories and files fit into the bytes that are left [DWARF5 6.2.4]. It returns the size of the table, and of
// the memory for its directories and files with a compilation directory of dir bytes. Its errors are a *wire.Error,
// or say that there is no such offset.
func CheckLineHeader(order binary.ByteOrder, sections map[string][]byte, at int64, dir int) (size, texts int, err error) {
	section := sections[Line]
	if at < 0 || at > int64(len(section)) {
		return 0, 0, fmt.Errorf("DWARF: a line table at offset %#x, and .debug_line has %d bytes", at, len(section))
	}
	h := lineHeader{sections: sections, cursor: wire.NewCursor("DWARF", Line, section[at:], order, at), dir: dir}
	c := &h.cursor
	length := uint64(c.U32("unit_length"))
	if length == math.MaxUint32 {
		h.wide = true
		length = c.U64("unit_length")
	}
	*c = wire.NewCursor("DWARF", Line, c.Bytes("unit_length", length), order, c.Offset()-int64(length))
	version := c.U16("version")
	if version >= 5 {
		c.Bytes("address_size", 2)
	}
	if h.wide {
		c.U64("header_length")
	} else {
		c.U32("header_length")
	}
	n := uint64(4)
	if version >= 4 {
		n++
	}
	c.Bytes("minimum_instruction_length", n)
	if n := c.U8("opcode_base"); n > 0 {
		c.Bytes("standard_opcode_lengths", uint64(n)-1)
	}
	if version >= 5 {
		h.entries("directory_entry_format")
		h.entries("file_name_entry_format")
		return int(length), h.texts, c.Err()
	}
	h.dirs = h.dir
	for n := -1; n != 0 && c.Err() == nil; {
		n = len(c.CString("include_directories"))
		h.path(n + h.dir)
	}
	for c.Err() == nil && h.path(len(c.CString("file_names"))+h.dirs) > h.dirs {
		for range 3 {
			c.Uleb("LEB128")
		}
	}
	return int(length), h.texts, c.Err()
}

// A lineHeader is the header of a line table that is being checked.
type lineHeader struct {
	sections map[string][]byte
	cursor   wire.Cursor
	wide     bool
	dir      int // size of the compilation directory
	dirs     int // of the longest directory
	texts    int // of all so far
}

// path counts a directory or file of n bytes, and returns n.
func (h *lineHeader) path(n int) int {
	const entry = 96 // of debug/dwarf
	h.texts += n + entry
	return n
}

// entries steps over a list of directories or files.
func (h *lineHeader) entries(field string) {
	c := &h.cursor
	var forms [][2]uint64
	for range c.U8(field) {
		forms = append(forms, [2]uint64{c.Uleb("LEB128"), c.Uleb("LEB128")})
	}
	n := c.Uleb("LEB128")
	if n > uint64(c.Len()) {
		c.Fail(field, "%d entries, with %d bytes left", n, c.Len())
	}
	longest := 0
	for i := uint64(0); i < n && c.Err() == nil; i++ {
		size := h.dirs
		for _, f := range forms {
			switch n := h.form(f[1]); f[0] {
			case 1: // DW_LNCT_path
				size += n
			default: // such as texts of files: it is dropped
				h.texts += n / 16
			}
		}
		longest = max(longest, h.path(size))
	}
	h.dirs = longest
}

// form steps over a value. It returns the size of a string.
func (h *lineHeader) form(form uint64) (size int) {
	c := &h.cursor
	offset := func() uint64 {
		if h.wide {
			return c.U64("offset")
		}
		return uint64(c.U32("offset"))
	}
	text := func(section string) int {
		b := h.sections[section]
		b = b[min(offset(), uint64(len(b))):]
		b = b[:min(len(b), maxString)]
		if n := bytes.IndexByte(b[:min(len(b), 4096)], 0); n >= 0 {
			return n
		}
		return len(b)
	}
	switch form {
	case 0x08: // string
		return len(c.CString("string"))
	case 0x0e: // strp
		return text(Str)
	case 0x1f: // line_strp
		return text(LineStr)
	case 0x17: // sec_offset
		offset()
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
	return 0
}
