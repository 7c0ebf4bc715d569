package addrs

import (
	"math/rand/v2"
	"testing"
)

// A timeline finds what a search of all ranges finds, also at the ends of its blocks.
func TestTimeline_LikeLinearSearch(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		random := func(most uint64) Range {
			lo := r.Uint64N(1000)
			return Range{lo, lo + r.Uint64N(most)}
		}
		ranges := make([]Range, []int{300, 3000}[seed%2]+r.IntN(300))
		for i := range ranges {
			ranges[i] = random([]uint64{3, 30, 300}[seed%3])
		}
		line := NewTimeline(ranges)
		for more := r.IntN(100); more > 0; more-- {
			ranges = append(ranges, random(300))
			line.Add(ranges[len(ranges)-1])
		}
		for range 300 {
			of, from, to := random(20), r.IntN(len(ranges)+10)-5, r.IntN(len(ranges)+10)-5
			first, last := -1, -1
			for i := max(from, 0); i < min(to, len(ranges)); i++ {
				if a := ranges[i]; a.Lo < a.Hi && of.Lo < of.Hi && a.Lo < of.Hi && a.Hi > of.Lo {
					last = i
					if first < 0 {
						first = i
					}
				}
			}
			if got := line.Last(of, from, to); got != last {
				t.Fatalf("seed %d: got Last(%v, %d, %d) = %d; want %d", seed, of, from, to, got, last)
			}
			if got := line.First(of, from, to); got != first {
				t.Fatalf("seed %d: got First(%v, %d, %d) = %d; want %d", seed, of, from, to, got, first)
			}
		}
	}
}
