package jitdump

import (
	"context"
	"debug/elf"
	"runtime"
	"sync"

	"github.com/jitinject/jitinject/internal/disasm"
	"github.com/jitinject/jitinject/internal/source"
)

// decisions are about a dump as a whole, and hold for each of its functions. Only Scan, and
// DeriveFrames for callees, change them.
type decisions struct {
	functions   int             // number of functions with tables that are in constraints
	constraints lineConstraints // about the addresses of lines
	chosen      int             // index of the valid hypothesis
	decision    source.LineDecision
	basis       source.LineBasis
	bytecode    bool // V8's baseline functions have lines of bytecode
	positions   v8Positions
	optimized   int // functions of optimizing compilers with lines
	callees     callees
}

// decide adds the line tables of functions scanned since the last call, and decides about the lines
// of the dump. It fails only with ctx's error.
func (d *decisions) decide(ctx context.Context, l *listing) error {
	if d.functions == len(l.functions) {
		return nil
	}
	if err := d.readTables(ctx, l, tablesAtOnce, runtime.GOMAXPROCS(0)); err != nil {
		return err
	}
	d.positions.decide()
	c := &d.constraints
	if len(c.hypotheses) == 0 {
		return nil
	}
	d.chosen, d.decision, d.basis = c.decide(elf.Machine(l.header.Machine), l.IsV8())
	d.bytecode = 2*c.hypotheses[d.chosen].failedBaseline > c.baseline
	return nil
}

// The line tables of all functions are read once before any is used, for the decisions about the
// dump as a whole. Several goroutines read parts of the dump, and their counts are added up in the
// order of the functions: the result does not depend on the number of goroutines.

// tablesAtOnce is the number of functions that a goroutine reads at once.
const tablesAtOnce = 512

// lineTables has what the line tables of some adjacent functions say.
type lineTables struct {
	constraints lineConstraints
	optimized   int       // functions of V8's optimizing compilers
	positions   []v8Lines // of functions from a script, in order
}

// readTables adds the line tables of functions scanned since the last call. Each of some goroutines
// reads those of a number of functions at once. It fails only with ctx's error.
func (d *decisions) readTables(ctx context.Context, l *listing, atOnce, goroutines int) error {
	first := d.functions
	parts := (len(l.functions) - first + atOnce - 1) / atOnce
	var (
		mu    sync.Mutex
		next  int                         // part that no goroutine has taken
		added int                         // parts added to d
		read  = make(map[int]*lineTables) // parts that are not added yet
		wg    sync.WaitGroup
	)
	work := func() {
		r := newReader(l, d, new(Description), new(fixes)) // count no fixes here
		r.bare = true
		var starts disasm.Starts
		mu.Lock()
		defer mu.Unlock()
		for next < parts && ctx.Err() == nil {
			part := next
			next++
			mu.Unlock()
			lo := first + part*atOnce
			t := r.lineTables(lo, min(lo+atOnce, len(l.functions)), &starts)
			mu.Lock()
			for read[part] = t; read[added] != nil; added++ {
				d.addTables(read[added])
				delete(read, added)
				d.functions = min(d.functions+atOnce, len(l.functions))
			}
		}
	}
	for range min(goroutines, parts) - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
	return ctx.Err()
}

// lineTables reads the tables of the functions from lo up to hi.
func (r *Reader) lineTables(lo, hi int, starts *disasm.Starts) *lineTables {
	t := new(lineTables)
	l := r.listing
	for i := lo; i < hi; i++ {
		if l.functions[i].debug == 0 {
			continue
		}
		fn, err := r.read(i)
		if err != nil || !r.isTable || len(r.rows) == 0 {
			continue
		}
		name, ok := l.v8Name(fn.Name)
		t.constraints.add(l.Target(), starts, i, fn, r.rows, ok && name.tier == tierBaseline)
		if !ok || !l.IsV8() {
			continue
		}
		if name.isOptimized() {
			t.optimized++
		}
		if lines, ok := v8LinesOf(&name, fn, r.rows); ok {
			t.positions = append(t.positions, lines)
		}
	}
	r.Problems = nil // they are found again when the function is used
	return t
}

// addTables adds the tables of the functions after those added so far.
func (d *decisions) addTables(t *lineTables) {
	d.constraints.merge(&t.constraints)
	d.optimized += t.optimized
	for i := range t.positions {
		d.positions.add(&t.positions[i])
	}
}

// merge adds the counts of later functions.
func (c *lineConstraints) merge(later *lineConstraints) {
	if c.hypotheses == nil {
		*c = *later
		return
	}
	c.tables += later.tables
	c.rows += later.rows
	c.judged += later.judged
	c.baseline += later.baseline
	for h := range later.hypotheses {
		x, l := &c.hypotheses[h], &later.hypotheses[h]
		x.known += l.known
		x.starts += l.starts
		x.outside += l.outside
		x.inside += l.inside
		x.first += l.first
		x.only += l.only
		x.either += l.either
		x.neither += l.neither
		x.failed = append(x.failed, l.failed...)
		x.failedBaseline += l.failedBaseline
	}
}
