package sorting

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

type entry struct{ key, place int }

// TestSort_LikeSlices sorts as package slices does: by keys, and with Stable equal ones in their order.
func TestSort_LikeSlices(t *testing.T) {
	byKey := func(a, b entry) int { return cmp.Compare(a.key, b.key) }
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		s := make([]entry, n)
		for i := range s {
			s[i] = entry{r.IntN(n/3 + 1), i}
		}
		want := slices.SortedStableFunc(slices.Values(s), byKey)
		unstable := Sorted(slices.Values(s), byKey)
		if !slices.IsSortedFunc(unstable, byKey) {
			t.Fatalf("%d elements: got %v; want them sorted", n, unstable)
		}
		if Stable(s, byKey); !slices.Equal(s, want) {
			t.Fatalf("%d elements: got %v; want %v", n, s, want)
		}
	}
}
