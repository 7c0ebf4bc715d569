package jitdump

import (
	"context"
	"sync"

	"github.com/jitinject/jitinject/internal/disasm"
)

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
func (d *Dump) readTables(ctx context.Context, atOnce, goroutines int) error {
	first := d.constraints.functions
	parts := (len(d.parts) - first + atOnce - 1) / atOnce
	var (
		mu    sync.Mutex
		next  int                         // part that no goroutine has taken
		added int                         // parts added to d
		read  = make(map[int]*lineTables) // parts that are not added yet
		wg    sync.WaitGroup
	)
	positions := d.header.Pad == v8Pad && !d.positions.partial
	work := func() {
		r := d.Reader()
		r.fixes = new(fixes) // count no fixes here
		r.bare = true
		var starts disasm.Starts
		mu.Lock()
		defer mu.Unlock()
		for next < parts && ctx.Err() == nil {
			part := next
			next++
			mu.Unlock()
			lo := first + part*atOnce
			t := r.lineTables(lo, min(lo+atOnce, len(d.parts)), positions, &starts)
			mu.Lock()
			for read[part] = t; read[added] != nil; added++ {
				d.addTables(read[added])
				delete(read, added)
				d.constraints.functions = min(d.constraints.functions+atOnce, len(d.parts))
			}
		}
	}
	for range min(goroutines, parts) - 1 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			work()
		}()
	}
	work()
	wg.Wait()
	return ctx.Err()
}

// lineTables reads the tables of the functions from lo up to hi. With positions, it keeps the
// positions of functions from a script.
func (r *Reader) lineTables(lo, hi int, positions bool, starts *disasm.Starts) *lineTables {
	t := new(lineTables)
	d := r.d
	for i := lo; i < hi; i++ {
		if d.parts[i].debug.size == 0 {
			continue
		}
		fn, err := r.rawRows(i)
		if err != nil || r.exact || len(r.rows) == 0 {
			continue
		}
		name, ok := d.v8Name(fn.Name)
		t.constraints.add(d.Target(), starts, i, fn, r.rows, ok && name.tier == tierBaseline)
		if !ok || d.header.Pad != v8Pad {
			continue
		}
		if name.isOptimized() {
			t.optimized++
		}
		if lines, ok := v8LinesOf(i, &name, fn, r.rows); ok && positions {
			t.positions = append(t.positions, lines)
		}
	}
	r.Problems = nil // they are found again when the function is used
	return t
}

// addTables adds the tables of the functions after those added so far.
func (d *Dump) addTables(t *lineTables) {
	d.constraints.merge(&t.constraints)
	d.optimized += t.optimized
	for i := range t.positions {
		d.positions.add(&t.positions[i])
	}
}

// merge adds the counts of later functions.
func (e *lineConstraints) merge(later *lineConstraints) {
	if e.hypotheses == nil {
		functions := e.functions
		*e = *later
		e.functions = functions
		return
	}
	e.tables += later.tables
	e.rows += later.rows
	e.judged += later.judged
	e.baseline += later.baseline
	for h := range later.hypotheses {
		x, l := &e.hypotheses[h], &later.hypotheses[h]
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
