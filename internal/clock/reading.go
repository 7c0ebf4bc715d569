package clock

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
	"time"

	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/perfdata"
)

// This file decides how a dump's times are read, for every combination of its header, its times, and
// the recording's clock. RATIONALE.md has the rules. The header is weak evidence: LLVM's ORC leaves
// its flags uninitialised (JITLoaderPerf.cpp, LLVM 18 to 21), perf's own Java agent sets bit 0 and
// writes zeros on processors other than x86, and some producers write CLOCK_REALTIME. So the times
// have to confirm it. A producer writes its first record soon after it has mapped the dump, and the
// recording has the time of that mapping.

// An evidence is all that the decision rests on. Times are in nanoseconds of the recording's clock,
// but for first.
type evidence struct {
	claimed source.Clock
	// recorded is the recording's clock.
	recorded recorded
	conv     perfdata.TimeConv // Mult is 0 if the recording has no TIME_CONV
	// first and last are the dump's earliest and latest time, as written; 0 if it has none.
	first, last uint64
	// low is a time that at most one sixteenth of the dump's times precede: a few wrong ones do not
	// make it another clock's. It may be first.
	low uint64
	// from and to are when its process, as one program, is in the recording, from its mapping of
	// the dump on. from is 0 for a mapping from before the recording, or without a time. Both are
	// 0 for a recording without times.
	from, to uint64
}

// A recorded is the clock of a recording.
type recorded int

const (
	ownClock       recorded = iota // perf's own, without -k
	monotonicClock                 // -k mono: that of dumps
	rawClock                       // -k mono_raw
	bootClock                      // -k boottime
	dayClock                       // -k realtime or tai, or another that is unknown
)

// A way says what to do with the times of a dump.
type way int

const (
	useAsRead  way = iota // they are the recording's, once they are read
	useOffset             // they differ by an offset, which has to be found
	useNoTimes            // there are none: functions are there from the start
	useStart              // they fit no clock: functions are there from the start
)

// A reading is the decision about the times of a dump: a function that turns them into nanoseconds,
// and what to do with these.
type reading struct {
	way way
	nanoseconds
	epoch bool // they count from 1970, and the recording's do not
	// others are further ways to turn the times into nanoseconds, that of the shortest unit first, if
	// nothing but samples can tell which is right. nanoseconds is one of them.
	others []nanoseconds
	before bool // the first one, as read, is too long before the mapping of the dump
}

// A nanoseconds converts a time of a dump. The zero value counts nothing: all is at time 0.
type nanoseconds struct {
	unit uint64 // of the dump's times, in nanoseconds; 0 with conv
	conv perfdata.TimeConv
}

// of returns a time of the dump in nanoseconds. Times that are too large become the highest one.
func (n nanoseconds) of(t uint64) uint64 {
	if n.unit == 0 {
		return n.conv.Time(t)
	}
	hi, lo := bits.Mul64(t, n.unit)
	if hi > 0 {
		return math.MaxUint64
	}
	return lo
}

// units are the units that producers may count in, in nanoseconds.
var units = []uint64{1, 100, uint64(time.Microsecond), uint64(time.Millisecond), uint64(time.Second)}

const (
	// realTime is the earliest time that counts as one since 1970 (of September 2001), in
	// nanoseconds. CLOCK_MONOTONIC gets there when a machine has been up for 31 years.
	realTime = uint64(1e18)
	// realUnits and lastReal bound the times since 1970 in another unit than nanoseconds: from
	// 2014 to 2039.
	realUnits, lastReal = uint64(14e17), uint64(22e17)

	// clockSlack is how far a first record may lie outside the lifetime of its process, in
	// nanoseconds, where both are of one clock. Some producers take times before they open
	// the dump.
	clockSlack = uint64(time.Second)

	// clocksApart is how far two clocks may be apart that count from the start of the machine, in
	// nanoseconds, and CLOCK_TAI from CLOCK_REALTIME. They drift by 1000 ppm at most.
	clocksApart = uint64(time.Minute)
)

// decide returns how the times of a dump are read. It depends on nothing but e, and always has an
// answer: times may be of no clock that is known, which does not make a dump another run's.
func (e evidence) decide() reading {
	if e.first == 0 {
		return reading{way: useNoTimes, nanoseconds: nanoseconds{unit: 1}}
	}
	readings := e.readings()
	switch {
	case e.recorded == monotonicClock && e.to == 0: // no times that could contradict it
		return reading{nanoseconds: readings[0]}
	case e.from == 0: // too little to contradict the header
		readings = readings[:1]
	}
	for _, n := range readings { // the recording's own clock
		exact := e.recorded == monotonicClock && n.unit > 0 || e.recorded == ownClock && n.unit == 0
		if t := n.of(e.first); exact && e.lives(t) && (n.unit <= 1 || e.lasts(n.of(e.last))) {
			return reading{nanoseconds: n, before: t+max(uint64(maxWidth), n.unit) < e.from}
		}
		if exact && n.unit <= 1 && e.low > e.first && e.lives(n.of(e.low)) {
			return reading{nanoseconds: n}
		}
	}
	if e.from > 0 {
		for _, n := range readings { // one that counts from the same event
			if e.isNear(n.of(e.first)) && (n.unit <= 1 || e.lasts(n.of(e.last))) {
				return reading{way: useOffset, nanoseconds: n}
			}
		}
	}
	for _, n := range readings {
		since, last := realUnits, lastReal
		if n.unit == 1 {
			since, last = realTime, math.MaxUint64
		}
		if t := n.of(e.first); n.unit > 0 && t >= since && t < last && e.from < realTime {
			return reading{way: useOffset, nanoseconds: n, epoch: true}
		}
	}
	n := readings[0]
	switch {
	case e.from == 0 && e.recorded != monotonicClock: // nothing speaks against it
		return reading{way: useOffset, nanoseconds: n}
	case e.recorded == bootClock || e.recorded == dayClock: // these are ahead by any time
		others := slices.DeleteFunc(slices.Clone(readings), func(n nanoseconds) bool { return n.of(e.first) >= e.from })
		sorting.Stable(others, func(a, b nanoseconds) int { return cmp.Compare(a.of(e.first), b.of(e.first)) })
		if len(others) > 0 {
			if !slices.Contains(others, n) {
				n = others[0]
			}
			return reading{way: useOffset, nanoseconds: n, others: others}
		}
	}
	return reading{way: useStart, nanoseconds: n}
}

// readings returns the ways to turn the times into nanoseconds, the one of the header first.
func (e evidence) readings() []nanoseconds {
	list := make([]nanoseconds, 0, len(units)+1)
	for _, u := range units {
		list = append(list, nanoseconds{unit: u})
	}
	if e.conv.Mult == 0 {
		return list
	}
	counts := nanoseconds{conv: e.conv}
	if e.claimed == source.ArchClock {
		return append([]nanoseconds{counts}, list...)
	}
	return append(list, counts)
}

// lives reports whether a time lies in the lifetime of the process, or not far from it.
func (e evidence) lives(t uint64) bool {
	return t >= e.from-min(e.from, clockSlack) && t-min(t, clockSlack) <= e.to
}

// lasts reports whether a time may be the dump's last one. Its process may outlive the recording.
func (e evidence) lasts(t uint64) bool {
	return t-min(t, clocksApart) <= e.to+(e.to-min(e.from, e.to))
}

// isNear reports whether a time may be from shortly after the mapping of the dump, if it is of a
// clock that started with the recording's.
func (e evidence) isNear(t uint64) bool {
	apart := clocksApart
	switch e.recorded {
	case monotonicClock: // times of CLOCK_MONOTONIC_RAW; no other clock of producers is near
		apart = max(clockSlack, e.from/1000)
	case ownClock, rawClock, bootClock:
		apart += e.from / 1000
	}
	return t >= e.from-min(e.from, apart) && t-min(t, apart) <= e.to
}
