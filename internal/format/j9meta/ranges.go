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
//
// No compiler writes maps that are not in order. They still get the answer of OpenJ9's
// linear search: at each offset, the first map with a range around it.
func (b *Body) Ranges() []Range {
	if b.Atlas == nil {
		return nil
	}
	ranges := make([]Range, 0, len(b.Atlas.Maps))
	sorted := true
	for i := range b.Atlas.Maps {
		r := b.mapRange(i)
		if r.Start >= r.End {
			continue
		}
		if n := len(ranges); n > 0 && ranges[n-1].End > r.Start {
			sorted = false
		}
		ranges = append(ranges, r)
	}
	if sorted {
		return ranges
	}
	return firstWins(ranges)
}

// mapRange is the range of map i as OpenJ9's iterator has it.
func (b *Body) mapRange(i int) Range {
	maps := b.Atlas.Maps
	m := &maps[i]
	end := b.codeSize()
	// The iterator takes one from the next map's offset for the last byte of this
	// one's range: a next map at 0 makes it last for ever.
	if i+1 < len(maps) && maps[i+1].Low != 0 {
		end = maps[i+1].Low
	}
	return Range{Start: m.Low, End: end, Map: i, Info: m.Info, Shared: m.Shared}
}

// codeSize is the distance from startPC to endPC, as far as offsets reach.
func (b *Body) codeSize() uint32 {
	h := &b.Header
	if h.EndPC <= h.StartPC {
		return 0
	}
	return uint32(min(h.EndPC-h.StartPC, math.MaxUint32))
}

// firstWins cuts ranges that overlap, in the order of their maps, so that of
// several the first stays.
func firstWins(ranges []Range) []Range {
	order := slices.Clone(ranges)
	slices.SortFunc(order, func(a, b Range) int { return cmp.Compare(a.Start, b.Start) })
	var out []Range
	var open rangeHeap // those that have begun
	for at := uint32(0); len(order) > 0 || len(open) > 0; {
		for len(order) > 0 && order[0].Start <= at {
			open.push(order[0])
			order = order[1:]
		}
		for len(open) > 0 && open[0].End <= at {
			open.pop()
		}
		next := uint32(math.MaxUint32)
		if len(order) > 0 {
			next = order[0].Start
		}
		if len(open) == 0 {
			at = next
			continue
		}
		r := open[0]
		r.Start, r.End = at, min(r.End, next)
		at = r.End
		if n := len(out); n > 0 && out[n-1].Map == r.Map && out[n-1].End == r.Start {
			out[n-1].End = r.End
			continue
		}
		out = append(out, r)
	}
	return out
}

// A rangeHeap has the range of the first map on top.
type rangeHeap []Range

func (h *rangeHeap) push(r Range) {
	*h = append(*h, r)
	for i := len(*h) - 1; i > 0 && (*h)[i].Map < (*h)[(i-1)/2].Map; i = (i - 1) / 2 {
		(*h)[i], (*h)[(i-1)/2] = (*h)[(i-1)/2], (*h)[i]
	}
}

func (h *rangeHeap) pop() {
	s := *h
	n := len(s) - 1
	s[0] = s[n]
	s = s[:n]
	for i := 0; ; {
		child := 2*i + 1
		if child >= n {
			break
		}
		if child+1 < n && s[child+1].Map < s[child].Map {
			child++
		}
		if s[i].Map <= s[child].Map {
			break
		}
		s[i], s[child] = s[child], s[i]
		i = child
	}
	*h = s
}

// RangeAt returns the range of the first map that offset is in, as its map has it.
func (b *Body) RangeAt(offset uint32) (Range, bool) {
	if b.Atlas == nil {
		return Range{}, false
	}
	for i := range b.Atlas.Maps {
		if r := b.mapRange(i); r.Start <= offset && offset < r.End {
			return r, true
		}
	}
	return Range{}, false
}
