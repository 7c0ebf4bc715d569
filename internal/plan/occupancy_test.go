package plan

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// An occupancy has the owners that an array with one for each address has, and so have its
// copies, whatever changes first.
func TestOccupancy_LikeArray(t *testing.T) {
	const size = 200
	type both struct {
		o     *occupancy
		array [size]int
	}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := []*both{{o: new(occupancy)}}
		for range 150 {
			x := all[r.IntN(len(all))]
			if len(all) < 5 && r.IntN(20) == 0 {
				all = append(all, &both{x.o.clone(), x.array})
			}
			lo := r.Uint64N(size)
			hi := min(lo+r.Uint64N(40), size)
			function := 1 + r.IntN(6)
			x.o.place(lo, hi, function)
			for i := lo; i < hi; i++ {
				x.array[i] = function
			}
			for _, x := range all {
				lo := r.Uint64N(size)
				hi := min(lo+r.Uint64N(100), size)
				var want, mine []tenancy
				for i := lo; i < hi; i++ {
					if f := x.array[i]; f != 0 {
						want = appendTenancy(want, tenancy{i, i + 1, f})
						if f == function {
							mine = appendTenancy(mine, tenancy{i, i + 1, f})
						}
					}
				}
				if got := x.o.within(lo, hi); !slices.Equal(got, want) {
					t.Fatalf("seed %d: got %v within [%d, %d); want %v", seed, got, lo, hi, want)
				}
				if got := x.o.owned(lo, hi, function); !slices.Equal(got, mine) {
					t.Fatalf("seed %d: got %v owned by %d in [%d, %d); want %v", seed, got, function, lo, hi, mine)
				}
				var last, next tenancy
				for _, t := range x.o.within(0, size+1) {
					if t.lo <= lo {
						last = t
					}
					if t.hi > lo && next.hi == 0 {
						next = t
					}
				}
				// A tenancy may be one of several pieces.
				if got, ok := x.o.last(lo); ok != (last.hi > 0) || got.function != last.function || got.lo < last.lo || got.hi > last.hi {
					t.Fatalf("seed %d: got last(%d) %v, %v; want a piece of %v", seed, lo, got, ok, last)
				}
				if got, ok := x.o.next(lo); ok != (next.hi > 0) || got.function != next.function || got.lo < next.lo || got.hi > next.hi {
					t.Fatalf("seed %d: got next(%d) %v, %v; want a piece of %v", seed, lo, got, ok, next)
				}
				if got := x.o.isEmpty(lo, hi); got != (len(want) == 0) {
					t.Fatalf("seed %d: got isEmpty(%d, %d) %v; want %v", seed, lo, hi, got, len(want) == 0)
				}
			}
		}
	}
}

// Addresses in ascending order, as those of most dumps, do not make a list of the tree.
func TestOccupancy_Depth(t *testing.T) {
	o := new(occupancy)
	const n = 4096
	for i := range uint64(n) {
		o.place(i*16, i*16+16, int(i))
	}
	var depth func(n *tenant) int
	depth = func(n *tenant) int {
		if n == nil {
			return 0
		}
		return 1 + max(depth(n.left), depth(n.right))
	}
	if d := depth(o.root); d > 100 {
		t.Errorf("got a tree of depth %d for %d tenancies; want at most 100", d, n)
	}
}
