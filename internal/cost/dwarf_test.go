package cost

import (
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// Forms of attributes.
const (
	formAddr     = 0x01
	formData4    = 0x06
	formString   = 0x08
	formStrp     = 0x0e
	formUdata    = 0x0f
	formRef4     = 0x13
	formSecOff   = 0x17
	formPresent  = 0x19
	formAddrx2   = 0x2a
	formImplicit = 0x21
	formLineStrp = 0x1f
)

// debugging has the sections of DWARF of an object.
type debugging struct {
	info, abbrev, line, str, lineStr, addr, lists, ranges []byte
}

// parts returns the sections. A unit is made of entries, if there is none, and a line table of a row.
func (d debugging) parts(entries ...[]byte) (parts []part) {
	root := abbreviation(1, dwarf.TagCompileUnit, true, uint64(dwarf.AttrStmtList), formSecOff, uint64(dwarf.AttrAddrBase), formImplicit, 0)
	d.abbrev = slices.Concat(root, d.abbrev, []byte{0})
	if d.info == nil {
		d.info = unit(5, slices.Concat([]byte{1, 0, 0, 0, 0}, slices.Concat(entries...), []byte{0}))
	}
	if d.line == nil {
		d.line = lineTable(oneDirectory, oneFile, lineProgram([]byte{opcode}))
	}
	for _, x := range []struct {
		name    string
		content []byte
	}{
		{".debug_info", d.info}, {".debug_abbrev", d.abbrev}, {".debug_line", d.line}, {".debug_str", d.str}, {".debug_line_str", d.lineStr},
		{".debug_addr", d.addr}, {".debug_rnglists", d.lists}, {".debug_ranges", d.ranges},
	} {
		if x.content != nil {
			parts = append(parts, part{name: x.name, kind: elf.SHT_PROGBITS, content: x.content})
		}
	}
	return parts
}

// abbreviation returns an entry of .debug_abbrev. The attributes are pairs of a name and a form; a value of
// formImplicit follows it.
func abbreviation(code uint64, tag dwarf.Tag, children bool, attributes ...uint64) []byte {
	b := wire.NewBuffer(binary.LittleEndian)
	b.Uleb(code)
	b.Uleb(uint64(tag))
	b.Bytes([]byte{0, 1}[btoi(children):][:1])
	for _, v := range attributes {
		b.Uleb(v)
	}
	b.Zeros(2)
	return b.Data
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// unit returns a unit of a version with entries.
func unit(version int, entries []byte) []byte {
	b := wire.NewBuffer(binary.LittleEndian)
	b.Prefixed32(func() {
		b.U16(uint16(version))
		if version >= 5 {
			b.Bytes([]byte{1, 8}) // DW_UT_compile, size of addresses
			b.U32(0)
		} else {
			b.U32(0)
			b.U8(8)
		}
		b.Bytes(entries)
	})
	return b.Data
}

// lineTable returns a line table of version 5, with its directories, files and program. Opcode 13 adds a row.
func lineTable(directories, files, program []byte) []byte {
	b := wire.NewBuffer(binary.LittleEndian)
	b.Prefixed32(func() {
		b.U16(5)
		b.Bytes([]byte{8, 0})
		b.Prefixed32(func() {
			b.Bytes([]byte{1, 1, 1, 0, 14, 13})
			b.Bytes([]byte{0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1})
			b.Bytes(directories)
			b.Bytes(files)
		})
		b.Bytes(program)
	})
	return b.Data
}

// A program sets the address to that of the first function.
func lineProgram(rows []byte) []byte {
	b := wire.NewBuffer(binary.LittleEndian)
	b.Bytes([]byte{0, 9, 2})
	b.U64(base)
	b.Bytes(rows)
	b.Bytes([]byte{2, 1, 0, 1, 1}) // end
	return b.Data
}

// entries returns a list of directories or files: their format, and n of them.
func entries(format []byte, n int, each func(b *wire.Buffer, i int)) []byte {
	b := wire.NewBuffer(binary.LittleEndian)
	b.U8(uint8(len(format) / 2))
	b.Bytes(format)
	b.Uleb(uint64(n))
	for i := range n {
		each(b, i)
	}
	return b.Data
}

// opcode is a special opcode that advances the address and the line by 1.
const opcode = 13 + 14 + 1
