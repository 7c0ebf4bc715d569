package addrs

import (
	"cmp"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/sorting"
)

// An Set is a set of addresses that are in use: ranges in the order of their addresses,
// at least addrSetGap apart. It never loses an address: beyond maxAddrSet ranges, it joins
// those with the smallest gaps. The zero addrSet is empty.
type Set struct {
	ranges  []Range
	pending []Range // added since ranges was sorted
}

const (
	// addrSetGap is the largest gap, in bytes, that counts as in use.
	addrSetGap = 64 << 10

	// maxAddrSet bounds the ranges of a set. Linux allows a process 65530 mappings
	// [vm.max_map_count].
	maxAddrSet = 1 << 16
)

// Add adds the addresses from lo up to hi.
func (s *Set) Add(lo, hi uint64) {
	if n := len(s.pending); n > 0 && s.pending[n-1].Lo <= lo && lo <= s.pending[n-1].Hi {
		s.pending[n-1].Hi = max(s.pending[n-1].Hi, hi)
		return
	}
	s.pending = append(s.pending, Range{lo, hi})
	if len(s.pending) > maxAddrSet+len(s.ranges) {
		s.Sorted()
	}
}

// Sorted returns the ranges in order. They belong to the set.
func (s *Set) Sorted() []Range {
	if len(s.pending) == 0 {
		return s.ranges
	}
	all := append(s.ranges, s.pending...)
	s.pending = s.pending[:0]
	sorting.By(all, func(a, b Range) int { return cmp.Compare(a.Lo, b.Lo) })
	if s.ranges = joinNear(all, addrSetGap); len(s.ranges) > maxAddrSet {
		s.ranges = joinNear(s.ranges, largestGap(s.ranges, maxAddrSet/2))
	}
	return s.ranges
}

// joinNear joins neighbouring ranges that are at most gap bytes apart, in place.
func joinNear(sorted []Range, gap uint64) []Range {
	n := 0
	for _, r := range sorted {
		if n > 0 && (r.Lo <= sorted[n-1].Hi || r.Lo-sorted[n-1].Hi <= gap) {
			sorted[n-1].Hi = max(sorted[n-1].Hi, r.Hi)
			continue
		}
		sorted[n] = r
		n++
	}
	return sorted[:n]
}

// largestGap returns the smallest gap that, when closed, leaves at most n ranges.
func largestGap(sorted []Range, n int) uint64 {
	gaps := make([]uint64, 0, len(sorted))
	for i := 1; i < len(sorted); i++ {
		gaps = append(gaps, sorted[i].Lo-sorted[i-1].Hi)
	}
	slices.Sort(gaps)
	return gaps[len(gaps)-n]
}

// Next returns the lowest range that ends above addr.
func (s *Set) Next(addr uint64) (r Range, ok bool) {
	list := s.Sorted()
	i := sort.Search(len(list), func(i int) bool { return list[i].Hi > addr })
	if i == len(list) {
		return r, false
	}
	return list[i], true
}
