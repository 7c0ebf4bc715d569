package clock

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// The header of a dump names the clock of its times, but some headers are wrong. LLVM's ORC
// leaves flags uninitialised (JITLoaderPerf.cpp, LLVM 18 to 21), and some producers write
// CLOCK_REALTIME. So the first record of a dump has to confirm the clock. A producer writes it
// soon after it has mapped the dump, and the recording has the time of that mapping.

// realTime is the earliest time that counts as one since 1970 (of September 2001), in
// nanoseconds. CLOCK_MONOTONIC gets there when a machine has been up for 31 years.
const realTime = uint64(1e18)

const (
	// clockSlack is how far a first record may lie outside the lifetime of its process, in
	// nanoseconds, where both are of one clock. Some producers take times before they open
	// the dump.
	clockSlack = uint64(time.Second)

	// streamSpan is how long after its mapping the first record of a dump may be, in
	// nanoseconds. It applies where the end of the recording is not known yet.
	streamSpan = uint64(time.Hour)
)

// A lifetime is when a dump's process, as one program, is in the recording, in nanoseconds of the
// recording's clock.
type lifetime struct{ from, to uint64 }

// has reports whether a time is in l, or no more than slack away from it.
func (l lifetime) has(t, slack uint64) bool {
	return t >= l.from-min(l.from, slack) && t-min(t, slack) <= l.to
}

// lifetimeOf returns when the process of the dump is in the recording, from its mapping of the
// dump on.
func lifetimeOf(d *model.Dump, rec *recording.Recording) lifetime {
	from := uint64(math.MaxUint64)
	for _, m := range d.Markers {
		from = min(from, m.Time)
	}
	to := rec.ProcessTree.LifeEnd(d.PID, from)
	if rec.In.Once {
		return lifetime{from, max(from, from+streamSpan)}
	}
	return lifetime{from, min(to, rec.Latest)}
}

// FirstTime returns the earliest time in the dump, or 0 if it has no times. Events of the dump's
// own process take precedence over those of others.
func FirstTime(d *model.Dump) (first uint64) {
	events, own := d.Source.Scanned().Events, false
	for i := range events {
		ev := &events[i]
		is := ev.PID == d.PID || ev.PID == d.Source.PID()
		if ev.Time == 0 || own && !is {
			continue
		}
		if first == 0 || is && !own || ev.Time < first {
			first, own = ev.Time, is
		}
	}
	return first
}

// clockOf returns the clock of the dump's times. note says what was assumed against the header,
// or is "". It fails if the times fit no clock, or one that cannot be converted.
func clockOf(d *model.Dump, rec *recording.Recording) (clock source.Clock, note string, err error) {
	claimed, err := d.Source.Clock()
	if !d.Source.Traits().ClockUnsure || err != nil {
		return claimed, "", err
	}
	first := FirstTime(d)
	if first == 0 { // nothing can be wrong
		return claimed.Sure(), "", nil
	}
	life := lifetimeOf(d, rec)
	near := clockSlack
	// Other clocks start within a minute of each other, and drift by 1000 ppm at most.
	if rec.ClockError() != "" {
		near = uint64(time.Minute) + life.from/1000
	}
	fits := rec.ClockError() == "" && life.has(first, clockSlack)
	ticks := rec.TimeConv != nil && life.has(rec.TimeConv.Time(first), clockSlack)
	switch {
	case first >= realTime && life.from < realTime && claimed != source.ArchClock:
		return source.RealtimeClock, "", nil
	case claimed == source.MonotonicClock:
		return claimed, "", nil
	case fits && !ticks:
		if claimed == source.ArchClock {
			note = "its header says that its times are counts of the processor's clock, but they fit the recording's CLOCK_MONOTONIC, which is used"
		}
		return source.MonotonicClock, note, nil
	case claimed == source.ArchClock && rec.TimeConv == nil:
		return 0, "", report.Advise(errors.New("its times are counts of the processor's clock, and the recording has no conversion for these (TIME_CONV)"),
			"record without -k, if the kernel allows that, or have the runtime write CLOCK_MONOTONIC")
	case claimed == source.ArchClock || ticks:
		return source.ArchClock, "", nil
	case life.has(first, near):
		return source.MonotonicClock, "", nil
	}
	return 0, "", fmt.Errorf("its header has unknown flags, so its clock is unknown; its first time, %s s, fits no clock of its process in the recording, from %s s to %s s; was it overwritten by another run?",
		Seconds(first), Seconds(life.from), Seconds(life.to))
}

// Seconds returns a time in nanoseconds as seconds with nine decimals.
func Seconds(t uint64) string { return fmt.Sprintf("%d.%09d", t/1e9, t%1e9) }

// wallSlack bounds how much too large an offset from CLOCK_DATA may be, in nanoseconds. perf
// record reads the time of day in microseconds and then the other clock. It may be interrupted
// between the two (builtin-record.c, record__init_clock).
const wallSlack = int64(time.Millisecond)

// since1970 notes that the dump's times are of CLOCK_REALTIME.
func (e *Constraints) since1970(rec *recording.Recording) { e.epoch, e.wall = true, rec.ClockData }

// measured returns the clock with the offset that CLOCK_DATA gives for CLOCK_REALTIME. ok is
// false if there is none, or if a constraint contradicts it. A change of the time of day between
// the start of perf record and the dump would show: the bounds are often only milliseconds apart.
func (e *Constraints) measured() (clock report.Clock, ok bool) {
	if !e.epoch || e.wall == nil {
		return report.Clock{}, false
	}
	offset := int64(e.wall.Clock - e.wall.Wall)
	if offset < e.low || offset-wallSlack > e.high || e.marker != 0 && e.early*maxEarly > e.samples || e.overruns {
		return report.Clock{}, false
	}
	low := max(e.low, offset-wallSlack)
	return report.Clock{Kind: report.ClockRealtime, Offset: low, Error: offset - low}, true
}

// kind returns the summary's name for a clock that only constraints determine.
func (e *Constraints) kind() string {
	if e.epoch {
		return report.ClockRealtime
	}
	return report.ClockEstimated
}
