package inject

import (
	"context"
	"slices"
)

// recall takes over what earlier runs have made, as far as their indexes tell of it.
func (w *objectWriter) recall(ctx context.Context, sources *sourceTree, jobs int) {
	w.indexes = openIndexes(w.plan, w.stores, sources)
	for _, x := range w.indexes {
		if x == nil {
			continue
		}
		t, ok := x.recall(ctx, w.opts, jobs)
		if !ok {
			x.stamps = make([]stamp, len(x.objects))
			continue
		}
		m := maker{told: map[int]told{x.dump.number: t}, made: len(x.objects), unchanged: len(x.objects)}
		for _, s := range x.stamps {
			m.bytes += s.Size
		}
		w.merge(&m)
		w.opts.logf(2, "%s: its objects are there already", Printable(x.dump.path))
	}
}

// stamp takes note of what the kernel says of an object's file.
func (w *objectWriter) stamp(i int, s stamp) {
	o := &w.plan.objects[i]
	if o.dump.number < len(w.indexes) {
		if x := w.indexes[o.dump.number]; x != nil {
			x.stamps[i-x.first] = s
		}
	}
}

// prepare starts to make the indexes of what has been made, beside other work, and
// returns what writes them. What there is to be said about a dump, beside numbers, only
// making its objects tells: then there is none. If an index cannot be written, nothing is
// lost but time.
func (w *objectWriter) prepare() (remember func()) {
	done := make(chan struct{})
	files := make(map[*index][]byte)
	counts := make(map[*index]told)
	for _, x := range w.indexes {
		if x == nil || x.known || slices.ContainsFunc(w.problems, func(p Problem) bool { return p.File == x.dump.path }) {
			continue
		}
		d := &w.sum.Dumps[x.dump.number]
		counts[x] = told{lines: d.WithLines, inlines: d.Inlining, sent: d.Unwind.Sent, derived: d.Unwind.Derived, unplaced: d.Unwind.Unplaced}
	}
	go func() {
		defer close(done)
		for x, made := range counts {
			if data, err := x.encode(w.opts, made); err == nil {
				files[x] = data
			}
		}
	}()
	return func() {
		<-done
		for x, data := range files {
			if err := x.write(data); err != nil {
				w.opts.logf(2, "%s: no index of its objects: %v", Printable(x.dump.objects), err)
			}
		}
	}
}
