package jitdump

import (
	"slices"
	"sync/atomic"

	"github.com/jitinject/jitinject/internal/cfi"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A Reader reads the functions of a scanned dump. It reuses its memory for each function, so each
// goroutine needs its own.
type Reader struct {
	lineMaker
	listing     *listing
	decisions   *decisions
	description *Description

	function int        // number of the current function
	code     CodeReader // its window holds all records of the function
	isTable  bool       // the function's rows have the addresses of the dump; else they count from its start
	bare     bool       // of rows, only addresses are used, except in functions from a script
	inspects bool       // see Inspect
	info2    jitdump.DebugInfo2
	listings []source.MadeText // of the function
	embedded embedded
	texts    []int // numbers of the sources of fn.Files, or -1; may be shorter
	frames   cfi.Synthesizer
	effects  effectReader // of called functions
	trees    TreeSource   // nil before the first
}

// newReader returns a reader for one goroutine. It counts fixes.
func newReader(l *listing, decisions *decisions, description *Description, fixes *fixes) *Reader {
	return &Reader{
		lineMaker: lineMaker{fixes: fixes},
		listing:   l, decisions: decisions, description: description, code: *l.NewCodeReader(),
		effects: effectReader{callees: &decisions.callees, code: l.NewCodeReader()},
	}
}

// Function returns the i-th function of the dump, valid until the next call. It fails if the code
// cannot be read again. Faulty lines are dropped, and become Problems.
func (r *Reader) Function(i int) (*jitcode.Function, error) {
	fn, err := r.read(i)
	if err != nil {
		return nil, err
	}
	if r.isTable {
		r.shiftRows(fn, i)
	}
	r.useOriginals(fn)
	r.addLines()
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
	d := r.decisions
	if len(r.rows) == 0 || len(d.constraints.hypotheses) == 0 {
		return
	}
	h := &d.constraints.hypotheses[d.chosen]
	name, ok := r.listing.v8Name(fn.Name)
	var lost *atomic.Int64 // counter of the reason for having no lines
	switch {
	case ok && name.tier == tierBaseline && d.bytecode:
		lost = &r.fixes.bytecode
	case d.decision == source.LinesContradictory:
		lost = &r.fixes.contradictory
	case h.hasFailed(i):
		lost = &r.fixes.misfitting
	}
	if lost != nil {
		if slices.ContainsFunc(r.rows, func(row row) bool { return row.line != 0 }) {
			lost.Add(1)
		}
		r.rows = r.rows[:0]
		return
	}
	for at := range r.rows {
		r.rows[at].off -= h.skew
	}
	if h.skew != 0 {
		r.fixes.skew.Add(1)
	}
	r.fixFiles(fn)
}

// read reads the i-th function without its unwind tables. Its lines are rows, with the addresses in
// the dump.
func (r *Reader) read(i int) (*jitcode.Function, error) {
	r.function = i
	r.listings, r.texts = nil, r.texts[:0]
	p, w := r.listing.partsOf(i), &r.code.window
	if err := w.hold(p.load, p.debug, p.inline, r.listing.ownUnwinding(&p)); err != nil {
		return nil, err
	}
	raw, err := w.record(p.load)
	if err != nil {
		return nil, err
	}
	load, err := raw.Load()
	if err != nil {
		return nil, err
	}
	start := r.listing.codeStart(load.CodeAddr)
	r.begin(jitcode.Function{Name: load.Name, Addr: start, Size: load.CodeSize, Code: r.code.codeOf(i, &load), Thumb: start != load.CodeAddr})
	if r.isTable, err = r.readLines(&p); err != nil {
		return nil, err
	}
	return &r.fn, nil
}

// readLines reads the lines of the function from the first that has some: a log, a record of inlined
// calls, a debug record.
func (r *Reader) readLines(p *parts) (isTable bool, err error) {
	if r.describedTree(r.function) {
		return false, nil
	}
	if p.inline.Size != 0 {
		raw, err := r.code.window.record(p.inline)
		if err != nil {
			return false, err
		}
		if r.inlineInfo(&raw) {
			return false, nil
		}
	}
	if p.debug.Size == 0 {
		return true, nil
	}
	raw, err := r.code.window.record(p.debug)
	if err != nil {
		return true, err
	}
	info, err := raw.DebugInfo()
	if err == nil {
		r.addTable(&info)
	}
	return true, err
}
