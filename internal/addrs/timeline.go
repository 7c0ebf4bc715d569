package addrs

import (
	"github.com/jitinject/jitinject/internal/sorting"

	"cmp"
	"math/bits"
	"slices"
	"sort"
)

// A Timeline has ranges in the order in which they came, and finds the last or the first of a
// part of them that overlaps another range. That takes O(log² n), and adding a range O(log n) on
// average. The zero Timeline is empty.
type Timeline = TimelineOf[uint64]

// A TimelineOf is a Timeline of numbers that may be small, as there may be millions.
type TimelineOf[N Number] struct {
	ranges []Span[N]
	// levels have the addresses of blocks of ranges: first of few ranges each, then of fan
	// blocks of the level before. There are only whole blocks.
	levels [][]block[N]
}

// A block has all addresses of some ranges, in order and disjoint.
type block[N Number] []Span[N]

const (
	few      = 16 // ranges of the smallest blocks
	fan      = 1 << fanShift
	fanShift = 3
)

// NewTimeline returns the timeline of some ranges.
func NewTimeline(ranges []Range) *Timeline {
	t := &Timeline{ranges: make([]Range, 0, len(ranges))}
	for _, r := range ranges {
		t.Add(r)
	}
	return t
}

// Len returns the number of ranges.
func (t *TimelineOf[N]) Len() int { return len(t.ranges) }

// Add adds a range after all others. An empty one overlaps nothing.
func (t *TimelineOf[N]) Add(r Span[N]) {
	t.ranges = append(t.ranges, r)
	n := len(t.ranges)
	if n%few != 0 {
		return
	}
	next := joined(t.ranges[n-few:])
	for level := 0; ; level++ {
		if level == len(t.levels) {
			t.levels = append(t.levels, nil)
		}
		t.levels[level] = append(t.levels[level], next)
		of := t.levels[level]
		if len(of)%fan != 0 {
			return
		}
		next = mergedAll(of[len(of)-fan:])
	}
}

// sizeAt returns the number of ranges of the blocks of a level.
func sizeAt(level int) int { return few << (fanShift * level) }

// joined returns the addresses of ranges.
func joined[N Number](ranges []Span[N]) block[N] {
	all := slices.Clone(ranges)
	sorting.By(all, func(a, b Span[N]) int { return cmp.Compare(a.Lo, b.Lo) })
	b := block[N](all[:0])
	for _, r := range all {
		b = b.with(r)
	}
	return b
}

// with adds a range that begins where the last one begins, or above.
func (b block[N]) with(r Span[N]) block[N] {
	n := len(b)
	switch {
	case r.Lo >= r.Hi:
	case n > 0 && r.Lo <= b[n-1].Hi:
		b[n-1].Hi = max(b[n-1].Hi, r.Hi)
	default:
		b = append(b, r)
	}
	return b
}

// mergedAll returns the addresses of several blocks.
func mergedAll[N Number](blocks []block[N]) block[N] {
	if len(blocks) == 1 {
		return blocks[0]
	}
	return merged(mergedAll(blocks[:len(blocks)/2]), mergedAll(blocks[len(blocks)/2:]))
}

// merged returns the addresses of two blocks.
func merged[N Number](x, y block[N]) block[N] {
	b := make(block[N], 0, len(x)+len(y))
	for len(x) > 0 && len(y) > 0 {
		if x[0].Lo <= y[0].Lo {
			b, x = b.with(x[0]), x[1:]
		} else {
			b, y = b.with(y[0]), y[1:]
		}
	}
	for _, r := range x {
		b = b.with(r)
	}
	for _, r := range y {
		b = b.with(r)
	}
	return slices.Clip(b)
}

func (b block[N]) overlaps(r Span[N]) bool {
	i := sort.Search(len(b), func(i int) bool { return b[i].Hi > r.Lo })
	return i < len(b) && b[i].Lo < r.Hi
}

// Last returns the index of the last range in [from, to) that overlaps r, or -1.
func (t *TimelineOf[N]) Last(r Span[N], from, to int) int {
	from, to = max(from, 0), min(to, len(t.ranges))
	if r.Lo >= r.Hi {
		return -1
	}
	for to > from {
		level := t.levelAt(to)
		if level < 0 {
			begin := max(from, (to-1)/few*few)
			if i := t.lastOf(r, begin, to); i >= 0 {
				return i
			}
			to = begin
			continue
		}
		// The largest block that ends there.
		number := to/sizeAt(level) - 1
		if i := t.last(r, from, level, number); i >= 0 {
			return i
		}
		to = number * sizeAt(level)
	}
	return -1
}

// First returns the index of the first range in [from, to) that overlaps r, or -1.
func (t *TimelineOf[N]) First(r Span[N], from, to int) int {
	from, to = max(from, 0), min(to, len(t.ranges))
	if r.Lo >= r.Hi {
		return -1
	}
	for from < to {
		level := t.levelAt(from)
		for level >= 0 && from/sizeAt(level) >= len(t.levels[level]) {
			level--
		}
		if level < 0 {
			end := min(to, (from/few+1)*few)
			if i := t.firstOf(r, from, end); i >= 0 {
				return i
			}
			from = end
			continue
		}
		// The largest block that begins there.
		number := from / sizeAt(level)
		if i := t.first(r, to, level, number); i >= 0 {
			return i
		}
		from = (number + 1) * sizeAt(level)
	}
	return -1
}

// levelAt returns the highest level with a block boundary at an index, or -1.
func (t *TimelineOf[N]) levelAt(i int) int {
	if i%few != 0 {
		return -1
	}
	if i == 0 {
		return len(t.levels) - 1
	}
	return min(bits.TrailingZeros(uint(i/few))/fanShift, len(t.levels)-1)
}

// last is Last among the ranges of a block.
func (t *TimelineOf[N]) last(r Span[N], from, level, number int) int {
	lo, hi := number*sizeAt(level), (number+1)*sizeAt(level)
	switch {
	case hi <= from || !t.levels[level][number].overlaps(r):
		return -1
	case level == 0:
		return t.lastOf(r, max(lo, from), hi)
	}
	for child := (number+1)*fan - 1; child >= number*fan; child-- {
		if i := t.last(r, from, level-1, child); i >= 0 {
			return i
		}
	}
	return -1
}

// first is First among the ranges of a block.
func (t *TimelineOf[N]) first(r Span[N], to, level, number int) int {
	lo, hi := number*sizeAt(level), (number+1)*sizeAt(level)
	switch {
	case lo >= to || !t.levels[level][number].overlaps(r):
		return -1
	case level == 0:
		return t.firstOf(r, lo, min(hi, to))
	}
	for child := number * fan; child < (number+1)*fan; child++ {
		if i := t.first(r, to, level-1, child); i >= 0 {
			return i
		}
	}
	return -1
}

func (t *TimelineOf[N]) lastOf(r Span[N], from, to int) int {
	for i := to - 1; i >= from; i-- {
		if t.ranges[i].overlaps(r) {
			return i
		}
	}
	return -1
}

func (t *TimelineOf[N]) firstOf(r Span[N], from, to int) int {
	for i := from; i < to; i++ {
		if t.ranges[i].overlaps(r) {
			return i
		}
	}
	return -1
}

// overlaps reports whether two ranges have an address in common; r is not empty.
func (a Span[N]) overlaps(r Span[N]) bool { return a.Lo < a.Hi && a.Lo < r.Hi && a.Hi > r.Lo }
