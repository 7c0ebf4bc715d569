package model

import "slices"

// ObjectNames finds the indexes that functions of a process share, so that their objects get different
// names. perf report takes objects of one name for one object, in any directory.
type ObjectNames map[uint32]*indexes

// indexes are those of a process's functions. They mostly come in ascending order.
type indexes struct {
	ascending []uint64        // each was higher than all before
	others    map[uint64]bool // none is above the last of ascending
}

// IsRepeated reports whether a function of a process has an index that an earlier one has.
func (n ObjectNames) IsRepeated(pid uint32, index uint64) bool {
	x := n[pid]
	if x == nil {
		x = &indexes{others: make(map[uint64]bool)}
		n[pid] = x
	}
	if len(x.ascending) == 0 || index > x.ascending[len(x.ascending)-1] {
		x.ascending = append(x.ascending, index)
		return false
	}
	_, repeated := slices.BinarySearch(x.ascending, index)
	repeated = repeated || x.others[index]
	x.others[index] = true
	return repeated
}
