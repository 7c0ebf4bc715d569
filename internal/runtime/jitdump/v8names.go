package jitdump

import (
	"bytes"
	"iter"
	"slices"
	"strconv"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/tier"
)

// V8's names of functions. "JS:*add /tmp/prog.js:2:49" is add, compiled by Turbofan, from line 2,
// column 49 of that script. Up to V8 10 the kind differs, and the column is missing:
// "LazyCompile:*add /tmp/prog.js:2". Package tier has the marks.

// V8's compilers that write line tables.
const (
	tierBaseline = tier.Baseline // Sparkplug
	tierMaglev   = tier.Middle
	tierTurbofan = tier.Optimized
)

// v8Kinds are the first words of names of functions that come from a script. All but the
// first count only in dumps known to be V8's.
var v8Kinds = [...]string{"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"}

// v8Pad is V8's value of the pad field of the file header, in all versions [perf-jit.cc,
// LogWriteHeader: reserved_].
const v8Pad = 0xdeadbeef

// A v8Name is a function's name, in parts.
type v8Name struct {
	tier         tier.Tier
	script       []byte // the name up to the end of the file's: "JS:*add /tmp/prog.js"; nil without
	line, column uint32 // start of the function, from 1; column is 0 if the name has none
}

// isOptimized reports whether code of a tier may have functions inlined.
func (n *v8Name) isOptimized() bool { return n.tier == tierMaglev || n.tier == tierTurbofan }

// IsV8 reports whether V8 wrote the dump.
func (l *listing) IsV8() bool { return l.header.Pad == v8Pad }

// v8Name splits the name of a function. ok is false if the function is not from a script.
func (l *listing) v8Name(name []byte) (n v8Name, ok bool) {
	var rest []byte
	for i, kind := range v8Kinds {
		if i > 0 && !l.IsV8() {
			return n, false
		}
		if rest, ok = bytes.CutPrefix(name, []byte(kind)); ok {
			break
		}
	}
	if !ok {
		return n, false
	}
	n.tier, _ = tier.V8Mark(rest)
	script, last, found := cutNumber(name)
	if !found {
		return n, true
	}
	if before, line, found := cutNumber(script); found {
		n.script, n.line, n.column = before, line, last
	} else if !bytes.HasPrefix(name, []byte(v8Kinds[0])) {
		n.script, n.line = script, last
	}
	return n, true
}

// cutNumber removes a colon and a number from the end of a name.
func cutNumber(name []byte) (before []byte, n uint32, ok bool) {
	i := bytes.LastIndexByte(name, ':')
	if i < 0 {
		return nil, 0, false
	}
	number, err := strconv.ParseUint(string(name[i+1:]), 10, 32)
	if err != nil {
		return nil, 0, false
	}
	return name[:i], uint32(number), true
}

// A V8Load is a load of code in a dump, perhaps of V8.
type V8Load struct {
	Function    int
	Addr, Size  uint64
	Time        uint64 // nanoseconds of CLOCK_MONOTONIC
	Name        []byte // valid until the next one
	IsOptimized bool   // by a compiler that inlines
}

// Optimized returns the number of functions of V8's optimizing compilers that have lines. Such
// functions may have others inlined.
func (d *Dump) Optimized() int { return d.decisions.optimized }

// V8Loads returns the loads of a dump, in the order of the file, and an error for each that cannot be read
// again.
func (l *listing) V8Loads() iter.Seq2[V8Load, error] {
	return func(yield func(V8Load, error) bool) {
		r := l.NewCodeReader()
		for i := range l.Events {
			e := &l.Events[i]
			if e.Kind != jitcode.Load {
				continue
			}
			full, _, err := r.Code(int(e.Function))
			if err != nil {
				if !yield(V8Load{}, err) {
					return
				}
				continue
			}
			name, ok := l.v8Name(full)
			if !yield(V8Load{int(e.Function), e.Addr, e.Size, e.Time, full, ok && name.isOptimized()}, nil) {
				return
			}
		}
	}
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
