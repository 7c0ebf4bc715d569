package source

import (
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// In what file a row of V8's optimized code is, perf-jit.cc (LogWriteDebugInfo,
// GetSourcePositionInfo) says differently in different versions:
//
//	V8 9 (node 16)           each row has the name of its own script
//	V8 10 (node 18)          all rows have the name of the outer function's script
//	V8 11 to 14 (node 20-25) the same
//	V8 15 (deno 2.9)         Turbofan's rows have the name of the script of the row before
//
// Where it is the outer function's, a row of code that was inlined from another script
// has, of Turbofan's code, the line and column in that script. Of Maglev's, in all
// versions, it has those at which the offset in that script lies in the outer function's
// script, or line 0 if that is shorter: the inlined function is asked for only for Turbofan. Both
// are lines of other text.
//
// The dump itself tells such rows from the others. A function runs in Sparkplug's code
// before it is optimized or inlined, mostly, and the table of that code lists all
// positions of its bytecode. Optimized code has no others, besides the beginnings of
// functions. So a row with a position that no table of Sparkplug has for the file is of
// another file. With V8's own log for a witness (node 20 to 25), none of 822,569 rows was
// taken for one of another file that was not. Of those that were, 1.4 % had a position
// that is in the file by chance, and remain; more do where functions are alike.
//
// The text of the file tells less: positions are at the ends of statements and functions,
// too, where no token starts, and two of ten rows of other files fit it by chance.

// maxPositions bounds how many positions are remembered, of 8 bytes each.
const maxPositions = 16 << 20

// v8Positions are the positions of the bytecode of functions, by file.
type v8Positions struct {
	files    map[string]int32
	byFile   [][]uint64 // sorted when settled
	compiled map[v8Start]struct{}
	others   []v8Table // of optimized functions that may be in no table of Sparkplug
	several  []int32   // optimized functions whose rows name several files
	named    [2]bool   // by tier: there are such
	late     bool      // they have the name of the row before
	count    int
	full     bool // there are too many positions
	partial  bool // more may come
}

// A v8Start says which function of a script it is: where it begins.
type v8Start struct {
	file         int32
	line, column uint32
}

// A v8Table is the table of an optimized function.
type v8Table struct {
	function int32
	tier     byte
	start    v8Start
}

// tierIndex returns the index of a tier of optimized code.
func tierIndex(tier byte) int {
	if tier == tierMaglev {
		return 1
	}
	return 0
}

// anyColumn stands for all columns of a line.
const anyColumn = 1<<32 - 1

func position(line, column uint32) uint64 { return uint64(line)<<32 | uint64(column) }

// filesOf returns the file of the first row that has one, and whether others have
// another; -1 if no row has one.
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

// number returns the number of a file, which is new if it is not known.
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

// add takes in the rows of function i, which is of a script.
func (p *v8Positions) add(i int, name *v8Name, fn *jitcode.Function, rows []row) {
	first, several := filesOf(rows)
	optimized := name.isOptimized()
	if optimized && several {
		p.named[tierIndex(name.tier)] = true
		p.several = append(p.several, int32(i))
	}
	if first < 0 || several || p.full || name.script == nil || !optimized && name.tier != tierBaseline {
		return
	}
	start := v8Start{p.number(fn.Files[first]), name.line, name.column}
	if optimized {
		p.others = append(p.others, v8Table{int32(i), name.tier, start})
		return
	}
	p.addRows(start, rows)
	if !p.full {
		p.compiled[start] = struct{}{}
	}
}

// addRows takes note that positions are in a file.
func (p *v8Positions) addRows(start v8Start, rows []row) {
	if p.count += len(rows) + 1; p.count > maxPositions {
		*p = v8Positions{full: true, named: p.named, several: p.several}
		return
	}
	column := start.column
	if column == 0 {
		column = anyColumn
	}
	list := append(p.byFile[start.file], position(start.line, column))
	for _, w := range rows {
		if w.line != 0 {
			list = append(list, position(w.line, w.column))
		}
	}
	p.byFile[start.file] = list
}

// settle makes positions ready when the tables of all functions have been taken in. read
// reads those of a function again. Where a function is in no table of Sparkplug's, all
// rows of its optimized code are taken for its own, since nothing says which are not.
func (p *v8Positions) settle(read func(i int32) (*jitcode.Function, []row)) {
	for _, t := range p.others {
		if _, ok := p.compiled[t.start]; !ok && !p.full && !p.named[tierIndex(t.tier)] {
			_, rows := read(t.function)
			p.addRows(t.start, rows)
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

// fixFiles sees to it that the rows of optimized code of V8 have lines only of the files
// they name. Rows that have none stay: code of no line.
func (r *Reader) fixFiles(fn *jitcode.Function) {
	name, ok := r.d.v8Name(fn.Name)
	if !ok || r.d.header.Pad != v8Pad || !name.isOptimized() {
		return
	}
	p := &r.d.positions
	unplaced := false
	for i := range r.rows {
		// The beginning of a script is in its outermost function, which is inlined
		// nowhere. Maglev gives it to code without a position.
		if w := &r.rows[i]; w.line == 1 && w.column == 1 && (name.line > 1 || name.column > 1) {
			w.line, unplaced = 0, true
		}
	}
	if unplaced {
		r.repairs.unplaced.Add(1)
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

// shiftFiles gives rows of several files the name of the row behind, if names come late.
func (r *Reader) shiftFiles(fn *jitcode.Function) {
	p := &r.d.positions
	if !p.late && !p.partial {
		return
	}
	r.repairs.lateNames.Add(1)
	last := len(r.rows) - 1
	for k := range r.rows {
		switch w := &r.rows[k]; {
		case w.line == 0:
		case k == last:
			// No row behind it has its name. Another may.
			if !p.has(fn.Files[w.file], w) {
				at := slices.IndexFunc(fn.Files, func(file string) bool { return p.has(file, w) })
				w.file = max(at, 0)
				if at < 0 {
					w.line = 0
				}
			}
		case r.rows[k+1].line != 0 && r.rows[k+1].file != w.file:
			if w.file = r.rows[k+1].file; p.partial { // and nothing shows whether they come late
				w.line = 0
			}
		}
	}
}

// dropForeign takes the lines of the rows that are not in their file.
func (r *Reader) dropForeign(fn *jitcode.Function, name *v8Name, file string) {
	p := &r.d.positions
	n, ok := p.files[file]
	if ok && name.script != nil {
		_, ok = p.compiled[v8Start{n, name.line, name.column}]
	}
	if !ok || name.script == nil {
		r.repairs.unchecked.Add(1)
		return
	}
	foreign := false
	for i := range r.rows {
		if w := &r.rows[i]; w.line != 0 && !p.has(file, w) {
			w.line, foreign = 0, true
		}
	}
	if foreign {
		r.repairs.foreign.Add(1)
	}
}
