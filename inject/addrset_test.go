package inject

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A set has all added addresses, and none farther than addrSetGap from these.
func TestAddrSet_Random(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 5))
		var s addrSet
		var model []addrRange // one for each range that was added
		for range 1 + r.IntN(200) {
			lo := r.Uint64N(1 << (20 + r.IntN(12)))
			a := addrRange{lo, lo + 1 + r.Uint64N(2*addrSetGap)}
			s.add(a.lo, a.hi)
			model = append(model, a)
			if r.IntN(10) == 0 {
				checkAddrSet(t, seed, &s, model)
			}
		}
		checkAddrSet(t, seed, &s, model)
		for range 100 {
			addr := r.Uint64N(1 << 32)
			want, found := modelNext(model, addr)
			if got, ok := s.next(addr); ok != found || got != want {
				t.Fatalf("seed %d: after %#x is %#x, %v; want %#x, %v", seed, addr, got, ok, want, found)
			}
		}
	}
}

// joined are the ranges expected in the set.
func joined(model []addrRange) (want []addrRange) {
	sorted := slices.Clone(model)
	slices.SortFunc(sorted, func(a, b addrRange) int { return int(int64(a.lo - b.lo)) })
	for _, a := range sorted {
		if n := len(want); n > 0 && a.lo <= want[n-1].hi+addrSetGap {
			want[n-1].hi = max(want[n-1].hi, a.hi)
		} else {
			want = append(want, a)
		}
	}
	return want
}

func modelNext(model []addrRange, addr uint64) (addrRange, bool) {
	for _, a := range joined(model) {
		if a.hi > addr {
			return a, true
		}
	}
	return addrRange{}, false
}

func checkAddrSet(t *testing.T, seed uint64, s *addrSet, model []addrRange) {
	t.Helper()
	if got, want := s.sorted(), joined(model); !slices.Equal(got, want) {
		t.Fatalf("seed %d: %#x, want %#x", seed, got, want)
	}
}

// Beyond the limit, the smallest gaps close: no address is lost, and the largest gap stays.
func TestAddrSet_Limit(t *testing.T) {
	var s addrSet
	r := rand.New(rand.NewPCG(1, 6))
	var added []addrRange
	at := uint64(1 << 30)
	for i := range maxAddrSet + 1000 {
		gap := addrSetGap + 1 + r.Uint64N(addrSetGap)
		if i == maxAddrSet/3 {
			gap = 1 << 40
		}
		at += gap
		added = append(added, addrRange{at, at + 8})
		at += 8
	}
	for _, i := range r.Perm(len(added)) {
		s.add(added[i].lo, added[i].hi)
	}
	ranges := s.sorted()
	if len(ranges) > maxAddrSet || len(ranges) < maxAddrSet/4 {
		t.Fatalf("%d ranges, want at most %d, and not much less than half of it", len(ranges), maxAddrSet)
	}
	for i, a := range added {
		if got, ok := s.next(a.lo); !ok || got.lo > a.lo || got.hi < a.hi {
			t.Fatalf("range %d, %#x, is not held: %#x", i, a, got)
		}
	}
	for i := 1; i < len(ranges); i++ {
		if ranges[i].lo <= ranges[i-1].hi {
			t.Fatalf("%#x and %#x are not apart", ranges[i-1], ranges[i])
		}
	}
	edge := added[maxAddrSet/3-1].hi
	if got, _ := s.next(edge); got.lo != added[maxAddrSet/3].lo {
		t.Errorf("after the largest gap is %#x, want %#x", got.lo, added[maxAddrSet/3].lo)
	}
	// It accepts more ranges afterwards.
	s.add(1<<20, 1<<20+8)
	if got, ok := s.next(0); !ok || got != (addrRange{1 << 20, 1<<20 + 8}) {
		t.Errorf("the lowest is %#x, %v", got, ok)
	}
}
