package jitdump

import (
	"cmp"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A Reader reads the functions of a scanned dump. It reuses its memory for each function, so each
// goroutine needs its own Reader.
type Reader struct {
	Problems []source.Problem

	d        *Dump
	fixes    *fixes // those of d, except while searching for quirks
	function int    // number of the current function
	fn       jitcode.Function
	window   window
	code     []byte // of fn, if it is not in the window
	rows     []row
	bare     bool // of rows, only addresses are used, except in functions from a script
	exact    bool // the rows count from the start of the function: no quirk of addresses applies
	whole    bool // the lines of fn come from an object
	inspects bool // see Inspect
	info2    jitdump.DebugInfo2
	files    []int             // index in fn.Files of each file of a record
	listings []source.MadeText // of the function
	embedded embedded
	texts    []int // numbers of the sources of fn.Files, or -1; may be shorter
	frames   cfi.Synthesizer
	trees    TreeSource   // nil before the first
	objects  ObjectSource // nil before the first
	aside    *Reader      // reads called functions; nil before the first
	names    fileNames
}

// Reader returns a new reader for one goroutine.
func (d *Dump) Reader() *Reader {
	return &Reader{d: d, fixes: &d.fixes}
}

// Functions is Reader for the interface source.Dump.
func (d *Dump) Functions() source.FunctionReader { return d.Reader() }

// MayHaveLines reports whether a record, a log or an object describes lines of function i.
func (d *Dump) MayHaveLines(i int) bool {
	p := d.partsOf(i)
	return p.debug.Size != 0 || p.inline.Size != 0 || d.isDescribed != nil && d.isDescribed(i) || d.objects.Has != nil && d.objects.Has(i)
}

// Inspect returns a reader that counts no fixes and leaves out unwind tables.
func (d *Dump) Inspect() source.FunctionReader {
	return &Reader{d: d, fixes: new(fixes), inspects: true}
}

// TakeProblems returns Problems and empties it.
func (r *Reader) TakeProblems() []source.Problem {
	taken := r.Problems
	r.Problems = nil
	return taken
}

// problem adds a problem at an offset of the dump.
func (r *Reader) problem(off int64, format string, args ...any) {
	r.Problems = append(r.Problems, source.Problem{Offset: off, Text: fmt.Sprintf(format, args...)})
}

// Function returns the i-th function of the dump, valid until the next call. It fails if the code
// cannot be read again. Faulty lines are dropped, and become Problems.
func (r *Reader) Function(i int) (*jitcode.Function, error) {
	fn, err := r.rawRows(i)
	if err != nil {
		return nil, err
	}
	if !r.exact {
		r.shiftRows(fn, i)
	}
	r.useOriginals(fn)
	if !r.whole {
		fn.Lines = r.inside(fn.Lines[:0], fn.Size)
	}
	if r.inspects {
		return fn, nil
	}
	r.addEmbedded(fn)
	if err := r.addUnwind(fn); err != nil {
		return nil, err
	}
	return fn, nil
}

// shiftRows moves the rows of function i to their right addresses. It removes them if these are
// unknown.
func (r *Reader) shiftRows(fn *jitcode.Function, i int) {
	d := r.d
	if len(r.rows) == 0 || len(d.constraints.hypotheses) == 0 {
		return
	}
	h := &d.constraints.hypotheses[d.chosen]
	name, ok := d.v8Name(fn.Name)
	var lost *atomic.Int64 // counter of the reason for having no lines
	switch {
	case ok && name.tier == tierBaseline && d.bytecode:
		lost = &r.fixes.bytecode
	case d.decision == source.LinesContradictory:
		lost = &r.fixes.contradictory
	case d.decision == source.LinesUndecided && d.growing:
		lost = &r.fixes.withheld
	case h.hasFailed(i):
		lost = &r.fixes.misfitting
	}
	if lost != nil {
		if slices.ContainsFunc(r.rows, func(w row) bool { return w.line != 0 }) {
			lost.Add(1)
		}
		r.rows = r.rows[:0]
		return
	}
	for at := range r.rows {
		r.rows[at].off -= h.skew
	}
	switch {
	case r.inspects:
	case h.skew != 0:
		r.fixes.skew.Add(1)
		d.given.moved.Add(1)
	default:
		d.given.asWritten.Add(1)
	}
	r.fixFiles(fn)
}

// FunctionAt returns the number of the function with its load at an offset of the dump.
func (d *Dump) FunctionAt(offset int64) (int, bool) {
	return slices.BinarySearchFunc(d.parts, offset, func(p packedParts, offset int64) int { return cmp.Compare(p.load.span().Off, offset) })
}

// rawRows reads the i-th function. It leaves the entries of its debug record in r.rows, sorted,
// with the addresses in the dump.
func (r *Reader) rawRows(i int) (*jitcode.Function, error) {
	r.function = i
	r.rows, r.exact, r.whole = r.rows[:0], false, false
	r.listings, r.texts = nil, r.texts[:0]
	r.names.begin()
	p := r.d.partsOf(i)
	if err := r.window.hold(r.d.src, p.load, p.debug, p.inline, r.d.ownUnwinding(&p)); err != nil {
		return nil, err
	}
	raw, err := r.window.record(p.load, r.d.order())
	if err != nil {
		return nil, err
	}
	l, err := raw.Load()
	if err != nil {
		return nil, err
	}
	start := r.d.codeStart(l.CodeAddr)
	r.fn = jitcode.Function{
		Name: l.Name, Addr: start, Size: l.CodeSize, Code: r.unsalted(l.Code), Thumb: start != l.CodeAddr,
		Files: r.fn.Files[:0], Sources: r.fn.Sources[:0], Lines: r.fn.Lines[:0],
		Origins: r.fn.Origins[:0], Inlines: r.fn.Inlines[:0], Ranges: r.fn.Ranges[:0],
	}
	if r.exact = r.describedTree(&r.fn, i); r.exact {
		return &r.fn, nil
	}
	if r.whole = r.describedByObject(&r.fn, i); r.whole {
		r.exact = true
		return &r.fn, nil
	}
	if p.inline.Size != 0 {
		if raw, err = r.window.record(p.inline, r.d.order()); err != nil {
			return nil, err
		}
		if r.exact = r.inlineInfo(&r.fn, &raw); r.exact {
			return &r.fn, nil
		}
	}
	if p.debug.Size == 0 {
		return &r.fn, nil
	}
	if raw, err = r.window.record(p.debug, r.d.order()); err != nil {
		return nil, err
	}
	info, err := raw.DebugInfo()
	if err != nil {
		return nil, err
	}
	r.table(&r.fn, &info)
	return &r.fn, nil
}
