package xray

import (
	"math"
	"math/rand/v2"
	"testing"
)

// A madeClock is a processor's clock of which the truth is known.
type madeClock struct {
	hz    float64 // counts in a second of CLOCK_MONOTONIC
	count uint64
	time  float64 // nanoseconds, at count
}

// at returns the true time of a count that is some seconds after the first.
func (m *madeClock) at(seconds float64) (count uint64, time float64) {
	n := math.Round(seconds * m.hz)
	return m.count + uint64(n), m.time + n/m.hz*1e9
}

// anchor returns what a runtime writes that reads the time late, in whole microseconds.
func (m *madeClock) anchor(seconds, late float64) anchor {
	count, time := m.at(seconds)
	return anchor{count, uint64((time+late)/1000) * 1000}
}

// Times are right to within the error that is reported, whatever the header says, with
// anchors as late as real ones are, and some much later.
func TestXRayClock_WithinReportedError(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	usual := func(i int) float64 {
		switch {
		case i < 2:
			return 3_700 + rng.Float64()*20_000 // first buffers of threads
		case rng.IntN(20) == 0:
			return rng.Float64() * 4e6 // lost its processor
		}
		return 60 + rng.ExpFloat64()*200
	}
	for _, test := range []struct {
		name            string
		hz, header      float64
		anchors         int
		seconds         float64 // that they are spread over
		until           float64 // seconds up to which times are asked
		late            func(i int) float64
		within          float64 // ns
		measured, emul  bool
		damaged, midway int
	}{
		{name: "header right", hz: 2.6e9, header: 2.6e9, anchors: 400, seconds: 2, until: 2, late: usual, within: 1000},
		{name: "header 30 % too high", hz: 2.6e9, header: 3.4e9, anchors: 400, seconds: 2, until: 2.01, late: usual, within: 1500, measured: true},
		{name: "kernel's value 40 ppm off, a minute", hz: 2.6e9, header: 2.6e9 * (1 + 40e-6), anchors: 3000, seconds: 60, until: 60, late: usual, within: 1500, measured: true},
		{name: "one buffer", hz: 2.6e9, header: 2.6e9, anchors: 1, until: 1, late: func(int) float64 { return 24_000 }, within: 25_000},
		{name: "two buffers, header right", hz: 2.6e9, header: 2.6e9, anchors: 2, seconds: 0.001, until: 1, late: usual, within: 25_000},
		{name: "two buffers, header wrong", hz: 2.6e9, header: 3.4e9, anchors: 2, seconds: 0.5, until: 0.5, late: usual, within: 50_000, measured: true},
		{name: "all threads begin at once", hz: 2.6e9, header: 2.6e9, anchors: 8, seconds: 50e-6, until: 3, late: usual, within: 25_000},
		{name: "emulated", hz: 1e9, header: 1e9, anchors: 200, seconds: 2, until: 2, late: usual, within: 1000, emul: true},
		{name: "damaged anchors", hz: 2.6e9, header: 2.6e9, anchors: 300, seconds: 2, until: 2, late: usual, within: 1000, damaged: 5},
		{name: "damaged anchors, header wrong", hz: 2.6e9, header: 3.4e9, anchors: 300, seconds: 2, until: 2, late: usual, within: 2000, measured: true, damaged: 5},
	} {
		for round := range 20 {
			m := &madeClock{hz: test.hz, count: 7_736_290_972_983 + uint64(rng.IntN(1e9)), time: 2_979_880_895_000 + rng.Float64()*1e9}
			var anchors []anchor
			for i := range test.anchors {
				anchors = append(anchors, m.anchor(float64(i)/float64(test.anchors)*test.seconds, test.late(i)))
			}
			for range test.damaged {
				anchors[rng.IntN(len(anchors))].time -= 1e9 + uint64(rng.IntN(1e9))
			}
			c, err := newXRayClock(uint64(test.header), anchors)
			if err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			if c.Measured != test.measured || c.Emulated != test.emul {
				t.Errorf("%s, round %d: measured %v, emulated %v; frequency %.0f", test.name, round, c.Measured, c.Emulated, c.Frequency)
			}
			worst := 0.0
			for i := range 100 {
				count, want := m.at(float64(i) / 99 * test.until)
				worst = max(worst, math.Abs(float64(int64(c.Time(count)))-want))
			}
			if worst > test.within {
				t.Errorf("%s, round %d: off by %.0f ns, more than %.0f", test.name, round, worst, test.within)
			}
			if worst > float64(c.Error) {
				t.Errorf("%s, round %d: off by %.0f ns, reported were %d", test.name, round, worst, c.Error)
			}
		}
	}
}

// Without a frequency or anchors, nothing is made up.
func TestXRayClock_Unknown(t *testing.T) {
	for _, anchors := range [][]anchor{nil, {{5, 1000}}, {{5, 1000}, {5, 2000}}} {
		if c, err := newXRayClock(0, anchors); err == nil {
			t.Errorf("%d anchors: a rate of %v", len(anchors), c.rate)
		}
	}
	if _, err := newXRayClock(2e9, nil); err == nil {
		t.Error("no anchors, no error")
	}
}

// Whatever the anchors are, times never go back while counts go on.
func TestXRayClock_AnyAnchors(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		anchors := make([]anchor, 1+rng.IntN(30))
		for i := range anchors {
			anchors[i] = anchor{rng.Uint64() >> rng.IntN(64), rng.Uint64() >> rng.IntN(64)}
		}
		c, err := newXRayClock(rng.Uint64()>>rng.IntN(64), anchors)
		if err != nil {
			continue
		}
		if math.IsNaN(c.rate) || c.rate <= 0 || c.Error < 0 {
			t.Fatalf("for %v: got rate %v, error %v; want a rate above 0, an error of 0 or more", anchors, c.rate, c.Error)
		}
		count := c.count
		last := c.Time(count)
		for range 20 {
			count += uint64(rng.IntN(1e9))
			if now := c.Time(count); now < last {
				t.Fatalf("for %v: got time %d; want %d or later", anchors, now, last)
			} else {
				last = now
			}
		}
	}
}
