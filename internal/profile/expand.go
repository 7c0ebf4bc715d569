package profile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/quote"
)

// placesOf returns the places of each file with functions of a kind, and the files in order.
func (t *tables) placesOf(kind Kind) (of map[string][]int, files []string) {
	of = make(map[string][]int)
	for i := range t.places {
		f := &t.profile.Functions[t.places[i].function]
		if f.Kind != kind || isMap(f.Object) {
			continue
		}
		if of[f.Object] == nil {
			files = append(files, f.Object)
		}
		of[f.Object] = append(of[f.Object], i)
	}
	slices.Sort(files)
	return of, files
}

// expandJIT adds lines and inlined calls of jitted functions. It has one object open at a time: a
// recording may have more than a process may open.
func (t *tables) expandJIT(ctx context.Context) error {
	of, files := t.placesOf(JIT)
	failed := 0
	var first error
	for _, file := range files {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := t.expandObject(file, of[file]); err != nil {
			if failed++; first == nil {
				first = err
			}
		}
	}
	if failed > 0 {
		t.faults = append(t.faults, fmt.Sprintf("lines and inlined calls of the functions of %d objects are missing; the first: %v", failed, first))
	}
	return nil
}

// expandObject does so for one object. perf's symbols do not depend on it: perf may have found them in
// its build-id cache.
func (t *tables) expandObject(path string, places []int) error {
	f, err := t.openELF(path)
	if err != nil {
		return err
	}
	defer f.close()
	o, err := openObject(f.elf)
	if err != nil {
		return fmt.Errorf("%s: %w", quote.Printable(path), err)
	}
	lookups, asking := t.lookups(o.elf, places)
	if err := o.locate(lookups); err != nil {
		return fmt.Errorf("%s: %w", quote.Printable(path), err)
	}
	t.answer(lookups, asking)
	return nil
}

// lookups returns the questions about places of a file, without repetitions and sorted by address, and
// which places ask each.
func (t *tables) lookups(f *elffile.File, places []int) (lookups []lookup, asking map[uint64][]int) {
	asking = make(map[uint64][]int)
	for _, at := range places {
		addr, ok := virtual(f, t.places[at].offset)
		if !ok {
			continue
		}
		if asking[addr] == nil {
			lookups = append(lookups, lookup{addr: addr})
		}
		asking[addr] = append(asking[addr], at)
	}
	slices.SortFunc(lookups, func(a, b lookup) int { return cmp.Compare(a.addr, b.addr) })
	return lookups, asking
}

// answer adds what was found to the places.
func (t *tables) answer(lookups []lookup, asking map[uint64][]int) {
	for i := range lookups {
		q := &lookups[i]
		if len(q.answer) == 0 {
			continue
		}
		for _, at := range asking[q.addr] {
			t.places[at].calls = t.calls(t.places[at].function, q.answer)
		}
	}
}

// calls returns the function with the calls that were inlined. perf's own symbol names the outermost
// function.
func (t *tables) calls(function int, found []located) []call {
	outermost := &found[len(found)-1]
	t.profile.Functions[function].setSource(outermost.declFile, outermost.declLine)
	calls := make([]call, 0, len(found))
	for i := range found {
		l := &found[i]
		f := function
		if i < len(found)-1 {
			f = t.inlined(l.name, cmp.Or(l.declFile, l.file), l.declLine, function)
		}
		line := 0
		if l.line > 0 {
			line = t.lineIn(f, l.file, l.line)
		}
		calls = append(calls, call{f, line})
	}
	return calls
}
