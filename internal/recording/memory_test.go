package recording

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/jitinject/jitinject/internal/addrs"
)

// Every address that was added is held, whatever else was, and what lies far from
// everything is not, until there are too many.
func TestRanges_HoldWhatWasAdded(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		var rs Ranges
		var added []addrs.Range
		for range 1 + r.IntN(2*maxRanges) {
			lo := r.Uint64N(1<<47) &^ (nearRanges<<2 - 1)
			a := addrs.Range{Lo: lo, Hi: lo + 1 + r.Uint64N(nearRanges)}
			if r.IntN(3) == 0 && len(added) > 0 {
				a.Lo = added[r.IntN(len(added))].Lo + r.Uint64N(nearRanges)
				a.Hi = a.Lo + 1 + r.Uint64N(nearRanges)
			}
			added = append(added, a)
			rs.Add(a.Lo, a.Hi)
		}
		if len(rs) > maxRanges {
			t.Fatalf("%d ranges", len(rs))
		}
		for i, a := range added {
			if !rs.Hold(a.Lo) || !rs.Hold(a.Hi-1) {
				t.Fatalf("seed %d: %x of %x is not held: %x", seed, i, a, rs)
			}
		}
		for i := 1; i < len(rs); i++ {
			if rs[i-1].Lo >= rs[i-1].Hi || rs[i].Lo-rs[i-1].Hi <= nearRanges {
				t.Fatalf("seed %d: %x", seed, rs)
			}
		}
		if rs.Hold(1<<48) || len(added) < 10 && rs.Hold(added[0].Lo-nearRanges-1) && len(rs) == len(added) {
			t.Fatalf("seed %d: holds what it does not: %x", seed, rs)
		}
	}
	var rs Ranges
	rs.Add(math.MaxUint64-10, math.MaxUint64)
	rs.Add(0, 10)
	if !rs.Hold(0) || !rs.Hold(math.MaxUint64-1) || rs.Hold(1<<40) {
		t.Errorf("got %x; want Hold(0), Hold(math.MaxUint64-1), not Hold(1<<40)", rs)
	}
}
