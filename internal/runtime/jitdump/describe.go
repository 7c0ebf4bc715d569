package jitdump

import (
	"iter"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// Descriptions of functions in another file than the dump, such as V8's log. They take precedence
// over the dump's records of lines and inlined calls.

// A TreeSource describes functions. Each goroutine needs its own.
type TreeSource interface {
	// Tree returns the lines and inlined calls of a function of size bytes, valid until the next
	// call. info is nil if it is not described. problem is damage that cost a part of the
	// description. err is the reason for having none.
	Tree(function int, size uint64) (info *jitdump.DebugInfo2, problem, err error)
}

// Describe sets the descriptions of functions. It must follow the last Scan, and must not run while
// functions are read.
func (d *Dump) Describe(has func(function int) bool, trees func() TreeSource) {
	d.isDescribed, d.newTrees = has, trees
}

// describedTree adds the description of function i to fn, and reports whether it has lines.
func (r *Reader) describedTree(fn *jitcode.Function, i int) bool {
	if r.d == nil || r.d.isDescribed == nil || !r.d.isDescribed(i) {
		return false
	}
	if r.trees == nil {
		r.trees = r.d.newTrees()
	}
	info, problem, err := r.trees.Tree(i, fn.Size)
	for _, err := range []error{problem, err} {
		if err != nil {
			r.Problems = append(r.Problems, source.Problem{Offset: -1, Text: err.Error()})
		}
	}
	return info != nil && r.useTree(fn, info, nil, -1)
}

// A V8Load is a load of code by an optimizing compiler of V8.
type V8Load struct {
	Function   int
	Addr, Size uint64
	Time       uint64 // nanoseconds of CLOCK_MONOTONIC
	Name       []byte // valid until the next one
}

// IsV8 reports whether V8 wrote the dump.
func (d *Dump) IsV8() bool { return d.header.Pad == v8Pad }

// OptimizedLoads returns the loads of optimized code in a dump of V8, in the order of the file, and an
// error for each that cannot be read again.
func (d *Dump) OptimizedLoads() iter.Seq2[V8Load, error] {
	return func(yield func(V8Load, error) bool) {
		if !d.IsV8() {
			return
		}
		var w window
		for i := range d.Events {
			e := &d.Events[i]
			if e.Kind != jitcode.Load {
				continue
			}
			span := d.parts[e.Function].load
			l, err := w.load(d, span)
			if err != nil {
				if !yield(V8Load{}, err) {
					return
				}
				continue
			}
			if name, ok := d.v8Name(l.Name); ok && name.isOptimized() && !yield(V8Load{e.Function, e.Addr, e.Size, e.Time, l.Name}, nil) {
				return
			}
		}
	}
}

// load reads a load of a dump, valid until the next one.
func (w *window) load(d *Dump, span source.Span) (l jitdump.Load, err error) {
	if err := w.hold(d.src, span); err != nil {
		return l, err
	}
	raw, err := w.record(span, d.order())
	if err != nil {
		return l, err
	}
	return raw.Load()
}
