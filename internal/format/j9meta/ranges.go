package j9meta

import (
	"cmp"
	"math"
	"slices"
)

// A Range is a part of the code that one stack map is for.
type Range struct {
	Start, End uint32 // offsets from startPC, half open
	Map        int    // index of the map
	Info       ByteCodeInfo
	Shared     bool // the map says nothing about objects, see StackMap.Shared
}

// Ranges returns the ranges of all maps, by growing Start and without overlap;
// code before the first map has none. A range lasts up to the next map's, the
// last one to the end of the code. Ranges of no code are left out.
func (b *Body) Ranges() []Range {
	if b.Atlas == nil {
		return nil
	}
	ranges := make([]Range, len(b.Atlas.Maps))
	for i := range ranges {
		m := &b.Atlas.Maps[i]
		ranges[i] = Range{Start: m.Low, Map: i, Info: m.Info, Shared: m.Shared}
	}
	byStart := func(a, b Range) int { return cmp.Compare(a.Start, b.Start) }
	if !slices.IsSortedFunc(ranges, byStart) { // no compiler writes such maps
		slices.SortStableFunc(ranges, byStart)
	}
	for i := range ranges {
		if ranges[i].End = b.codeSize(); i+1 < len(ranges) {
			ranges[i].End = ranges[i+1].Start
		}
	}
	return slices.DeleteFunc(ranges, func(r Range) bool { return r.Start >= r.End })
}

// codeSize is the distance from startPC to endPC, as far as offsets reach.
func (b *Body) codeSize() uint32 {
	h := &b.Header
	if h.EndPC <= h.StartPC {
		return 0
	}
	return uint32(min(h.EndPC-h.StartPC, math.MaxUint32))
}

// RangeAt returns the range that offset is in.
func (b *Body) RangeAt(offset uint32) (r Range, ok bool) {
	if b.Atlas == nil {
		return Range{}, false
	}
	r.End = b.codeSize()
	next := uint32(math.MaxUint32)
	for i := range b.Atlas.Maps {
		if m := &b.Atlas.Maps[i]; m.Low > offset {
			next = min(next, m.Low)
			r.End = next
		} else if !ok || m.Low >= r.Start {
			r, ok = Range{Start: m.Low, End: r.End, Map: i, Info: m.Info, Shared: m.Shared}, true
		}
	}
	return r, ok && offset < r.End
}
