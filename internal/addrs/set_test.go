package addrs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A set has all added addresses, and none farther than addrSetGap from these.
func TestAddrSet_Random(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 5))
		var s Set
		var model []Range // one for each range that was added
		for range 1 + r.IntN(200) {
			lo := r.Uint64N(1 << (20 + r.IntN(12)))
			a := Range{lo, lo + 1 + r.Uint64N(2*addrSetGap)}
			s.Add(a.Lo, a.Hi)
			model = append(model, a)
			if r.IntN(10) == 0 {
				checkAddrSet(t, seed, &s, model)
			}
		}
		checkAddrSet(t, seed, &s, model)
		for range 100 {
			addr := r.Uint64N(1 << 32)
			want, found := modelNext(model, addr)
			if got, ok := s.Next(addr); ok != found || got != want {
				t.Fatalf("seed %d: after %#x is %#x, %v; want %#x, %v", seed, addr, got, ok, want, found)
			}
		}
	}
}

// joinedModel are the ranges expected in the set.
func joinedModel(model []Range) (want []Range) {
	sorted := slices.Clone(model)
	slices.SortFunc(sorted, func(a, b Range) int { return int(int64(a.Lo - b.Lo)) })
	for _, a := range sorted {
		if n := len(want); n > 0 && a.Lo <= want[n-1].Hi+addrSetGap {
			want[n-1].Hi = max(want[n-1].Hi, a.Hi)
		} else {
			want = append(want, a)
		}
	}
	return want
}

func modelNext(model []Range, addr uint64) (Range, bool) {
	for _, a := range joinedModel(model) {
		if a.Hi > addr {
			return a, true
		}
	}
	return Range{}, false
}

func checkAddrSet(t *testing.T, seed uint64, s *Set, model []Range) {
	t.Helper()
	if got, want := s.Sorted(), joinedModel(model); !slices.Equal(got, want) {
		t.Fatalf("seed %d: %#x, want %#x", seed, got, want)
	}
}

// Beyond the limit, the smallest gaps close: no address is lost, and the largest gap stays.
func TestAddrSet_Limit(t *testing.T) {
	var s Set
	r := rand.New(rand.NewPCG(1, 6))
	var added []Range
	at := uint64(1 << 30)
	for i := range maxAddrSet + 1000 {
		gap := addrSetGap + 1 + r.Uint64N(addrSetGap)
		if i == maxAddrSet/3 {
			gap = 1 << 40
		}
		at += gap
		added = append(added, Range{at, at + 8})
		at += 8
	}
	for _, i := range r.Perm(len(added)) {
		s.Add(added[i].Lo, added[i].Hi)
	}
	ranges := s.Sorted()
	if len(ranges) > maxAddrSet || len(ranges) < maxAddrSet/4 {
		t.Fatalf("%d ranges, want at most %d, and not much less than half of it", len(ranges), maxAddrSet)
	}
	for i, a := range added {
		if got, ok := s.Next(a.Lo); !ok || got.Lo > a.Lo || got.Hi < a.Hi {
			t.Fatalf("range %d, %#x, is not held: %#x", i, a, got)
		}
	}
	for i := 1; i < len(ranges); i++ {
		if ranges[i].Lo <= ranges[i-1].Hi {
			t.Fatalf("%#x and %#x are not apart", ranges[i-1], ranges[i])
		}
	}
	edge := added[maxAddrSet/3-1].Hi
	if got, _ := s.Next(edge); got.Lo != added[maxAddrSet/3].Lo {
		t.Errorf("after the largest gap is %#x, want %#x", got.Lo, added[maxAddrSet/3].Lo)
	}
	// It accepts more ranges afterwards.
	s.Add(1<<20, 1<<20+8)
	if got, ok := s.Next(0); !ok || got != (Range{1 << 20, 1<<20 + 8}) {
		t.Errorf("the lowest is %#x, %v", got, ok)
	}
}
