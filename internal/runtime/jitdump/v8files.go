package jitdump

import (
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// fixFiles corrects the rows of V8's optimized code: it removes lines of files that the row
// does not name. Rows without a line stay.
func (r *Reader) fixFiles(fn *jitcode.Function) {
	name, ok := r.listing.v8Name(fn.Name)
	if !ok || !r.listing.IsV8() || !name.isOptimized() {
		return
	}
	p := &r.decisions.positions
	unplaced := false
	for i := range r.rows {
		// Only the outermost function has the beginning of a script, and it is never inlined.
		// Maglev gives this position to code without one.
		if row := &r.rows[i]; row.line == 1 && row.column == 1 && (name.line > 1 || name.column > 1) {
			row.line, unplaced = 0, true
		}
	}
	if unplaced {
		r.fixes.unplaced.Add(1)
	}
	switch first, several := filesOf(r.rows); {
	case first < 0:
	case several:
		r.shiftFiles(fn)
	case p.named[tierIndex(name.tier)]:
	default:
		r.dropForeign(&name, fn.Files[first])
	}
}

// shiftFiles gives rows of several files the name of the next row, if names come late: most changes
// have a position in the file of the next row.
func (r *Reader) shiftFiles(fn *jitcode.Function) {
	p := &r.decisions.positions
	if p.next <= p.own {
		return
	}
	r.fixes.lateNames.Add(1)
	last := len(r.rows) - 1
	for k := range r.rows {
		switch row := &r.rows[k]; {
		case row.line == 0:
		case k == last:
			// No later row has its name. Another row may.
			if !p.has(fn.Files[row.file], row.position()) {
				at := slices.IndexFunc(fn.Files, func(file string) bool { return p.has(file, row.position()) })
				row.file = max(at, 0)
				if at < 0 {
					row.line = 0
				}
			}
		case r.rows[k+1].line != 0 && r.rows[k+1].file != row.file:
			row.file = r.rows[k+1].file
		}
	}
}

// dropForeign removes the lines of rows with a position outside of their file.
func (r *Reader) dropForeign(name *v8Name, file string) {
	p := &r.decisions.positions
	n, ok := p.files[file]
	if ok && name.script != nil {
		_, ok = p.compiled[v8Start{n, name.line, name.column}]
	}
	if !ok || name.script == nil {
		r.fixes.unchecked.Add(1)
		return
	}
	foreign := false
	for i := range r.rows {
		if row := &r.rows[i]; row.line != 0 && !p.has(file, row.position()) {
			row.line, foreign = 0, true
		}
	}
	if foreign {
		r.fixes.foreign.Add(1)
	}
}
