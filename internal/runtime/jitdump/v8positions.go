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
	files     map[string]int32
	byFile    [][]uint64 // sorted by decide
	compiled  map[v8Start]struct{}
	waiting   []v8Table    // of optimized functions without a table of Sparkplug so far
	changes   []fileChange // in the rows of optimized functions
	named     [2]bool      // by tier: has functions with rows of several files
	own, next int          // changes with a position in the file of the row only, and in that of the next row only
	count     int
	full      bool // there are too many positions
}

// A v8Start identifies a function of a script by its start.
type v8Start struct {
	file         int32
	line, column uint32
}

// A v8Table is the table of an optimized function.
type v8Table struct {
	tier      tier.Tier
	start     v8Start
	positions []uint64
}

// A fileChange is a row before a row of another file. It takes the memory of five positions.
type fileChange struct {
	file, next string // of the two rows
	position   uint64
}

const changeSize = 5

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

func (r *row) position() uint64 { return position(r.line, r.column) }

// filesOf returns the file of the first row that has one, or -1. several means that another
// row has another file.
func filesOf(rows []row) (first int, several bool) {
	first = -1
	for _, row := range rows {
		switch {
		case row.line == 0:
		case first < 0:
			first = row.file
		case row.file != first:
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
	tier         tier.Tier
	several      bool         // the rows name several files; the fields after changes are not set
	changes      []fileChange // with several
	file         string       // of the rows
	line, column uint32       // start of the function
	positions    []uint64     // of the rows, and of the start
}

// v8LinesOf returns the lines of a function, with its rows. ok is false if the positions do not
// need them.
func v8LinesOf(name *v8Name, fn *jitcode.Function, rows []row) (l v8Lines, ok bool) {
	l.tier = name.tier
	switch first, several := filesOf(rows); {
	case first < 0 || !name.isOptimized() && name.tier != tierBaseline:
		return l, false
	case several && name.isOptimized():
		l.several, l.changes = true, changesOf(fn, rows)
		return l, true
	case several || name.script == nil:
		return l, false
	default:
		l.file, l.line, l.column = fn.Files[first], name.line, name.column
		l.positions = positionsOf(l.line, l.column, rows)
		return l, true
	}
}

// changesOf returns the rows of fn before a row of another file.
func changesOf(fn *jitcode.Function, rows []row) (list []fileChange) {
	for k := 0; k+1 < len(rows); k++ {
		row, next := &rows[k], &rows[k+1]
		if row.line != 0 && next.line != 0 && next.file != row.file {
			list = append(list, fileChange{fn.Files[row.file], fn.Files[next.file], row.position()})
		}
	}
	return list
}

// positionsOf returns the positions of rows, and of the start of their function.
func positionsOf(line, column uint32, rows []row) []uint64 {
	if column == 0 {
		column = anyColumn
	}
	list := append(make([]uint64, 0, len(rows)+1), position(line, column))
	for _, row := range rows {
		if row.line != 0 {
			list = append(list, row.position())
		}
	}
	return list
}

// add adds the lines of a function. Functions are added in order.
func (p *v8Positions) add(l *v8Lines) {
	if l.several {
		p.named[tierIndex(l.tier)] = true
	}
	if p.count += len(l.positions) + changeSize*len(l.changes); p.count > maxPositions {
		*p = v8Positions{full: true, named: p.named, count: p.count}
	}
	if p.full {
		return
	}
	p.changes = append(p.changes, l.changes...)
	if l.several {
		return
	}
	start := v8Start{p.number(l.file), l.line, l.column}
	_, compiled := p.compiled[start]
	switch {
	case l.tier == tierBaseline:
		p.compiled[start] = struct{}{}
		p.byFile[start.file] = append(p.byFile[start.file], l.positions...)
	case compiled || p.named[tierIndex(l.tier)]:
		p.count -= len(l.positions)
	default:
		p.waiting = append(p.waiting, v8Table{l.tier, start, l.positions})
	}
}

// decide completes the positions after the tables of all functions were added. A function without a
// table of Sparkplug keeps all rows of its optimized code, because nothing shows which are of other
// files.
func (p *v8Positions) decide() {
	for _, t := range p.waiting {
		if _, ok := p.compiled[t.start]; !ok && !p.named[tierIndex(t.tier)] {
			p.byFile[t.start.file] = append(p.byFile[t.start.file], t.positions...)
		}
	}
	p.waiting = nil
	for i, list := range p.byFile {
		slices.Sort(list)
		p.byFile[i] = slices.Clip(slices.Compact(list))
	}
	for _, c := range p.changes {
		inOwn, inNext := p.has(c.file, c.position), p.has(c.next, c.position)
		if inOwn && !inNext {
			p.own++
		} else if inNext && !inOwn {
			p.next++
		}
	}
	p.changes = nil
}

// has reports whether a position is in a file.
func (p *v8Positions) has(file string, at uint64) bool {
	n, ok := p.files[file]
	if !ok {
		return false
	}
	if _, found := slices.BinarySearch(p.byFile[n], at); found {
		return true
	}
	_, found := slices.BinarySearch(p.byFile[n], at|anyColumn)
	return found
}
