package addrs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// Owners have the owners that an array with one for each address has, and so have their copies,
// whatever changes first.
func TestOwners_LikeArray(t *testing.T) {
	const size = 200
	type both struct {
		o     *Owners
		array [size]int
	}
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		all := []*both{{o: new(Owners)}}
		for range 150 {
			x := all[r.IntN(len(all))]
			if len(all) < 5 && r.IntN(20) == 0 {
				all = append(all, &both{x.o.Clone(), x.array})
			}
			lo := r.Uint64N(size)
			hi := min(lo+r.Uint64N(40), size)
			function := 1 + r.IntN(6)
			x.o.Place(lo, hi, function)
			for i := lo; i < hi; i++ {
				x.array[i] = function
			}
			for _, x := range all {
				lo := r.Uint64N(size)
				hi := min(lo+r.Uint64N(100), size)
				var want, mine []Tenancy
				for i := lo; i < hi; i++ {
					if f := x.array[i]; f != 0 {
						want = appendTenancy(want, Tenancy{i, i + 1, f})
						if f == function {
							mine = appendTenancy(mine, Tenancy{i, i + 1, f})
						}
					}
				}
				if got := x.o.Within(lo, hi); !slices.Equal(got, want) {
					t.Fatalf("seed %d: got %v within [%d, %d); want %v", seed, got, lo, hi, want)
				}
				if got := x.o.Owned(lo, hi, function); !slices.Equal(got, mine) {
					t.Fatalf("seed %d: got %v owned by %d in [%d, %d); want %v", seed, got, function, lo, hi, mine)
				}
				var last, next Tenancy
				for _, t := range x.o.Within(0, size+1) {
					if t.Lo <= lo {
						last = t
					}
					if t.Hi > lo && next.Hi == 0 {
						next = t
					}
				}
				// A Tenancy may be one of several pieces.
				if got, ok := x.o.Last(lo); ok != (last.Hi > 0) || got.Owner != last.Owner || got.Lo < last.Lo || got.Hi > last.Hi {
					t.Fatalf("seed %d: got last(%d) %v, %v; want a piece of %v", seed, lo, got, ok, last)
				}
				if got, ok := x.o.Next(lo); ok != (next.Hi > 0) || got.Owner != next.Owner || got.Lo < next.Lo || got.Hi > next.Hi {
					t.Fatalf("seed %d: got next(%d) %v, %v; want a piece of %v", seed, lo, got, ok, next)
				}
			}
		}
	}
}

// Addresses in ascending order, as those of most dumps, do not make a list of the tree.
func TestOwners_Depth(t *testing.T) {
	o := new(Owners)
	const n = 4096
	for i := range uint64(n) {
		o.Place(i*16, i*16+16, int(i))
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
