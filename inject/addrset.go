package inject

import (
	"cmp"
	"slices"
)

// An addrSet is a set of addresses that are in use: ranges in the order of their addresses,
// at least addrSetGap apart. It never loses an address: beyond maxAddrSet ranges, it joins
// those with the smallest gaps. The zero addrSet is empty.
type addrSet struct {
	ranges  []addrRange
	pending []addrRange // added since ranges was sorted
}

const (
	// addrSetGap is the largest gap, in bytes, that counts as in use.
	addrSetGap = 64 << 10

	// maxAddrSet bounds the ranges of a set. Linux allows a process 65530 mappings
	// [vm.max_map_count].
	maxAddrSet = 1 << 16
)

// add adds the addresses from lo up to hi.
func (s *addrSet) add(lo, hi uint64) {
	if n := len(s.pending); n > 0 && s.pending[n-1].lo <= lo && lo <= s.pending[n-1].hi {
		s.pending[n-1].hi = max(s.pending[n-1].hi, hi)
		return
	}
	s.pending = append(s.pending, addrRange{lo, hi})
	if len(s.pending) > maxAddrSet+len(s.ranges) {
		s.sorted()
	}
}

// sorted returns the ranges in order. They belong to the set.
func (s *addrSet) sorted() []addrRange {
	if len(s.pending) == 0 {
		return s.ranges
	}
	all := append(s.ranges, s.pending...)
	s.pending = s.pending[:0]
	slices.SortFunc(all, func(a, b addrRange) int { return cmp.Compare(a.lo, b.lo) })
	if s.ranges = joinNear(all, addrSetGap); len(s.ranges) > maxAddrSet {
		s.ranges = joinNear(s.ranges, largestGap(s.ranges, maxAddrSet/2))
	}
	return s.ranges
}

// joinNear joins neighbouring ranges that are at most gap bytes apart, in place.
func joinNear(sorted []addrRange, gap uint64) []addrRange {
	n := 0
	for _, r := range sorted {
		if n > 0 && (r.lo <= sorted[n-1].hi || r.lo-sorted[n-1].hi <= gap) {
			sorted[n-1].hi = max(sorted[n-1].hi, r.hi)
			continue
		}
		sorted[n] = r
		n++
	}
	return sorted[:n]
}

// largestGap returns the smallest gap that, when closed, leaves at most n ranges.
func largestGap(sorted []addrRange, n int) uint64 {
	gaps := make([]uint64, 0, len(sorted))
	for i := 1; i < len(sorted); i++ {
		gaps = append(gaps, sorted[i].lo-sorted[i-1].hi)
	}
	slices.Sort(gaps)
	return gaps[len(gaps)-n]
}

// next returns the lowest range that ends above addr.
func (s *addrSet) next(addr uint64) (r addrRange, ok bool) {
	list := s.sorted()
	i, _ := slices.BinarySearchFunc(list, addr, func(x addrRange, addr uint64) int {
		if x.hi <= addr {
			return -1
		}
		return 1
	})
	if i == len(list) {
		return r, false
	}
	return list[i], true
}
