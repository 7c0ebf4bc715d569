package jitelf

import (
	"cmp"
	"encoding/binary"
	"math"
	"path"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// A lineTable is a line table: its files, and its rows in sequences of increasing addresses.
type lineTable struct {
	version uint16
	compDir string
	dirs    [][]byte // these and the names of files alias the sections
	files   []lineFile
}

// A lineFile is a source file. File numbers of DWARF 5 begin at 0, those of older versions at 1:
// there, files[0] has no name.
type lineFile struct {
	name []byte // empty if unknown
	dir  uint32 // index in dirs
}

// A row is a row of a line table.
type row struct {
	addr   uint64
	file   uint32 // index in the table's files, possibly none
	line   uint32
	column uint32
}

// A sequence is a run of code with lines. Sequences do not overlap.
type sequence struct {
	low, high   uint64 // high is behind the last byte
	table       int32  // index in lines.tables
	first, last int32  // its rows: lines.rows[first:last], sorted by address
}

// lines are the line tables of an object.
type lines struct {
	tables    []lineTable
	rows      []row
	sequences []sequence // sorted
	at        map[int64]int32
	work      int // bytes of tables that may still be read
}

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

// maxPath bounds the names of files, in bytes: that is the kernel's PATH_MAX.
const maxPath = 4096

// add reads the table at an offset of .debug_line, and returns its index. It is -1 if the header is
// unreadable. Rows before a fault are kept.
func (l *lines) add(o *Object, c *contents, at int64, compDir string) (table int32, err error) {
	if i, ok := l.at[at]; ok {
		return i, nil
	}
	if l.at == nil {
		l.at = make(map[int64]int32)
		l.work = 2*len(c.data[debugLine]) + 1024
	}
	l.at[at] = -1
	if err := c.need(debugLine, debugStr, debugLineStr); err != nil {
		return -1, err
	}
	section := c.data[debugLine]
	r := lineReader{sections: c, order: o.order, addrSize: uint8(o.addrSize)}
	r.table.compDir = compDir[:min(len(compDir), maxPath)]
	r.c = wire.NewCursor("DWARF", debugLine, section, o.order, 0)
	r.c.Bytes("DW_AT_stmt_list", uint64(at))
	r.length()
	if l.work -= r.c.Len(); l.work < 0 {
		r.c.Fail("", "line tables overlap")
	}
	r.header()
	if r.c.Err() != nil {
		return -1, r.c.Err()
	}
	table = int32(len(l.tables))
	l.tables = append(l.tables, r.table)
	l.at[at] = table
	l.program(&r, table, o)
	return table, r.c.Err()
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
		*c = wire.NewCursor("DWARF", debugLine, body, r.order, c.Offset()-int64(length))
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
	headerLength := offset(c, "header_length", r.offsetSize)
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
		for c.Err() == nil {
			dir := c.CString("include_directories")
			if len(dir) == 0 {
				break
			}
			r.table.dirs = append(r.table.dirs, dir)
		}
		r.table.files = append(r.table.files, lineFile{})
		for c.Err() == nil && r.file() {
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
		s = cString(r.sections.data[debugStr], offset(c, "string", r.offsetSize))
	case 0x1f: // line_strp
		s = cString(r.sections.data[debugLineStr], offset(c, "string", r.offsetSize))
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

// A lineState has the registers of a line program.
type lineState struct {
	row
	operation uint64
}

// program runs a line program [DWARF5 6.2.5], and adds its sequences.
func (l *lines) program(r *lineReader, table int32, o *Object) {
	c := &r.c
	first := len(l.rows)
	state := lineState{row: row{file: 1, line: 1}}
	for c.Err() == nil && c.Len() > 0 {
		opcode := c.U8("opcode")
		switch {
		case opcode >= r.opcodeBase:
			n := opcode - r.opcodeBase
			r.advance(&state, uint64(n/r.lineRange))
			state.line += uint32(r.lineBase + int64(n%r.lineRange))
			l.rows = append(l.rows, state.row)
		case opcode == 1: // copy
			l.rows = append(l.rows, state.row)
		case opcode == 0:
			body := c.Bytes("extended opcode", c.Uleb("length"))
			x := wire.NewCursor("DWARF", debugLine, body, r.order, c.Offset()-int64(len(body)))
			switch x.U8("extended opcode") {
			case 1: // end_sequence
				l.sequence(o, table, first, state.addr)
				first = len(l.rows)
				state = lineState{row: row{file: 1, line: 1}}
			case 2: // set_address
				state.operation = 0
				switch r.addrSize {
				case 4:
					state.addr = uint64(x.U32("address"))
				case 8:
					state.addr = x.U64("address")
				default:
					x.Fail("address", "of %d bytes is not supported", r.addrSize)
				}
			case 3: // define_file, of DWARF 2 to 4
				t := &l.tables[table]
				name := x.CString("file")
				t.files = append(t.files, lineFile{name: name, dir: uint32(min(x.Uleb("directory index"), math.MaxUint32))})
			}
			if x.Err() != nil && c.Err() == nil {
				*c = x
			}
		default:
			r.standard(&state, opcode)
		}
	}
	l.rows = l.rows[:first] // a sequence without an end
}

// standard executes a standard opcode [DWARF5 6.2.5.2] that adds no row.
func (r *lineReader) standard(state *lineState, opcode uint8) {
	c := &r.c
	switch opcode {
	case 2: // advance_pc
		r.advance(state, c.Uleb("advance"))
	case 3: // advance_line
		state.line += uint32(c.Sleb("advance"))
	case 4: // set_file
		state.file = uint32(min(c.Uleb("file"), math.MaxUint32))
	case 5: // set_column
		state.column = uint32(min(c.Uleb("column"), math.MaxUint32))
	case 8: // const_add_pc
		r.advance(state, uint64((255-r.opcodeBase)/r.lineRange))
	case 9: // fixed_advance_pc
		state.addr += uint64(c.U16("advance"))
		state.operation = 0
	default:
		for range r.lengths[opcode-1] {
			c.Uleb("operand")
		}
	}
}

// advance adds to the address and the operation in it.
func (r *lineReader) advance(state *lineState, by uint64) {
	by += state.operation
	state.addr += r.minLength * (by / r.maxOperations)
	state.operation = by % r.maxOperations
}

// sequence adds the rows from first on as a sequence that ends at an address.
func (l *lines) sequence(o *Object, table int32, first int, end uint64) {
	rows := l.rows[first:]
	byAddr := func(a, b row) int { return cmp.Compare(a.addr, b.addr) }
	if !slices.IsSortedFunc(rows, byAddr) {
		slices.SortStableFunc(rows, byAddr)
	}
	if len(rows) == 0 || rows[0].addr >= end || o.addrSize == 4 && end > math.MaxUint32+1 || len(l.rows) > math.MaxInt32 {
		l.rows = l.rows[:first]
		return
	}
	l.sequences = append(l.sequences, sequence{low: rows[0].addr, high: end, table: table, first: int32(first), last: int32(len(l.rows))})
}

// finish sorts the sequences. One that overlaps another begins behind it.
func (l *lines) finish() {
	slices.SortStableFunc(l.sequences, func(a, b sequence) int { return cmp.Compare(a.low, b.low) })
	end := uint64(0)
	kept := l.sequences[:0]
	for _, s := range l.sequences {
		if s.low = max(s.low, end); s.low < s.high {
			kept = append(kept, s)
			end = s.high
		}
	}
	l.sequences = kept
}

// path returns the name of a file of a table, with its directory. It is "" if it is unknown.
func (t *lineTable) path(file uint32) string {
	if uint64(file) >= uint64(len(t.files)) {
		return ""
	}
	f := &t.files[file]
	name := string(f.name[:min(len(f.name), maxPath+1)])
	if name == "" || isAbsolute(name) {
		return bounded(name)
	}
	if uint64(f.dir) < uint64(len(t.dirs)) {
		name = join(t.dirs[f.dir], name)
	}
	if !isAbsolute(name) && (t.version < 5 || isAbsolute(t.compDir)) {
		name = join([]byte(t.compDir), name)
	}
	return bounded(name)
}

// bounded returns a path, or "" if it is too long.
func bounded(name string) string {
	if len(name) > maxPath {
		return ""
	}
	return name
}

// join returns the path of a file in a directory.
func join(dir []byte, name string) string {
	if len(dir) == 0 || len(dir) > maxPath {
		return name
	}
	if len(dir) >= 2 && dir[1] == ':' { // of Windows, which is cross-compiled
		return string(dir) + `\` + name
	}
	return path.Join(string(dir), name)
}

// isAbsolute reports whether a path of Unix or Windows is absolute.
func isAbsolute(name string) bool {
	return name != "" && (name[0] == '/' || name[0] == '\\' || len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/'))
}
