package plan

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Other loads are found like by a look at each.
func TestOtherLoads_LikeLinearSearch(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		loads := make([]placedLoad, r.IntN(100))
		for i := range loads {
			lo := 1000 + r.Uint64N(30)
			loads[i] = placedLoad{lo: lo, hi: lo + 1 + r.Uint64N(8), time: r.Uint64N(20)}
		}
		others := newOtherLoads(loads)
		for range 200 {
			lo := 1000 + r.Uint64N(30)
			hi, since := lo+1+r.Uint64N(8), r.Uint64N(22)
			until := since + r.Uint64N(10)
			want := slices.ContainsFunc(loads, func(l placedLoad) bool {
				return (l.lo != lo || l.hi != hi) && l.lo < hi && l.hi > lo && l.time >= since && l.time <= until
			})
			if got := others.came(lo, hi, since, until); got != want {
				t.Fatalf("seed %d: got %v for [%d, %d) from %d to %d; want %v; loads %+v", seed, got, lo, hi, since, until, want, loads)
			}
		}
	}
}
