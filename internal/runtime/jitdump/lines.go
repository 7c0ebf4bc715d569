package jitdump

import (
	"bytes"
	"cmp"
	"net/url"
	"slices"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/jitdump"
)

// From the entries of a debug record to the rows of a line table.

// maxBefore is how far in front of a function an entry may lie that still says
// something about its first instructions. BeamAsm's lie up to 0x37 before, at
// the header of the function.
const maxBefore = 4 << 10

// maxLine bounds line numbers: no source file has more lines, so a larger one
// is garbage.
const maxLine = 1 << 24

// isGarbled reports whether name cannot be that of a file: nobody puts control
// characters there on purpose, except perhaps tabs, but memory that was freed
// has them. Where names are known to be in UTF-8, other bytes are a sign too.
func isGarbled(name []byte, inUTF8 bool) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return bytes.ContainsFunc(name, control) || inUTF8 && !utf8.Valid(name)
}

// row is an entry with its address relative to the function, as in the dump.
type row struct {
	off          int64
	line, column uint32
	file         int
}

// table makes the rows of fn from its debug record, sorted by address, with the addresses
// of the dump.
func (r *Reader) table(fn *jitcode.Function, info *jitdump.DebugInfo) {
	names := nameTable{reader: r, fn: fn}
	_, names.v8 = r.d.v8Name(fn.Name)
	err := r.entries(fn, info, func(e jitdump.DebugEntry) {
		line := e.Line
		if line > maxLine {
			line = 0
			r.fixes.absurdLines.Add(1)
		}
		file := names.index(e.Name)
		if file < 0 {
			line = 0
		}
		r.rows = append(r.rows, row{int64(r.d.codeStart(e.Addr) - fn.Addr), line, e.Discrim, max(file, 0)})
	})
	if err != nil {
		r.problem(r.d.parts[r.function].debug.Off, "%v; the lines before it are used", err)
	}
	r.sortRows()
}

// sortRows puts the rows into the order of their offsets.
func (r *Reader) sortRows() {
	byOffset := func(a, b row) int { return cmp.Compare(a.off, b.off) }
	if !slices.IsSortedFunc(r.rows, byOffset) {
		r.fixes.unsorted.Add(1)
		slices.SortStableFunc(r.rows, byOffset)
	}
}

// inside appends to lines what the sorted rows say about a function of size
// bytes. A row holds up to the next one, so the last row at or in front of the
// first byte is the line of the first byte. Of several rows at one address the
// last one counts: the others hold for no instruction.
func (r *Reader) inside(lines []jitcode.Line, size uint64) []jitcode.Line {
	covers := slices.ContainsFunc(r.rows, func(w row) bool { return w.off >= 0 && uint64(w.off) <= size })
	outside := 0
	for _, w := range r.rows {
		if w.off < 0 {
			outside++
			if !covers || w.off < -maxBefore {
				continue // nothing to do with this function
			}
			w.off = 0
		}
		if uint64(w.off) >= size {
			if w.line != 0 || uint64(w.off) > size {
				outside++ // an end marker, line 0 at the end, is no fault
			}
			continue
		}
		line := jitcode.Line{Offset: uint64(w.off), File: w.file, Line: w.line, Column: lineColumn(w.column)}
		if line.Line == 0 {
			line.File, line.Column = 0, 0
		}
		if n := len(lines); n > 0 && lines[n-1].Offset == line.Offset {
			lines = lines[:n-1]
		}
		if n := len(lines); n == 0 && line.Line == 0 || n > 0 && sameLine(lines[n-1], line) {
			continue
		}
		lines = append(lines, line)
	}
	if outside > 0 {
		r.fixes.outside.Add(1)
	}
	return lines
}

func sameLine(a, b jitcode.Line) bool {
	return a.File == b.File && a.Line == b.Line && a.Column == b.Column
}

// nameTable collects the file names of one function.
type nameTable struct {
	reader *Reader
	fn     *jitcode.Function
	last   int // index of the previous entry's file, -1 at first and after an empty name
	lastOK bool
	v8     bool // which writes UTF-8, and frees names before it writes them
}

// index returns the place of name in fn.Files, or -1 for no file.
func (t *nameTable) index(name []byte) int {
	if string(name) == jitdump.RepeatName {
		// As the very first name there is nothing to repeat.
		if !t.lastOK {
			return -1
		}
		return t.last
	}
	if t.lastOK && t.last >= 0 && t.fn.Files[t.last] == string(name) {
		return t.last
	}
	t.lastOK = true
	t.last = -1
	if len(name) == 0 {
		return -1
	}
	t.last = t.reader.file(t.fn, name, t.v8)
	return t.last
}

// file returns the place of a file name in fn.Files, or -1 for garbage.
func (r *Reader) file(fn *jitcode.Function, name []byte, inUTF8 bool) int {
	if isGarbled(name, inUTF8) {
		r.fixes.garbled.Add(1)
		return -1
	}
	file := r.intern(name)
	i, ok := r.places[file]
	if !ok {
		i = len(fn.Files)
		fn.Files = append(fn.Files, file)
		r.places[file] = i
	}
	return i
}

// fileName returns the name of the file that name stands for. V8 gives ES modules
// by their URLs, file:///dir/module.mjs; tools that show sources want paths.
func fileName(name []byte) string {
	if path, ok := bytes.CutPrefix(name, []byte("file://")); ok && len(path) > 0 && path[0] == '/' {
		if plain, err := url.PathUnescape(string(path)); err == nil && !isGarbled([]byte(plain), true) {
			return plain
		}
	}
	return string(name)
}
