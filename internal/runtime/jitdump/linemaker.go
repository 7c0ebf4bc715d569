package jitdump

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// maxLine is the largest plausible line number. No source file has more lines, so a larger number
// is garbage.
const maxLine = 1 << 24

// A lineMaker makes the lines and inlined calls of one function at a time. It reuses its memory for
// each function.
type lineMaker struct {
	Problems []source.Problem

	fixes *fixes
	fn    jitcode.Function
	rows  []row
	files []int // index in fn.Files of each file of a record
	names fileNames
}

// row is an entry of a debug record. Its address is relative to the function, as in the dump.
type row struct {
	off          int64
	line, column uint32
	file         int
}

// begin starts a function, which has no files, lines and inlined calls.
func (m *lineMaker) begin(fn jitcode.Function) {
	fn.Files, fn.Sources, fn.Lines = m.fn.Files[:0], m.fn.Sources[:0], m.fn.Lines[:0]
	fn.Origins, fn.Inlines, fn.Ranges = m.fn.Origins[:0], m.fn.Inlines[:0], m.fn.Ranges[:0]
	m.fn, m.rows = fn, m.rows[:0]
	m.names.begin()
}

// TakeProblems returns Problems and empties it.
func (m *lineMaker) TakeProblems() []source.Problem {
	taken := m.Problems
	m.Problems = nil
	return taken
}

// problem adds a problem at an offset of the dump.
func (m *lineMaker) problem(off int64, format string, args ...any) {
	m.Problems = append(m.Problems, source.Problem{Offset: off, Text: fmt.Sprintf(format, args...)})
}

// sortRows sorts the rows by offset.
func (m *lineMaker) sortRows() {
	byOffset := func(a, b row) int { return cmp.Compare(a.off, b.off) }
	if !slices.IsSortedFunc(m.rows, byOffset) {
		m.fixes.unsorted.Add(1)
		sorting.Stable(m.rows, byOffset)
	}
}

// addLines adds the lines of the function from the sorted rows. A row is valid up to
// the next one. So the last row at or before the first byte is the line of the first byte. Of
// several rows at one address, the last one counts: the others apply to no instruction.
func (m *lineMaker) addLines() {
	lines, size := m.fn.Lines[:0], m.fn.Size
	covers := slices.ContainsFunc(m.rows, func(w row) bool { return w.off >= 0 && uint64(w.off) <= size })
	outside := 0
	for i, w := range m.rows {
		if w.off < 0 {
			outside++
			if !covers || w.off < -maxBefore {
				continue // unrelated to this function
			}
			w.off = 0
		}
		if uint64(w.off) >= size {
			if uint64(w.off) > size || w.line != 0 && i < len(m.rows)-1 {
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
		m.fixes.outside.Add(1)
	}
	m.fn.Lines = lines
}

// sameLine reports whether two rows have the same position.
func sameLine(a, b jitcode.Line) bool {
	return a.File == b.File && a.Line == b.Line && a.Column == b.Column
}

// file returns the index of a file name in m.fn.Files, or -1 for garbage.
func (m *lineMaker) file(name []byte, inUTF8 bool) int {
	known := m.names.of(name)
	if known.garbled || inUTF8 && known.invalid {
		m.fixes.garbled.Add(1)
		return -1
	}
	p := known.path
	if p.function != m.names.function {
		p.function, p.index = m.names.function, len(m.fn.Files)
		m.fn.Files = append(m.fn.Files, p.path)
	}
	return p.index
}

// A TreeReader makes the lines and inlined calls of functions from records outside of jitdumps.
type TreeReader struct{ lineMaker }

// NewTreeReader returns a TreeReader.
func NewTreeReader() *TreeReader {
	return &TreeReader{lineMaker{fixes: new(fixes)}}
}

// Begin starts a function of size bytes at addr, and returns it. It is valid until the next call.
func (r *TreeReader) Begin(addr, size uint64) *jitcode.Function {
	r.begin(jitcode.Function{Addr: addr, Size: size})
	return &r.fn
}

// Read adds the content of info to the function: files, inlined calls and lines. err is the error
// of decoding info. If it is not nil, Read adds the lines only. Problems get the offset off.
func (r *TreeReader) Read(info *jitdump.DebugInfo2, err error, off int64) {
	if info != nil || err != nil {
		r.useTree(info, err, off)
	}
	r.addLines()
}

// Conversion of the entries of a debug record to the rows of a line table.

// addTable adds the rows of the function from its debug record. They are sorted, with the addresses of
// the dump.
func (r *Reader) addTable(info *jitdump.DebugInfo) {
	names := nameTable{lines: &r.lineMaker}
	_, names.v8 = r.listing.v8Name(r.fn.Name)
	if r.bare && !names.v8 {
		for e, err := range info.Entries() {
			if err != nil {
				break
			}
			r.rows = append(r.rows, row{off: int64(r.listing.codeStart(e.Addr) - r.fn.Addr)})
		}
		r.sortRows()
		return
	}
	err := r.entries(info, func(e jitdump.DebugEntry) {
		line := e.Line
		if line > maxLine {
			line = 0
			r.fixes.absurdLines.Add(1)
		}
		file := names.index(e.Name)
		if file < 0 {
			line = 0
		}
		r.rows = append(r.rows, row{int64(r.listing.codeStart(e.Addr) - r.fn.Addr), line, e.Discrim, max(file, 0)})
	})
	if err != nil {
		r.problem(r.listing.partsOf(r.function).debug.Off, "%v; the lines before it are used", err)
	}
	r.sortRows()
}

// nameTable collects the file names of one function.
type nameTable struct {
	lines  *lineMaker
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
	if t.lastOK && t.last >= 0 && t.lines.fn.Files[t.last] == string(name) {
		return t.last
	}
	t.lastOK = true
	t.last = -1
	if len(name) == 0 {
		return -1
	}
	t.last = t.lines.file(name, t.v8)
	return t.last
}
