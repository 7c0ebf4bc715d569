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

// remember leaves indexes for later runs. What there is to be said about a dump, beside
// numbers, only making its objects tells: then there is none.
func (w *objectWriter) remember() {
	for _, x := range w.indexes {
		if x == nil || x.known || slices.ContainsFunc(w.problems, func(p Problem) bool { return p.File == x.dump.path }) {
			continue
		}
		d := &w.sum.Dumps[x.dump.number]
		if err := x.write(w.opts, told{d.WithLines, d.Inlining, d.Unwind.Sent, d.Unwind.Derived, d.Unwind.Unplaced}); err != nil {
			w.opts.logf(2, "%s: no index of its objects: %v", Printable(x.dump.objects), err)
		}
	}
}
