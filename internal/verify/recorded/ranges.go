package recorded

import (
	"cmp"
	"slices"
	"sort"
)

// MaxUnder bounds how many ranges are looked at that may hold an address: compilers use
// a place again, but not as often.
const MaxUnder = 1000

// A Range is something at an address for some time.
type Range struct {
	Addr, End uint64
	time      uint64 // from when on
	what      int32
}

// ranges are sorted by address.
type ranges struct {
	list []Range
	ends []uint64 // the highest end up to each
}

func sortRanges(list []Range) ranges {
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
	m := ranges{list, make([]uint64, len(list))}
	high := uint64(0)
	for i := range list {
		high = max(high, list[i].End)
		m.ends[i] = high
	}
	return m
}

// at returns what is at an address at a time, or nil. sure is false if there is too much to look at.
func (m *ranges) at(addr, time uint64) (r *Range, sure bool) {
	n := sort.Search(len(m.list), func(i int) bool { return m.list[i].Addr > addr })
	for i := n - 1; i >= 0 && m.ends[i] > addr; i-- {
		if n-i > MaxUnder {
			return nil, false
		}
		if m.list[i].End > addr && m.list[i].time <= time {
			return &m.list[i], true
		}
	}
	return nil, true
}

// JoinRanges returns ranges sorted, those that touch as one.
func JoinRanges(list []Range) []Range {
	slices.SortFunc(list, func(a, b Range) int { return cmp.Compare(a.Addr, b.Addr) })
	joined := list[:0]
	for _, r := range list {
		if n := len(joined); n > 0 && r.Addr <= joined[n-1].End {
			joined[n-1].End = max(joined[n-1].End, r.End)
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}
