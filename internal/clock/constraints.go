package clock

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// An Constraints is what a recording and a dump tell about the offset between
// their clocks: what must be added to a time of the dump to get the recording's.
//
// It is at least as large as the mapping of the dump demands, for a producer maps
// its dump before it writes a first record. It is at most so large that no sample
// is in a function before that was loaded, and that no record of the dump comes
// after the process has ended. With real runtimes the two are some milliseconds
// apart, as long as the producer takes from the one to the other.
//
// What perf record -k adds to a recording helps only a dump that counts the time of day,
// which it should not: CLOCK_DATA compares that with the recording's clock ([evidence.measured]).
//
// Of that interval the low end is taken. Functions are then there a little early,
// which does no harm: nothing ran where there was no function. Where there was
// another, that one had been given up, and the new one is about to run. Late, the
// first samples of each function would be lost.
type Constraints struct {
	dump        *model.Dump
	marker      uint64 // when the dump was mapped; 0 if the recording does not say
	end         uint64 // when the program ended, or another took its place
	exit        uint64 // when the last of its threads ended, of those seen so far
	gone        bool   // its first thread is among them
	first, last uint64 // events of the dump, in its time
	counts      counting

	low, high int64   // the offset when the dump was mapped
	drift     float64 // what the offset loses for each nanosecond from then on
	samples   int     // in functions
	early     int     // of them, those that contradict low
	overruns  bool    // the dump goes on when the process has ended

	epoch bool                // the dump's times are of CLOCK_REALTIME
	wall  *perfdata.ClockData // what the recording says of that clock, or nil

	located   []usedLocation // used once, by address
	ambiguous map[int]bool   // functions at places that were used more than once, or of other processes
}

// A usedLocation is memory that a function was in from a time of the dump on.
type usedLocation struct {
	lo, hi   uint64
	time     uint64
	function int
	again    bool // another was there, too
}

// counting is what a clock counts, compared with CLOCK_MONOTONIC.
type counting int

const (
	uncorrected counting = iota // from the start of the machine, but not corrected by NTP
	withSleep                   // the time that the machine slept, too: CLOCK_BOOTTIME
	timeOfDay                   // the same seconds from another start
)

// maxDrift is how far clocks drift apart: NTP makes CLOCK_MONOTONIC faster or
// slower by up to 500 ppm (the kernel's MAXFREQ), and perf's own clock not.
const maxDrift = 500e-6

// maxWidth is how early functions may be, as far as the evidence tells, where an
// address is used for a second one. A runtime gives up code that has not run for
// a while and waits until no thread is in it (V8: several garbage collections),
// so that in the last tenth of a second hardly a sample is in the old function.
const maxWidth = int64(100 * time.Millisecond)

// maxEarly is one in how many samples may contradict the estimate: some runtimes
// tell of a function when it has run for a moment (HotSpot's agents).
const maxEarly = 100

func newConstraints(rec *recording.Recording, d *model.Dump) *Constraints {
	e := &Constraints{dump: d, marker: math.MaxUint64, first: math.MaxUint64, high: math.MaxInt64, counts: countingOf(rec), ambiguous: make(map[int]bool)}
	for _, m := range d.Markers {
		if m.Pos < 0 {
			m.Time = m.Began
		}
		e.marker = min(e.marker, m.Time)
	}
	e.end = rec.ProcessTree.LifeEnd(d.PID, e.marker)

	isOwn := func(pid uint32) bool { return pid == 0 || pid == d.PID || pid == d.Source.PID() }
	events := d.Source.Scanned().Events
	some := slices.ContainsFunc(events, func(ev jitcode.Event) bool { return isOwn(ev.PID) })
	for i := range events {
		ev := &events[i]
		if some && !isOwn(ev.PID) {
			if ev.Size > 0 {
				e.ambiguous[ev.Function] = true
			}
			continue
		}
		e.first, e.last = min(e.first, ev.Time), max(e.last, ev.Time)
		if ev.Size > 0 {
			e.located = append(e.located, usedLocation{lo: ev.Addr, hi: ev.Addr + ev.Size, time: ev.Time, function: ev.Function})
		}
	}
	if b, ok := d.Source.(interface{ Began() uint64 }); ok && b.Began() > 0 {
		e.first = min(e.first, b.Began())
	}
	e.low = int64(e.marker - e.first)
	e.sortLocated()
	return e
}

// sortLocated keeps those places that were used once.
func (e *Constraints) sortLocated() {
	slices.SortFunc(e.located, func(a, b usedLocation) int { return cmp.Compare(a.lo, b.lo) })
	furthest := 0 // the place that ends last, up to here
	for i := 1; i < len(e.located); i++ {
		if e.located[i].lo < e.located[furthest].hi {
			e.located[i].again, e.located[furthest].again = true, true
		}
		if e.located[i].hi > e.located[furthest].hi {
			furthest = i
		}
	}
	e.located = slices.DeleteFunc(e.located, func(p usedLocation) bool {
		if p.again {
			e.ambiguous[p.function] = true
		}
		return p.again
	})
}

// sample takes a sample of the process as evidence. Code may have run before a
// producer that was attached to its process could tell of it.
func (e *Constraints) sample(time, ip uint64) {
	if time < e.marker || time >= e.end {
		return
	}
	i, found := slices.BinarySearchFunc(e.located, ip, func(p usedLocation, ip uint64) int { return cmp.Compare(p.lo, ip) })
	if !found {
		i--
	}
	if i < 0 || ip >= e.located[i].hi {
		return
	}
	e.samples++
	if !e.notLater(e.located[i].time, time) {
		e.early++
	}
}

// notLater takes as evidence that a time of the dump is not later than one of the
// recording. It reports whether that can be.
func (e *Constraints) notLater(dump, recording uint64) bool {
	offset, age := int64(recording-dump), int64(recording-e.marker)
	drifted := int64(0)
	if e.counts == uncorrected {
		drifted = int64(float64(age) * maxDrift)
	}
	if offset+drifted < e.low {
		return false
	}
	e.high = min(e.high, offset+drifted)
	if offset < e.low {
		e.drift = max(e.drift, float64(e.low-offset)/float64(age))
	}
	return true
}

// exited notes the end of a thread of the process. With the first thread the
// process ends, and then threads do so one by one.
func (e *Constraints) exited(t *perfdata.Task) {
	if t.Time >= e.marker && t.Time < e.end {
		e.exit = max(e.exit, t.Time)
		e.gone = e.gone || t.TID == t.PID
	}
}

// ended takes the end of the process as evidence, when all of the recording has
// been seen.
func (e *Constraints) ended() {
	end := e.end
	if e.gone {
		end = e.exit
	}
	e.overruns = end != math.MaxUint64 && !e.notLater(e.last, end)
}

// contradiction returns what speaks against any offset, or "".
func (e *Constraints) contradiction() string {
	switch {
	case e.marker == 0:
		return "" // nor is there anything that speaks for one
	case e.early*maxEarly > e.samples:
		return fmt.Sprintf("%d of %d samples in its functions would come before these were there", e.early, e.samples)
	case e.overruns:
		return "it goes on when its process has ended; was it overwritten by another run?"
	}
	// From the start of the machine, 1000 ppm are more than NTP corrects, and a
	// minute is more than one clock starts before the other.
	apart := max(e.low, -e.low)
	if e.counts == uncorrected && !e.epoch && apart > int64(time.Minute)+int64(e.marker/1000) {
		return fmt.Sprintf("both count from the start of the machine, and they are %v apart; was it overwritten by another run?", time.Duration(apart).Round(time.Second))
	}
	return ""
}

// width returns how far apart the ends of the interval are, -1 if it has one only.
func (e *Constraints) width() int64 {
	if e.high == math.MaxInt64 {
		return -1
	}
	return e.high - e.low
}

// clock returns the clock at the low end of the interval.
func (e *Constraints) clock() func(uint64) uint64 {
	at, first, drift := Shifted(e.low), e.first, e.drift
	return func(t uint64) uint64 {
		if drift > 0 && t > first {
			t -= uint64(float64(t-first) * drift)
		}
		return at(t)
	}
}

// countingOf returns what the recording's clock counts.
func countingOf(s *recording.Recording) counting {
	for i := range s.Attrs {
		switch id, ok := s.Attrs[i].ClockID(); {
		case !ok, id == 4: // CLOCK_MONOTONIC_RAW
			return uncorrected
		case id == 7: // CLOCK_BOOTTIME
			return withSleep
		}
	}
	return timeOfDay
}
