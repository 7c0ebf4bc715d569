package plan

import (
	"cmp"
	"math/bits"
	"slices"
)

// A seating is a set of functions of a region that do not overlap. A function's seat is its index
// in the region's list, which is in the order of addresses.
type seating struct {
	b   *bundler
	all []int // the region's list
	// levels have a bit for each taken seat, and then for each word of the level before that is not 0. So a
	// step between taken seats takes no longer if they are few.
	levels [][]uint64
	len    int // number of functions
}

// newSeating returns an empty set for functions of a region's list, and sets their seats.
func (b *bundler) newSeating(list []int) *seating {
	for seat, i := range list {
		b.placedFunctions[i].seat = int32(seat)
	}
	s := &seating{b: b, all: list}
	for n := len(list); len(s.levels) == 0 || n > 1; {
		n = (n + 63) / 64
		s.levels = append(s.levels, make([]uint64, n))
	}
	return s
}

func (s *seating) add(placed int) {
	if s.has(placed) {
		return
	}
	s.len++
	seat := s.b.placedFunctions[placed].seat
	for _, words := range s.levels {
		words[seat/64] |= 1 << (seat % 64)
		seat /= 64
	}
}

func (s *seating) has(placed int) bool {
	seat := s.b.placedFunctions[placed].seat
	return s.levels[0][seat/64]&(1<<(seat%64)) != 0
}

func (s *seating) remove(placed int) {
	if !s.has(placed) {
		return
	}
	s.len--
	seat := s.b.placedFunctions[placed].seat
	for _, words := range s.levels {
		if words[seat/64] &^= 1 << (seat % 64); words[seat/64] != 0 {
			return
		}
		seat /= 64
	}
}

// addAll adds the functions of another set. They must not overlap functions of this one.
func (s *seating) addAll(other *seating) {
	for seat := other.next(0); seat >= 0; seat = other.next(seat + 1) {
		s.add(other.all[seat])
	}
}

// clear removes all functions.
func (s *seating) clear() {
	for seat := s.next(0); seat >= 0; seat = s.next(seat + 1) {
		s.remove(s.all[seat])
	}
}

// list returns the functions in the order of their addresses.
func (s *seating) list() []int {
	list := make([]int, 0, s.len)
	for seat := s.next(0); seat >= 0; seat = s.next(seat + 1) {
		list = append(list, s.all[seat])
	}
	return list
}

// overlapping returns the functions that overlap the given one of the list, in the order of their
// addresses.
func (s *seating) overlapping(placed int) (list []int) {
	p := &s.b.placedFunctions[placed]
	s.from(int(p.seat), p.lo(), p.hi(), func(i int) { list = append(list, i) })
	return list
}

// eachIn calls f for the functions that overlap [lo, hi), in the order of their addresses.
func (s *seating) eachIn(lo, hi uint64, f func(placed int)) {
	seat, _ := slices.BinarySearchFunc(s.all, lo, func(i int, lo uint64) int { return cmp.Compare(s.b.placedFunctions[i].lo(), lo) })
	s.from(seat, lo, hi, f)
}

// from does the same as eachIn. seat is the first seat of the list at lo or after it.
func (s *seating) from(seat int, lo, hi uint64, f func(placed int)) {
	if before := s.previous(seat - 1); before >= 0 && s.at(before).hi() > lo {
		f(s.all[before])
	}
	for ; ; seat++ {
		if seat = s.next(seat); seat < 0 || s.at(seat).lo() >= hi {
			return
		}
		f(s.all[seat])
	}
}

func (s *seating) at(seat int) *placed { return &s.b.placedFunctions[s.all[seat]] }

// next returns the first taken seat from seat on, or -1.
func (s *seating) next(seat int) int {
	for level, words := range s.levels {
		i := seat / 64
		if i >= len(words) {
			return -1
		}
		if word := words[i] >> (seat % 64) << (seat % 64); word != 0 {
			seat = i*64 + bits.TrailingZeros64(word)
			for ; level > 0; level-- {
				seat = seat*64 + bits.TrailingZeros64(s.levels[level-1][seat])
			}
			return seat
		}
		seat = i + 1
	}
	return -1
}

// previous returns the last taken seat up to seat, or -1.
func (s *seating) previous(seat int) int {
	for level, words := range s.levels {
		if seat < 0 {
			return -1
		}
		i := seat / 64
		if word := words[i] << (63 - seat%64) >> (63 - seat%64); word != 0 {
			seat = i*64 + 63 - bits.LeadingZeros64(word)
			for ; level > 0; level-- {
				seat = seat*64 + 63 - bits.LeadingZeros64(s.levels[level-1][seat])
			}
			return seat
		}
		seat = i - 1
	}
	return -1
}

// hasOverlaps reports whether any functions overlap. list is in the order of their addresses.
func (b *bundler) hasOverlaps(list []int) bool {
	end := uint64(0)
	return slices.ContainsFunc(list, func(i int) bool {
		p := &b.placedFunctions[i]
		overlaps := p.lo() < end
		end = max(end, p.hi())
		return overlaps
	})
}
