package jitdump

import "github.com/jitinject/jitinject/jitdump"

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
		r.problem(r.listing.functions[r.function].debug.span().Off, "%v; the lines before it are used", err)
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
