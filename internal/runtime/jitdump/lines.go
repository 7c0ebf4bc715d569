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

// Conversion of the entries of a debug record to the rows of a line table.

// maxBefore is how far before a function, in bytes, an entry may lie that still describes its first
// instructions. Entries of BeamAsm lie up to 0x37 before, at the function's header.
const maxBefore = 4 << 10

// maxLine is the largest plausible line number. No source file has more lines, so a larger number
// is garbage.
const maxLine = 1 << 24

// isGarbled reports whether name cannot be a file name. Freed memory has control characters; file
// names have none, except perhaps tabs. If names are known to be UTF-8, invalid UTF-8 is a sign,
// too.
func isGarbled(name []byte, inUTF8 bool) bool {
	control := func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
	return bytes.ContainsFunc(name, control) || inUTF8 && !utf8.Valid(name)
}

// row is an entry of a debug record. Its address is relative to the function, as in the dump.
type row struct {
	off          int64
	line, column uint32
	file         int
}

// table makes the rows of fn from its debug record. They are sorted, with the addresses of the
// dump.
func (r *Reader) table(fn *jitcode.Function, info *jitdump.DebugInfo) {
	names := nameTable{reader: r, fn: fn}
	_, names.v8 = r.listing.v8Name(fn.Name)
	if r.bare && !names.v8 {
		for e, err := range info.Entries() {
			if err != nil {
				break
			}
			r.rows = append(r.rows, row{off: int64(r.listing.codeStart(e.Addr) - fn.Addr)})
		}
		r.sortRows()
		return
	}
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
		r.rows = append(r.rows, row{int64(r.listing.codeStart(e.Addr) - fn.Addr), line, e.Discrim, max(file, 0)})
	})
	if err != nil {
		r.problem(r.listing.functions[r.function].debug.span().Off, "%v; the lines before it are used", err)
	}
	r.sortRows()
}

// sortRows sorts the rows by offset.
func (r *Reader) sortRows() {
	byOffset := func(a, b row) int { return cmp.Compare(a.off, b.off) }
	if !slices.IsSortedFunc(r.rows, byOffset) {
		r.fixes.unsorted.Add(1)
		slices.SortStableFunc(r.rows, byOffset)
	}
}

// inside appends the lines of a function of size bytes, from the sorted rows. A row is valid up to
// the next one. So the last row at or before the first byte is the line of the first byte. Of
// several rows at one address, the last one counts: the others apply to no instruction.
func (r *Reader) inside(lines []jitcode.Line, size uint64) []jitcode.Line {
	covers := slices.ContainsFunc(r.rows, func(w row) bool { return w.off >= 0 && uint64(w.off) <= size })
	outside := 0
	for i, w := range r.rows {
		if w.off < 0 {
			outside++
			if !covers || w.off < -maxBefore {
				continue // unrelated to this function
			}
			w.off = 0
		}
		if uint64(w.off) >= size {
			if uint64(w.off) > size || w.line != 0 && i < len(r.rows)-1 {
				outside++ // an entry at the end is an end marker, no fault
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

// sameLine reports whether two rows have the same position.
func sameLine(a, b jitcode.Line) bool {
	return a.File == b.File && a.Line == b.Line && a.Column == b.Column
}

// nameTable collects the file names of one function.
type nameTable struct {
	reader *Reader
	fn     *jitcode.Function
	last   int // index of the previous entry's file, -1 at first and after an empty name
	lastOK bool
	v8     bool // written by V8: UTF-8, and names may be freed before
}

// index returns the index of name in fn.Files, or -1 for no file.
func (t *nameTable) index(name []byte) int {
	if string(name) == jitdump.RepeatName {
		// The first name cannot repeat anything.
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

// file returns the index of a file name in fn.Files, or -1 for garbage.
func (r *Reader) file(fn *jitcode.Function, name []byte, inUTF8 bool) int {
	known := r.names.of(name)
	if known.garbled || inUTF8 && known.invalid {
		r.fixes.garbled.Add(1)
		return -1
	}
	p := known.path
	if p.function != r.names.function {
		p.function, p.index = r.names.function, len(fn.Files)
		fn.Files = append(fn.Files, p.path)
	}
	return p.index
}

// FileName returns the path for a file name or a URL of V8, as files of functions have it.
func FileName(name string) string { return fileName([]byte(name)) }

// fileName returns the path for a file name. V8 names ES modules by URL, file:///dir/module.mjs;
// tools that show sources need paths.
func fileName(name []byte) string {
	if path, ok := bytes.CutPrefix(name, []byte("file://")); ok && len(path) > 0 && path[0] == '/' {
		if plain, err := url.PathUnescape(string(path)); err == nil && !isGarbled([]byte(plain), true) {
			return plain
		}
	}
	return string(name)
}
