package clock

import (
	"math/rand/v2"
	"testing"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/perfdata"
)

// TestDecide_AnyEvidence has random evidence: there always is an answer that can be followed.
func TestDecide_AnyEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 6))
	number := func() uint64 {
		if r.IntN(4) == 0 {
			return [...]uint64{0, 1, 1e18, 1<<63 - 1, 1 << 63, 1<<64 - 1}[r.IntN(6)]
		}
		return r.Uint64() >> r.IntN(64)
	}
	for range 200_000 {
		e := evidence{claimed: source.Clock(r.IntN(4)), recorded: recorded(r.IntN(5)), first: number(), last: number(), from: number(), to: number()}
		if r.IntN(2) == 0 {
			e.conv = perfdata.TimeConv{Shift: number(), Mult: number(), Zero: number()}
		}
		got := e.decide()
		if got.unit == 0 && got.conv.Mult == 0 {
			t.Fatalf("for %+v: got %+v; want times that are converted", e, got)
		}
		if (got.way == useNoTimes) != (e.first == 0) {
			t.Fatalf("for %+v: got %+v; want no times only if there are none", e, got)
		}
		got.of(e.first)
	}
}

// TestDecide_FlagTriedFirst: with the same evidence, all headers lead to one reading, unless two fit.
func TestDecide_FlagTriedFirst(t *testing.T) {
	const second = 1_000_000_000
	conv := perfdata.TimeConv{Shift: 31, Mult: 1 << 30} // 2 GHz
	for _, c := range []struct {
		name string
		e    evidence
		want reading
	}{
		{"nanoseconds", evidence{recorded: monotonicClock, first: 5001 * second}, reading{nanoseconds: nanoseconds{unit: 1}}},
		{"microseconds", evidence{recorded: monotonicClock, first: 5001 * second / 1000}, reading{nanoseconds: nanoseconds{unit: 1000}}},
		{"counts", evidence{recorded: ownClock, first: 2 * 5001 * second}, reading{nanoseconds: nanoseconds{conv: conv}}},
		{"no clock", evidence{recorded: monotonicClock, first: 1}, reading{way: useStart}},
		{"a wrong time", evidence{recorded: monotonicClock, first: 1, low: 5001 * second}, reading{nanoseconds: nanoseconds{unit: 1}}},
	} {
		for _, claimed := range []source.Clock{source.MonotonicClock, source.ArchClock, source.UnknownClock} {
			e := c.e
			e.claimed, e.conv, e.from, e.to, e.last = claimed, conv, 5000*second, 5010*second, e.first
			got := e.decide()
			if got.way != c.want.way || got.way == useAsRead && got.nanoseconds != c.want.nanoseconds {
				t.Errorf("%s, header %v: got %+v; want %+v", c.name, claimed, got, c.want)
			}
		}
	}
}
