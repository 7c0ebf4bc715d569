package verify

import (
	"cmp"
	"slices"
)

// maxUnder bounds how many ranges are looked at that may hold an address: compilers use
// a place again, but not as often.
const maxUnder = 1000

// A mappedRange is something at an address for some time.
type mappedRange struct {
	addr, end uint64
	time      uint64 // from when on
	what      int32
}

// ranges are sorted by address.
type mappedRanges struct {
	list []mappedRange
	ends []uint64 // the highest end up to each
}

func sortRanges(list []mappedRange) mappedRanges {
	slices.SortFunc(list, func(a, b mappedRange) int { return cmp.Compare(a.addr, b.addr) })
	m := mappedRanges{list, make([]uint64, len(list))}
	high := uint64(0)
	for i := range list {
		high = max(high, list[i].end)
		m.ends[i] = high
	}
	return m
}

// at returns what is somewhere in addr to end at a time, or nil. sure is false if there
// is too much to look at.
func (m *mappedRanges) at(addr, end, time uint64) (r *mappedRange, sure bool) {
	n, _ := slices.BinarySearchFunc(m.list, end, func(r mappedRange, end uint64) int { return cmp.Compare(r.addr, end) })
	for i := n - 1; i >= 0 && m.ends[i] > addr; i-- {
		if n-i > maxUnder {
			return nil, false
		}
		if m.list[i].end > addr && m.list[i].time <= time {
			return &m.list[i], true
		}
	}
	return nil, true
}

// joinRanges returns ranges sorted, those that touch as one.
func joinRanges(list []mappedRange) []mappedRange {
	slices.SortFunc(list, func(a, b mappedRange) int { return cmp.Compare(a.addr, b.addr) })
	joined := list[:0]
	for _, r := range list {
		if n := len(joined); n > 0 && r.addr <= joined[n-1].end {
			joined[n-1].end = max(joined[n-1].end, r.end)
		} else {
			joined = append(joined, r)
		}
	}
	return joined
}
