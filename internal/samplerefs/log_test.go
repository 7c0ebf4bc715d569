package samplerefs

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// A log never misses a reference, and says no where nothing near is referenced at a time near.
func TestLog_NeverMisses(t *testing.T) {
	l := NewLog(1000, 1000+16*intervals-1)
	r := rand.New(rand.NewPCG(1, 1))
	type reference struct{ addr, time uint64 }
	var all []reference
	for range 300 {
		c := reference{0x1000 + r.Uint64N(0x4000), r.Uint64N(50000)}
		all = append(all, c)
		l.Add(c.addr, c.time)
	}
	for range 5000 {
		lo, from := 0x1000+r.Uint64N(0x4000), r.Uint64N(50000)
		hi, to := lo+1+r.Uint64N(64), from+r.Uint64N(400)
		within := func(slack, time uint64) bool {
			return slices.ContainsFunc(all, func(c reference) bool {
				return c.addr+slack >= lo && c.addr < hi+slack && (c.time+time >= from || to >= 1000+16*intervals) && (c.time <= to+time || from <= 1000)
			})
		}
		got := l.Within(lo, hi, from, to)
		listed := false
		l.Each(from, to, func(at, end uint64) { listed = listed || at < hi && end > lo })
		if listed != got {
			t.Fatalf("[%#x, %#x) in [%d, %d]: listed %v, want %v", lo, hi, from, to, listed, got)
		}
		switch {
		case !got && within(0, 0) && to < 1000+16*intervals && from > 1000:
			t.Fatalf("[%#x, %#x) in [%d, %d]: nothing is referenced, want something", lo, hi, from, to)
		case got && !within(blockSize, 1<<16) && from > 1000:
			t.Fatalf("[%#x, %#x) in [%d, %d]: something is referenced, want nothing", lo, hi, from, to)
		}
	}
}
