package clock

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
)

// Constraints bound the offset between the clocks of a dump and of a recording. The offset is
// what must be added to a time of the dump to get the recording's. All of it is in nanoseconds.
//
// The mapping of the dump is the lower bound: a producer maps its dump before it writes a first
// record. Samples and the end of the process are upper bounds. No sample is in a function before
// that was loaded, and no record of the dump comes after the process has ended. With real
// runtimes the bounds are some milliseconds apart: the producer takes that long from the mapping
// to the record.
//
// perf record -k adds CLOCK_DATA, which compares the time of day with the recording's clock. It
// helps only a dump that counts the time of day, which a dump should not do
// ([Constraints.measured]).
//
// The clock uses the lower bound. Functions then appear a little early. That does no harm where
// no function was before: nothing ran there. Where there was one, it had been given up, and the
// new one is about to run. If functions appeared late, the first samples of each would be lost.
type Constraints struct {
	// The times of the dump are those that its reading gives, in nanoseconds.
	Reading
	marker           uint64 // when the dump was mapped; 0 if the recording does not say
	until            uint64 // the end of the process in the recording
	earliest, latest uint64 // times of the first and last events of the dump's own process
	steady           bool   // the dump's clock and the recording's do not drift apart
	writers          map[uint32]*writer

	// rivals are the constraints for the other ways to read the dump's times.
	rivals []*Constraints

	// lower and upper bound the offset at the time when the dump was mapped.
	lower, upper int64
	drift        float64 // decrease of the offset for each nanosecond from then on
	samples      int     // number of samples in functions
	early        int     // number of those that contradict lower
	overruns     bool    // the dump goes on after the end of a process

	located   []usedLocation // places that were used once, by address; see locate
	ambiguous map[int]bool   // the functions at places that were used more than once; nil before the first call of locate
	// tied has those of one place and one time, in a unit that is longer than a nanosecond.
	tied map[int]bool
	set  bool // the clock of the dump is set, whatever the samples are
}

// A usedLocation is memory that has a function from a time of the dump on.
type usedLocation struct {
	lo, hi   uint64
	time     uint64
	function int
	pid      uint32 // the writer that loaded the function, or 0
	timed    bool   // time is known
	again    bool   // another function was there, too
}

// maxDrift bounds the drift between two clocks. NTP makes CLOCK_MONOTONIC faster or slower by up
// to 500 ppm (the kernel's MAXFREQ), but not perf's own clock.
const maxDrift = 500e-6

// maxWidth bounds how early functions may be where an address is used again, in nanoseconds. A
// runtime gives up code that has not run for a while, and waits until no thread is in it (V8:
// several garbage collections). So in the last tenth of a second, hardly a sample is in the old
// function.
const maxWidth = int64(100 * time.Millisecond)

// maxEarly is the share of samples that may contradict the estimate, as its inverse. Some
// runtimes report a function after it has run for a moment (HotSpot's agents).
const maxEarly = 100

// severalEarly is the share of samples, as its inverse, that contradicts times of the recording's own
// clock. So many are no late reports.
const severalEarly = 10

// newConstraints returns what the dump and its markers say, before any sample.
func newConstraints(r Reading) *Constraints {
	d := r.dump
	c := &Constraints{Reading: r, marker: math.MaxUint64, earliest: math.MaxUint64, upper: math.MaxInt64}
	c.steady = c.recorded == bootClock || c.recorded == dayClock || c.recorded == monotonicClock && r.epoch
	for _, m := range d.Markers {
		if m.Pos < 0 {
			m.Time = m.Began
		}
		c.marker = min(c.marker, m.Time)
	}
	c.findWriters()
	c.each(func(_ *jitcode.Event, pid uint32, time uint64, timed bool) {
		if w := c.writers[pid]; w != nil && timed {
			w.wrote(time)
		}
	})
	own := c.writers[d.PID]
	if start := d.Source.Scanned().Start; start > 0 {
		own.earliest = min(own.earliest, start)
	}
	c.earliest, c.latest = own.earliest, own.latest
	for _, w := range c.writers {
		if own.latest == 0 { // only children write
			c.earliest, c.latest = min(c.earliest, w.earliest), max(c.latest, w.latest)
		}
	}
	c.lower = int64(c.marker - c.earliest)
	for _, w := range c.writers {
		if w.latest > 0 {
			c.lower = max(c.lower, int64(w.since-w.earliest))
		}
	}
	if r.unit > 1 {
		c.locate()
	}
	return c
}

// each calls f for all events with their writers, and their times as they are read. Functions that are there from the
// start have no time.
func (c *Constraints) each(f func(ev *jitcode.Event, pid uint32, time uint64, timed bool)) {
	d := c.dump
	// writerOf returns the process that wrote an event, or 0.
	writerOf := func(ev *jitcode.Event) uint32 {
		switch {
		case ev.PID == 0 || ev.PID == d.Source.PID():
			return d.PID
		case c.writers[ev.PID] != nil:
			return ev.PID
		}
		return 0
	}
	mayLack := d.Source.Traits().ClockUnsure
	events := d.Source.Scanned().Events
	known := slices.ContainsFunc(events, func(ev jitcode.Event) bool { return writerOf(&ev) != 0 })
	for i := range events {
		ev := &events[i]
		pid := writerOf(ev)
		if pid == 0 && !known {
			pid = d.PID // a quirk of the producer
		}
		timed, time := ev.Time != 0 || !mayLack, uint64(0)
		if timed {
			time = c.of(ev.Time)
		}
		f(ev, pid, time, timed)
	}
}

// locate finds the places of functions, unless it has. Only samples and contradictions need them.
func (c *Constraints) locate() {
	if c.ambiguous != nil {
		return
	}
	c.ambiguous, c.located = make(map[int]bool), make([]usedLocation, 0, len(c.dump.Source.Scanned().Events))
	c.each(func(ev *jitcode.Event, pid uint32, time uint64, timed bool) {
		if ev.Size > 0 {
			c.located = append(c.located, usedLocation{lo: ev.Addr, hi: ev.Addr + ev.Size, pid: pid, time: time, timed: timed, function: int(ev.Function)})
		}
	})
	if c.unit > 1 {
		c.findTied()
	}
	c.sortLocated()
}

// findTied fills c.tied.
func (c *Constraints) findTied() {
	c.tied = make(map[int]bool)
	sorting.By(c.located, func(a, b usedLocation) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.lo, b.lo))
	})
	var furthest usedLocation // of this time, the one with the highest end so far
	for _, p := range c.located {
		if p.time == furthest.time && p.lo < furthest.hi && p.function != furthest.function {
			c.tied[p.function], c.tied[furthest.function] = true, true
		}
		if p.time != furthest.time || p.hi > furthest.hi {
			furthest = p
		}
	}
}

// sortLocated drops the places that were used more than once. It adds their functions to
// c.ambiguous.
func (c *Constraints) sortLocated() {
	sorting.By(c.located, func(a, b usedLocation) int { return cmp.Compare(a.lo, b.lo) })
	furthest := 0 // index of the place with the highest end so far
	for i := 1; i < len(c.located); i++ {
		if c.located[i].lo < c.located[furthest].hi {
			c.located[i].again, c.located[furthest].again = true, true
		}
		if c.located[i].hi > c.located[furthest].hi {
			furthest = i
		}
	}
	c.located = slices.DeleteFunc(c.located, func(p usedLocation) bool {
		if p.again {
			c.ambiguous[p.function] = true
		}
		return p.again
	})
}

// sample adds a sample of a process. Samples from before the dump's mapping do not count: code may have run
// before a producer was attached to the process. Neither do those in functions of other processes: what is
// there may be other memory.
func (c *Constraints) sample(pid uint32, time, ip uint64) {
	if w := c.writers[pid]; time < w.since || time >= w.end {
		return
	}
	p := c.at(ip)
	if p == nil || p.pid != pid {
		return
	}
	c.samples++
	if !c.notLater(p.time, time) {
		c.early++
	}
}

// notLater adds the constraint that a time of the dump is not later than one of the recording. It
// returns false, and adds nothing, if that contradicts the lower bound.
func (c *Constraints) notLater(dump, recording uint64) bool {
	offset, age := int64(recording-dump), int64(recording-c.marker)
	drifted := int64(0)
	if !c.steady {
		drifted = int64(float64(age) * maxDrift)
	}
	if offset+drifted < c.lower {
		return false
	}
	c.upper = min(c.upper, offset+drifted)
	if offset < c.lower {
		c.drift = max(c.drift, float64(c.lower-offset)/float64(age))
	}
	return true
}

// ended adds the ends of the processes as constraints. All of the recording must have been seen; latest is
// its last time.
func (c *Constraints) ended(latest uint64) {
	for _, pid := range slices.Sorted(maps.Keys(c.writers)) {
		w := c.writers[pid]
		end := w.ended()
		if pid == c.dump.PID {
			c.until = min(end, latest)
		}
		if end != math.MaxUint64 && !c.notLater(w.latest, end) {
			c.overruns = true
		}
	}
}

// contradiction returns the reason why no offset is possible, or "".
func (c *Constraints) contradiction() string {
	switch {
	case c.marker == 0:
		return "" // nothing speaks for an offset either
	case c.early*maxEarly > c.samples:
		return fmt.Sprintf("%d of %d samples in its functions would precede their functions", c.early, c.samples)
	case c.overruns:
		return "it continues after the end of its process"
	}
	// NTP corrects less than 1000 ppm from the start of the machine, and clocks start within
	// a minute of each other.
	apart := max(c.lower, -c.lower)
	if !c.dump.Source.Traits().ClockUnsure && !c.steady && apart > int64(time.Minute)+int64(c.marker/1000) {
		return fmt.Sprintf("both count from the start of the machine, and they are %v apart; was it overwritten by another run?", time.Duration(apart).Round(time.Second))
	}
	return ""
}

// width returns the distance between the bounds in nanoseconds, or -1 if there is no upper one.
func (c *Constraints) width() int64 {
	if c.upper == math.MaxInt64 {
		return -1
	}
	return c.upper - c.lower
}

// clock returns the clock at the lower bound.
func (c *Constraints) clock() func(uint64) uint64 {
	at, first, drift, read := Shifted(c.lower), c.earliest, c.drift, c.reading
	return orStart(c.dump, func(t uint64) uint64 {
		t = read.of(t)
		if drift > 0 && t > first {
			t -= uint64(float64(t-first) * drift)
		}
		return at(t)
	})
}

// precedes counts the samples that precede their functions if the dump's times are
// the recording's, and returns whether these are so many that the times cannot be.
func (c *Constraints) precedes() bool {
	if c.rec.Histogram == nil || -c.lower <= maxWidth { // no clock is told from a runtime that takes so long
		return false
	}
	found, early := int64(0), int64(0)
	for _, s := range c.rec.Histogram.Of(c.dump.PID) {
		if s.First < c.marker || s.First >= c.writers[c.dump.PID].end {
			continue
		}
		if p := c.at(s.IP); p != nil && p.pid == c.dump.PID {
			found += s.N
			if s.Last < p.time {
				early += s.N
			}
		}
	}
	return early*severalEarly > found
}

// at returns the place that has an address, or nil if its time is unknown or there is none.
func (c *Constraints) at(ip uint64) *usedLocation {
	c.locate()
	i, found := slices.BinarySearchFunc(c.located, ip, func(p usedLocation, ip uint64) int { return cmp.Compare(p.lo, ip) })
	if !found {
		i--
	}
	if i < 0 || ip >= c.located[i].hi || !c.located[i].timed {
		return nil
	}
	return &c.located[i]
}

// likeliest returns the constraints for the longest unit of the dump's times that nothing contradicts.
// In a unit that is too short, functions come too early, which no sample contradicts. In one that is
// too long, they come after their samples. The dump must also last for a part of its process's life.
func (c *Constraints) likeliest() *Constraints {
	best := c
	for _, o := range c.rivals {
		if o.contradiction() == "" && o.width() >= 0 && o.latest-o.earliest > (o.until-o.marker)/100 {
			best = o
		}
	}
	return best
}
