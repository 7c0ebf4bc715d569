package jitelf

import (
	"cmp"
	"debug/dwarf"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
)

// ErrOverlap is a problem of one function.
var ErrOverlap = errors.New("DWARF: inlined calls overlap others or leave their callers; they are left out, or have less code")

// A span is a range of code of an inlined call, in offsets from the start of the function.
type span struct {
	call      int32
	low, high uint64
}

// An inliner makes the inlined calls of functions, in the same memory.
type inliner struct {
	byDepth [][]span // spans of calls, by depth
	outer   []span   // spans of the enclosing depth
	inner   []span
	spans   []span // all
	number  []int  // of calls in the function's list, or -1
	origins map[dwarf.Offset]int
	cut     int // calls with less code than the object claims
	lost    int // calls without code after that
}

// inlines adds the inlined calls of a subprogram to fn. It keeps the rules of jitcode.Inline: calls
// have the code that is inside their caller and not in another call by it. Where calls overlap, the
// one that begins first has the code. A problem says how many calls lost code.
func (r *Reader) inlines(s int32, fn *jitcode.Function) (problem error) {
	t := &r.o.index.tree
	sub := &t.subprograms[s]
	n := &r.inliner
	n.cut, n.lost = 0, 0
	if n.origins == nil || len(n.origins) > maxReused {
		n.origins = make(map[dwarf.Offset]int)
	}
	clear(n.origins)
	r.origins = append(r.origins[:0], r.origin(s, fn))
	n.cover(t, s, fn)
	calls := t.calls[sub.first:sub.last]
	n.number = slices.Grow(n.number[:0], len(calls))[:len(calls)]
	for i := range n.number {
		n.number[i] = -1
	}
	r.calls, r.ranges = r.calls[:0], r.ranges[:0]
	for i := 0; i < len(n.spans); {
		at := n.spans[i].call
		first := len(r.ranges)
		for ; i < len(n.spans) && n.spans[i].call == at; i++ {
			s := &n.spans[i]
			if k := len(r.ranges) - 1; k >= first && r.ranges[k].Offset+r.ranges[k].Size == s.low {
				r.ranges[k].Size += s.high - s.low
				continue
			}
			r.ranges = append(r.ranges, jitcode.Range{Offset: s.low, Size: s.high - s.low})
		}
		n.number[at-sub.first] = len(r.calls)
		r.calls = append(r.calls, r.call(sub, &t.calls[at], fn, first))
	}
	if len(r.calls) > 0 || r.origins[0].File >= 0 {
		fn.Origins, fn.Inlines, fn.Ranges = r.origins, r.calls, r.ranges
	}
	if n.cut > 0 || n.lost > 0 {
		return fmt.Errorf("%w: %d calls of the entry at offset %#x of %s, %d of them are left out", ErrOverlap, n.cut, sub.offset, dwarfdata.Info, n.lost)
	}
	return nil
}

// maxReused bounds the entries of a map that is cleared and used again. Clearing a larger one takes
// longer than making a new one.
const maxReused = 1024

// call returns an inlined call with code from first on.
func (r *Reader) call(sub *subprogram, c *call, fn *jitcode.Function, first int) jitcode.Inline {
	in := jitcode.Inline{Parent: -1, Line: c.line, Column: c.column, First: first, Last: len(r.ranges)}
	caller := 0
	if c.parent >= 0 {
		in.Parent = r.inliner.number[c.parent-sub.first]
		caller = r.calls[in.Parent].Origin
	}
	in.Origin = r.originAt(c.origin, fn)
	if file := r.file(r.o.index.tree.units[sub.unit].table, c.file); file >= 0 && file != r.origins[caller].File {
		in.Elsewhere, in.File = true, file
	}
	return in
}

// cover finds the code of the calls of a subprogram in fn. Its spans are in the order of calls.
func (n *inliner) cover(t *tree, s int32, fn *jitcode.Function) {
	sub := &t.subprograms[s]
	for i := range n.byDepth {
		n.byDepth[i] = n.byDepth[i][:0]
	}
	high := fn.Addr + fn.Size
	for i := sub.first; i < sub.last; i++ {
		c := &t.calls[i]
		if c.subprogram != s {
			continue
		}
		for len(n.byDepth) <= int(c.depth) {
			n.byDepth = append(n.byDepth, nil)
		}
		n.inner = n.inner[:0]
		for _, r := range t.ranges[c.first:c.last] {
			if low, high := max(r.low, fn.Addr), min(r.high, high); low < high {
				n.inner = append(n.inner, span{i, low - fn.Addr, high - fn.Addr})
			}
		}
		n.byDepth[c.depth] = append(n.byDepth[c.depth], apart(n.inner)...)
	}
	n.spans, n.outer = n.spans[:0], n.outer[:0]
	for depth, spans := range n.byDepth {
		before := coverage(spans)
		spans = apart(spans)
		if depth > 0 {
			spans = n.inside(t, spans)
		}
		after := coverage(spans)
		for call, size := range before {
			if after[call] < size {
				n.cut++
			}
			if after[call] == 0 {
				n.lost++
			}
		}
		n.spans = append(n.spans, spans...)
		n.outer = append(n.outer[:0], spans...)
	}
	sorting.Stable(n.spans, func(a, b span) int { return cmp.Compare(a.call, b.call) })
}

// coverage returns the size of the code of each call.
func coverage(spans []span) map[int32]uint64 {
	size := make(map[int32]uint64)
	for _, s := range spans {
		size[s.call] += s.high - s.low
	}
	return size
}

// apart sorts spans, and cuts those that overlap earlier ones.
func apart(spans []span) []span {
	sorting.Stable(spans, func(a, b span) int { return cmp.Compare(a.low, b.low) })
	end := uint64(0)
	kept := spans[:0]
	for _, s := range spans {
		if s.low = max(s.low, end); s.low < s.high {
			kept = append(kept, s)
			end = s.high
		}
	}
	return kept
}

// inside returns the parts of spans that are inside the enclosing calls. Both are sorted.
func (n *inliner) inside(t *tree, spans []span) []span {
	n.inner = n.inner[:0]
	k := 0
	for _, s := range spans {
		for k < len(n.outer) && n.outer[k].high <= s.low {
			k++
		}
		for i := k; i < len(n.outer) && n.outer[i].low < s.high; i++ {
			if low, high := max(s.low, n.outer[i].low), min(s.high, n.outer[i].high); n.outer[i].call == t.calls[s.call].parent {
				n.inner = append(n.inner, span{s.call, low, high})
			}
		}
	}
	return n.inner
}

// originAt returns the index of the origin at an offset of .debug_info.
func (r *Reader) originAt(off dwarf.Offset, fn *jitcode.Function) int {
	if i, ok := r.inliner.origins[off]; ok {
		return i
	}
	i := len(r.origins)
	o := jitcode.Origin{Name: unknownName, File: -1}
	if s := r.o.index.tree.subprogramAt(off); s >= 0 {
		o = r.origin(s, fn)
	}
	r.inliner.origins[off] = i
	r.origins = append(r.origins, o)
	return i
}

// unknownName is the name of inlined functions without one, as in addr2line.
var unknownName = []byte("??")

// origin returns the function of a subprogram.
func (r *Reader) origin(s int32, fn *jitcode.Function) jitcode.Origin {
	of := r.o.index.described(s)
	o := jitcode.Origin{Name: unknownName, File: r.file(of.table, of.file), Line: of.line, Column: of.column}
	if of.name != "" {
		o.Name = []byte(of.name[:min(len(of.name), r.o.index.maxName)])
	}
	return o
}
