package recording

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// A byTime answers like a list that is sorted after each event, for events in order, backwards,
// and in any order.
func TestByTime_LikeSortedList(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		var list byTime[fork]
		var want []fork
		for i := range 200 {
			f := fork{PID: uint32(i), Time: r.Uint64N(300)}
			switch seed % 3 {
			case 1:
				f.Time = uint64(i / 3)
			case 2:
				f.Time = uint64(300 - i/3)
			}
			list.add(f)
			want = append(want, f)
			slices.SortStableFunc(want, func(x, y fork) int { return cmp.Compare(x.Time, y.Time) })
			time := r.Uint64N(320)
			n := upTo(want, time)
			got, ok := list.latest(time)
			if ok != (n > 0) || ok && got != want[n-1] {
				t.Fatalf("seed %d: got latest %+v, %v at %d; want number %d of %+v", seed, got, ok, time, n-1, want)
			}
			if got, ok = list.next(time); ok != (n < len(want)) || ok && got.Time != want[n].Time {
				t.Fatalf("seed %d: got next %+v, %v at %d; want number %d of %+v", seed, got, ok, time, n, want)
			}
			if r.IntN(20) == 0 && !slices.Equal(list.all(), want) {
				t.Fatalf("seed %d: got %+v; want %+v", seed, list.all(), want)
			}
		}
		if !slices.Equal(list.all(), want) {
			t.Fatalf("seed %d: got %+v; want %+v", seed, list.all(), want)
		}
	}
}
