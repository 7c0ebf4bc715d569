package jitelf

import (
	"cmp"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/sorting"
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
	low, high   uint64 // high is after the last byte
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

// maxPath bounds the names of files, in bytes: that is the kernel's PATH_MAX.
const maxPath = 4096

// read reads the table at an offset of .debug_line, and returns its index. It is -1 if the header is
// unreadable. Rows before a fault are kept.
func (l *lines) read(o *Object, c *contents, at int64, compDir string) (table int32, err error) {
	if i, ok := l.at[at]; ok {
		return i, nil
	}
	if l.at == nil {
		l.at = make(map[int64]int32)
		l.work = 2*len(c.data[dwarfdata.Line]) + 1024
	}
	l.at[at] = -1
	if err := c.need(dwarfdata.Line, dwarfdata.Str, dwarfdata.LineStr); err != nil {
		return -1, err
	}
	section := c.data[dwarfdata.Line]
	r := lineReader{sections: c, order: o.order, addrSize: uint8(o.addrSize)}
	r.table.compDir = compDir[:min(len(compDir), maxPath)]
	r.c = wire.NewCursor("DWARF", dwarfdata.Line, section, o.order, 0)
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

// sequence adds the rows from first on as a sequence that ends at an address.
func (l *lines) sequence(o *Object, table int32, first int, end uint64) {
	rows := l.rows[first:]
	byAddr := func(a, b row) int { return cmp.Compare(a.addr, b.addr) }
	if !slices.IsSortedFunc(rows, byAddr) {
		sorting.Stable(rows, byAddr)
	}
	if len(rows) == 0 || rows[0].addr >= end || o.addrSize == 4 && end > math.MaxUint32+1 || len(l.rows) > math.MaxInt32 {
		l.rows = l.rows[:first]
		return
	}
	l.sequences = append(l.sequences, sequence{low: rows[0].addr, high: end, table: table, first: int32(first), last: int32(len(l.rows))})
}

// finish sorts the sequences. One that overlaps another begins after it.
func (l *lines) finish() {
	sorting.Stable(l.sequences, func(a, b sequence) int { return cmp.Compare(a.low, b.low) })
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

// pathSize returns a bound of the size of the path of a file. It is 0 if the file is unknown.
func (l *lines) pathSize(table int32, number int64) int {
	if table < 0 || number < 0 || number >= int64(len(l.tables[table].files)) {
		return 0
	}
	t := &l.tables[table]
	f := &t.files[number]
	if len(f.name) == 0 {
		return 0
	}
	size := len(t.compDir) + len(f.name) + 2
	if uint64(f.dir) < uint64(len(t.dirs)) {
		size += len(t.dirs[f.dir])
	}
	return min(size, maxPath)
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
	if dir[len(dir)-1] == '/' {
		return string(dir) + name
	}
	return string(dir) + "/" + name
}

// isAbsolute reports whether a path of Unix or Windows is absolute.
func isAbsolute(name string) bool {
	return name != "" && (name[0] == '/' || name[0] == '\\' || len(name) > 2 && name[1] == ':' && (name[2] == '\\' || name[2] == '/'))
}
