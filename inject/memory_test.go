package inject

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Every address that was added is held, whatever else was, and what lies far from
// everything is not, until there are too many.
func TestRanges(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var rs ranges
		var added []addrRange
		for range 1 + r.IntN(2*maxRanges) {
			lo := r.Uint64N(1<<47) &^ (nearRanges<<2 - 1)
			a := addrRange{lo, lo + 1 + r.Uint64N(nearRanges)}
			if r.IntN(3) == 0 && len(added) > 0 {
				a.lo = added[r.IntN(len(added))].lo + r.Uint64N(nearRanges)
				a.hi = a.lo + 1 + r.Uint64N(nearRanges)
			}
			added = append(added, a)
			rs.add(a.lo, a.hi)
		}
		if len(rs) > maxRanges {
			t.Fatalf("%d ranges", len(rs))
		}
		for i, a := range added {
			if !rs.hold(a.lo) || !rs.hold(a.hi-1) {
				t.Fatalf("seed %d: %x of %x is not held: %x", seed, i, a, rs)
			}
		}
		for i := 1; i < len(rs); i++ {
			if rs[i-1].lo >= rs[i-1].hi || rs[i].lo-rs[i-1].hi <= nearRanges {
				t.Fatalf("seed %d: %x", seed, rs)
			}
		}
		if rs.hold(1<<48) || len(added) < 10 && rs.hold(added[0].lo-nearRanges-1) && len(rs) == len(added) {
			t.Fatalf("seed %d: holds what it does not: %x", seed, rs)
		}
	}
	var rs ranges
	rs.add(math.MaxUint64-10, math.MaxUint64)
	rs.add(0, 10)
	if !rs.hold(0) || !rs.hold(math.MaxUint64-1) || rs.hold(1<<40) {
		t.Errorf("%x", rs)
	}
}
