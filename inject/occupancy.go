package inject

import "slices"

// An occupancy knows which function owns each address of a process: the one that
// was put there last. It is needed where code moves, to take the name from the
// place that is left, but not from a newcomer who is there already.
type occupancy map[uint64][]tenancy // by page

// A tenancy says that [lo, hi), which lies in one page, belongs to a function.
type tenancy struct {
	lo, hi   uint64
	function int
}

const occupancyPage = 4 << 10

// place gives [lo, hi) to a function.
func (o occupancy) place(lo, hi uint64, function int) {
	for lo < hi {
		end := min(hi, (lo|(occupancyPage-1))+1)
		if end < lo { // the last page of all
			end = hi
		}
		page := lo / occupancyPage
		var kept []tenancy
		for _, t := range o[page] {
			if t.lo < lo {
				kept = append(kept, tenancy{t.lo, min(t.hi, lo), t.function})
			}
			if t.hi > end {
				kept = append(kept, tenancy{max(t.lo, end), t.hi, t.function})
			}
		}
		kept = append(kept, tenancy{lo, end, function})
		slices.SortFunc(kept, func(a, b tenancy) int { return int(int64(a.lo - b.lo)) })
		o[page] = kept
		lo = end
	}
}

// owned returns the parts of [lo, hi) that belong to a function, in order.
func (o occupancy) owned(lo, hi uint64, function int) (parts []tenancy) {
	for page := lo / occupancyPage; page <= (hi-1)/occupancyPage && lo < hi; page++ {
		for _, t := range o[page] {
			a, b := max(t.lo, lo), min(t.hi, hi)
			if t.function != function || a >= b {
				continue
			}
			if n := len(parts); n > 0 && parts[n-1].hi == a {
				parts[n-1].hi = b
			} else {
				parts = append(parts, tenancy{a, b, function})
			}
		}
	}
	return parts
}
