package plan

import (
	"cmp"
	"math/bits"
	"slices"
)

// A seating is a set of functions of a region that do not overlap. A function's seat is its index
// in the region's list, which is in the order of addresses.
type seating struct {
	b    *bundler
	all  []int    // the region's list
	bits []uint64 // the taken seats
}

// newSeating returns an empty set for functions of a region's list, and sets their seats.
func (b *bundler) newSeating(list []int) *seating {
	for seat, i := range list {
		b.placedFunctions[i].seat = int32(seat)
	}
	return &seating{b, list, make([]uint64, (len(list)+63)/64)}
}

func (s *seating) add(placed int) {
	seat := s.b.placedFunctions[placed].seat
	s.bits[seat/64] |= 1 << (seat % 64)
}

func (s *seating) has(placed int) bool {
	seat := s.b.placedFunctions[placed].seat
	return s.bits[seat/64]&(1<<(seat%64)) != 0
}

func (s *seating) remove(placed int) {
	seat := s.b.placedFunctions[placed].seat
	s.bits[seat/64] &^= 1 << (seat % 64)
}

// addAll adds the functions of another set. They must not overlap functions of this one.
func (s *seating) addAll(other *seating) {
	for i := range s.bits {
		s.bits[i] |= other.bits[i]
	}
}

// clear removes all functions.
func (s *seating) clear() { clear(s.bits) }

// len returns the number of functions.
func (s *seating) len() (n int) {
	for _, word := range s.bits {
		n += bits.OnesCount64(word)
	}
	return n
}

// list returns the functions in the order of their addresses.
func (s *seating) list() []int {
	list := make([]int, 0, s.len())
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
	if seat >= len(s.all) {
		return -1
	}
	word := s.bits[seat/64] >> (seat % 64) << (seat % 64)
	for i := seat / 64; ; {
		if word != 0 {
			return i*64 + bits.TrailingZeros64(word)
		}
		if i++; i == len(s.bits) {
			return -1
		}
		word = s.bits[i]
	}
}

// previous returns the last taken seat up to seat, or -1.
func (s *seating) previous(seat int) int {
	if seat < 0 {
		return -1
	}
	word := s.bits[seat/64] << (63 - seat%64) >> (63 - seat%64)
	for i := seat / 64; ; {
		if word != 0 {
			return i*64 + 63 - bits.LeadingZeros64(word)
		}
		if i--; i < 0 {
			return -1
		}
		word = s.bits[i]
	}
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
