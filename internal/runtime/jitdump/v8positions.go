package jitdump

import (
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/tier"
)

// The file of a row of V8's optimized code depends on V8's version (perf-jit.cc:
// LogWriteDebugInfo, GetSourcePositionInfo):
//
//	V8 9 (node 16)           each row has the name of its own script
//	V8 10 (node 18)          all rows have the name of the outer function's script
//	V8 11 to 14 (node 20-25) the same
//	V8 15 (deno 2.9)         Turbofan's rows have the name of the script of the row before
//
// With the outer function's name, a row of code inlined from another script has a wrong
// position. In Turbofan's code it is the line and column in the other script. In Maglev's
// code, in all versions, it is the offset in the other script, as a line and column of the
// outer function's script. That is line 0 if this script is shorter. V8 asks for the
// inlined function only for Turbofan.
//
// The dump itself identifies such rows. Mostly, a function runs in Sparkplug's code before
// it is optimized or inlined, and the table of that code lists all positions of its
// bytecode. Optimized code has no others, besides the beginnings of functions. So a row is
// of another file if no table of Sparkplug has its position for the file. This was compared
// with V8's own log (node 20 to 25): of 822,569 rows of their own file, none was mistaken.
// Of rows of other files, 1.4 % remain: their position is in the file by chance. More
// remain where functions are alike.
//
// The text of the file is a weaker sign. Positions are also at the ends of statements and
// functions, without a token, and two of ten rows of other files fit the text by chance.

// maxPositions bounds the number of positions kept, of 8 bytes each.
const maxPositions = 16 << 20

// v8Positions are the positions of the bytecode of functions, by file.
type v8Positions struct {
	files    map[string]int32
	byFile   [][]uint64 // sorted by decide
	compiled map[v8Start]struct{}
	others   []v8Table // of optimized functions that may lack a table of Sparkplug
	several  []int32   // optimized functions with rows of several files
	named    [2]bool   // by tier: has functions in several
	late     bool      // names come one row late
	count    int
	full     bool // there are too many positions
}

// A v8Start identifies a function of a script by its start.
type v8Start struct {
	file         int32
	line, column uint32
}

// A v8Table is the table of an optimized function.
type v8Table struct {
	function int32
	tier     tier.Tier
	start    v8Start
}

// tierIndex returns the index of a tier of optimized code.
func tierIndex(t tier.Tier) int {
	if t == tierMaglev {
		return 1
	}
	return 0
}

// anyColumn stands for all columns of a line.
const anyColumn = 1<<32 - 1

func position(line, column uint32) uint64 { return uint64(line)<<32 | uint64(column) }

// filesOf returns the file of the first row that has one, or -1. several means that another
// row has another file.
func filesOf(rows []row) (first int, several bool) {
	first = -1
	for _, w := range rows {
		switch {
		case w.line == 0:
		case first < 0:
			first = w.file
		case w.file != first:
			return first, true
		}
	}
	return first, false
}

// number returns the number of a file, and assigns one to a new file.
func (p *v8Positions) number(file string) int32 {
	n, ok := p.files[file]
	if !ok {
		if p.files == nil {
			p.files, p.compiled = make(map[string]int32), make(map[v8Start]struct{})
		}
		n = int32(len(p.byFile))
		p.files[file] = n
		p.byFile = append(p.byFile, nil)
	}
	return n
}

// A v8Lines has the lines of a function from a script, as far as the positions need them.
type v8Lines struct {
	function     int32
	tier         tier.Tier
	several      bool     // the rows name several files; the fields below are not set
	file         string   // of the rows
	line, column uint32   // start of the function
	rows         int      // number of rows, if tier is the baseline compiler's
	positions    []uint64 // of these rows, and of the start
}

// v8LinesOf returns the lines of function i, with its rows. ok is false if the positions do not
// need them.
func v8LinesOf(i int, name *v8Name, fn *jitcode.Function, rows []row) (l v8Lines, ok bool) {
	first, several := filesOf(rows)
	optimized := name.isOptimized()
	l = v8Lines{function: int32(i), tier: name.tier, several: several}
	if optimized && several {
		return l, true
	}
	if first < 0 || several || name.script == nil || !optimized && name.tier != tierBaseline {
		return l, false
	}
	l.file, l.line, l.column = fn.Files[first], name.line, name.column
	if !optimized {
		l.rows, l.positions = len(rows), positionsOf(l.line, l.column, rows)
	}
	return l, true
}

// positionsOf returns the positions of rows, and of the start of their function.
func positionsOf(line, column uint32, rows []row) []uint64 {
	if column == 0 {
		column = anyColumn
	}
	list := append(make([]uint64, 0, len(rows)+1), position(line, column))
	for _, w := range rows {
		if w.line != 0 {
			list = append(list, position(w.line, w.column))
		}
	}
	return list
}

// add adds the lines of a function. Functions are added in order.
func (p *v8Positions) add(l *v8Lines) {
	if l.several {
		p.named[tierIndex(l.tier)] = true
		p.several = append(p.several, l.function)
	}
	if l.several || p.full {
		return
	}
	start := v8Start{p.number(l.file), l.line, l.column}
	if l.tier != tierBaseline {
		p.others = append(p.others, v8Table{l.function, l.tier, start})
		return
	}
	p.addRows(start, l.positions, l.rows)
	if !p.full {
		p.compiled[start] = struct{}{}
	}
}

// addRows adds the positions of a number of rows.
func (p *v8Positions) addRows(start v8Start, positions []uint64, rows int) {
	if p.count += rows + 1; p.count > maxPositions {
		*p = v8Positions{full: true, named: p.named, several: p.several}
		return
	}
	p.byFile[start.file] = append(p.byFile[start.file], positions...)
}

// decide completes the positions after the tables of all functions were added. read returns a
// function and its rows again. A function without a table of Sparkplug keeps all rows of its
// optimized code, because nothing shows which are of other files.
func (p *v8Positions) decide(read func(i int32) (*jitcode.Function, []row)) {
	for _, t := range p.others {
		if _, ok := p.compiled[t.start]; !ok && !p.full && !p.named[tierIndex(t.tier)] {
			_, rows := read(t.function)
			p.addRows(t.start, positionsOf(t.start.line, t.start.column, rows), len(rows))
		}
	}
	p.others = nil
	for i, list := range p.byFile {
		slices.Sort(list)
		p.byFile[i] = slices.Clip(slices.Compact(list))
	}
	own, next := 0, 0
	for _, i := range p.several {
		fn, rows := read(i)
		for k := 0; k+1 < len(rows); k++ {
			w := &rows[k]
			if w.line == 0 || rows[k+1].line == 0 || rows[k+1].file == w.file {
				continue
			}
			inOwn, inNext := p.has(fn.Files[w.file], w), p.has(fn.Files[rows[k+1].file], w)
			if inOwn && !inNext {
				own++
			} else if inNext && !inOwn {
				next++
			}
		}
	}
	p.late = next > own
}

// has reports whether the position of a row is in a file.
func (p *v8Positions) has(file string, w *row) bool {
	n, ok := p.files[file]
	if !ok {
		return false
	}
	list := p.byFile[n]
	if _, found := slices.BinarySearch(list, position(w.line, w.column)); found {
		return true
	}
	_, found := slices.BinarySearch(list, position(w.line, anyColumn))
	return found
}

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
		if w := &r.rows[i]; w.line == 1 && w.column == 1 && (name.line > 1 || name.column > 1) {
			w.line, unplaced = 0, true
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
		r.dropForeign(fn, &name, fn.Files[first])
	}
}

// shiftFiles gives rows of several files the name of the next row, if names come late.
func (r *Reader) shiftFiles(fn *jitcode.Function) {
	p := &r.decisions.positions
	if !p.late && !r.decisions.growing {
		return
	}
	r.fixes.lateNames.Add(1)
	last := len(r.rows) - 1
	for k := range r.rows {
		switch w := &r.rows[k]; {
		case w.line == 0:
		case k == last:
			// No later row has its name. Another row may.
			if !p.has(fn.Files[w.file], w) {
				at := slices.IndexFunc(fn.Files, func(file string) bool { return p.has(file, w) })
				w.file = max(at, 0)
				if at < 0 {
					w.line = 0
				}
			}
		case r.rows[k+1].line != 0 && r.rows[k+1].file != w.file:
			if w.file = r.rows[k+1].file; r.decisions.growing { // unknown whether they come late
				w.line = 0
			}
		}
	}
}

// dropForeign removes the lines of rows with a position outside of their file.
func (r *Reader) dropForeign(fn *jitcode.Function, name *v8Name, file string) {
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
		if w := &r.rows[i]; w.line != 0 && !p.has(file, w) {
			w.line, foreign = 0, true
		}
	}
	if foreign {
		r.fixes.foreign.Add(1)
	}
}
