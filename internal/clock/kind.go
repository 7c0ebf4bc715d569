package clock

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/perfdata"
)

// A Reading is the evidence about the times of a dump, and how they are read.
type Reading struct {
	dump    *model.Dump
	rec     *recording.Recording
	guessed bool // the format is not sure of its clock, so the times have to confirm it
	evidence
	reading
}

// Read reads the times of a dump, which has the markers of its processes. It fails if its header
// makes that impossible.
func Read(d *model.Dump, rec *recording.Recording) (*Reading, error) {
	r := &Reading{dump: d, rec: rec, reading: reading{nanoseconds: nanoseconds{unit: 1}}}
	claimed, err := d.Source.Clock()
	if err != nil && !r.lacksTimes() {
		return nil, err
	}
	r.claimed, r.recorded = claimed, recordedBy(rec)
	r.guessed = d.Source.Traits().ClockUnsure && !r.isEmpty()
	switch {
	case r.guessed:
		r.evidence = evidenceOf(d, rec, claimed)
		r.reading = r.decide()
	case r.recorded != monotonicClock:
		r.way = useOffset
	}
	return r, nil
}

// isEmpty reports whether the dump has nothing with a time.
func (r *Reading) isEmpty() bool { return len(r.dump.Source.Scanned().Events) == 0 }

// lacksTimes reports whether no function of the dump has a time, so that no clock matters.
func (r *Reading) lacksTimes() bool {
	c, ok := r.dump.Source.(source.PartlyTimed)
	return ok && !c.HasTimes()
}

// Forbidden returns the reason why a mode of Options.Clock forbids to use the times, or nil.
func (r *Reading) Forbidden(mode string) error {
	switch {
	case mode != "strict" || r.lacksTimes() || r.way == useNoTimes || r.way == useAsRead:
		return nil
	case r.epoch:
		return report.Advise(errors.New("its times are of CLOCK_REALTIME (nanoseconds since 1970), and those of the recording of another clock"), report.AdviceMonotonic)
	case r.recorded == monotonicClock:
		return report.Advise(errors.New(r.unfit()), report.AdviceMonotonic)
	}
	return report.Advise(Unknown{r.rec.ClockError()}, report.AdviceClock)
}

// unfit says that the dump's times fit no clock of the recording.
func (r *Reading) unfit() string {
	if r.claimed == source.ArchClock && r.conv.Mult == 0 {
		return "its times are counts of the processor's clock, by its header, and the recording cannot convert them (TIME_CONV): perf record writes that without -k, and not on each virtual machine"
	}
	return fmt.Sprintf("its first time, %s s if it counts nanoseconds, fits no clock of its process, which mapped it at %s s", Seconds(FirstTime(r.dump)), Seconds(mappedAt(r.dump)))
}

// evidenceOf returns the evidence about the times of a dump.
func evidenceOf(d *model.Dump, rec *recording.Recording, claimed source.Clock) evidence {
	first := FirstTime(d)
	e := evidence{claimed: claimed, recorded: recordedBy(rec), first: first, last: d.Source.Scanned().EventIndex().Last}
	if rec.TimeConv != nil {
		e.conv = *rec.TimeConv
	}
	if !slices.ContainsFunc(rec.Attrs, func(a perfdata.Attr) bool { return a.SampleType()&perfdata.FieldTime != 0 }) {
		return e
	}
	e.from = mappedAt(d)
	e.to = rec.ProcessTree.LifeEnd(d.PID, e.from)
	p := rec.Processes[d.PID]
	outlives := e.to > rec.Latest && (p == nil || p.Exited == 0)
	// All of its functions may have been loaded after the recording.
	if later := outlives && first > rec.Latest && rec.Histogram != nil && !d.IsSampled(rec); !later {
		e.to = min(e.to, rec.Latest)
	}
	if e.low = first; first > 0 && !e.lives(first) {
		e.low = d.Source.Scanned().EventIndex().Low()
	}
	return e
}

// mappedAt returns when the dump was mapped first, in nanoseconds of the recording's clock.
func mappedAt(d *model.Dump) uint64 {
	from := uint64(math.MaxUint64)
	for _, m := range d.Markers {
		from = min(from, m.Time)
	}
	return from
}

// recordedBy returns the clock of a recording.
func recordedBy(rec *recording.Recording) recorded {
	switch id, ok := rec.Clock(); {
	case !ok:
		return ownClock
	case id == 4: // CLOCK_MONOTONIC_RAW
		return rawClock
	case id == 7: // CLOCK_BOOTTIME
		return bootClock
	case id != perfdata.ClockMonotonic:
		return dayClock
	}
	return monotonicClock
}

// FirstTime returns the earliest time in the dump, or 0 if it has no times. Events of the dump's
// own process take precedence over those of others.
func FirstTime(d *model.Dump) uint64 {
	return d.Source.Scanned().EventIndex().First(d.PID, d.Source.PID())
}

// IsOlder reports whether all times of a dump, as the clock of the recording, precede the mapping
// of the dump, and no other reading of them fits better. They may be of an earlier run, or of another
// clock: only the addresses of its code tell.
func (r *Reading) IsOlder() bool {
	if !r.guessed || r.first == 0 || r.epoch || r.unit != 1 && r.way == useAsRead || r.recorded != monotonicClock && r.way != useAsRead {
		return false
	}
	if r.of(r.last) >= r.from {
		return false // as one that is later than others
	}
	return r.unit > 0 || !slices.ContainsFunc(r.dump.Source.Scanned().Events, func(ev jitcode.Event) bool { return r.of(ev.Time) >= r.from })
}

// IsLater reports whether all times of a dump come after the end of its process, and no shift by a second
// or less brings them into its life. Then they are of another run. Where another process has the memory
// of that one, its end counts.
func (r *Reading) IsLater() bool {
	p := r.rec.Processes[r.dump.PID]
	if !r.guessed || p == nil || p.Exited == 0 || r.recorded != monotonicClock || r.way > useOffset || r.epoch {
		return false
	}
	first, last := r.of(r.first), r.of(r.last)
	if first <= r.to {
		return false
	}
	end := r.from
	for _, p := range r.rec.Related(r.dump.Markers) {
		if p.Exited == 0 {
			return false
		}
		end = max(end, p.Exited)
	}
	for _, s := range r.rec.Histogram.Of(r.dump.PID) { // its first thread may end before others
		end = max(end, s.Last)
	}
	return first > end && (last-end > clockSlack || last-first > end-r.from)
}

// assumed returns what the reading assumes against the header of the dump, or "".
func (r *Reading) assumed() string {
	clock := "the recording's clock"
	if r.recorded == monotonicClock {
		clock = "the recording's CLOCK_MONOTONIC"
	}
	switch {
	case r.way > useOffset || len(r.others) > 0:
		return ""
	case r.unit > 1:
		return fmt.Sprintf("its times are not in nanoseconds: in units of %v they fit the life of its process, and are used so", time.Duration(r.unit))
	case r.claimed == source.ArchClock && r.unit == 1:
		return "its header says that its times are counts of the processor's clock, but they fit " + clock + ", which is used"
	case r.claimed != source.ArchClock && r.unit == 0:
		return "its header says that its times are nanoseconds, but as counts of the processor's clock they fit the recording (TIME_CONV), and are used so"
	}
	return ""
}

// Seconds returns a time in nanoseconds as seconds with nine decimals.
func Seconds(t uint64) string { return fmt.Sprintf("%d.%09d", t/1e9, t%1e9) }

// wallSlack bounds how much too large an offset from CLOCK_DATA may be, in nanoseconds. perf
// record reads the time of day in microseconds and then the other clock. It may be interrupted
// between the two (builtin-record.c, record__init_clock).
const wallSlack = int64(time.Millisecond)

// measured returns the clock with the offset that CLOCK_DATA gives for CLOCK_REALTIME. ok is
// false if there is none, or if a constraint contradicts it. A change of the time of day between
// the start of perf record and the dump would show: the bounds are often only milliseconds apart.
func (c *Constraints) measured() (clock report.Clock, ok bool) {
	if !c.epoch || c.rec.ClockData == nil {
		return report.Clock{}, false
	}
	offset := int64(c.rec.ClockData.Clock - c.rec.ClockData.Wall)
	if offset < c.lower || offset-wallSlack > c.upper || c.marker != 0 && c.early*maxEarly > c.samples || c.overruns {
		return report.Clock{}, false
	}
	low := max(c.lower, offset-wallSlack)
	return report.Clock{Kind: report.ClockRealtime, Offset: low, Error: offset - low}, true
}

// kind returns the summary's name for a clock that only constraints determine.
func (c *Constraints) kind() string {
	switch {
	case c.epoch:
		return report.ClockRealtime
	case c.recorded == monotonicClock:
		return report.ClockOther
	}
	return report.ClockEstimated
}
