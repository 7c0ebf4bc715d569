package clock

import (
	"fmt"
	"time"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/report"
)

// A verdict says how far the times of a dump are the recording's.
type verdict int

const (
	sound     verdict = iota // functions are there at their times
	rough                    // the bounds of the offset are too far apart
	unmatched                // no offset is possible
	unbounded                // the dump was mapped before the recording: nothing bounds the offset
	untimed                  // it has no times
	unfitting                // its times fit no clock
)

// A result is what all constraints say about a dump. Its texts are made in [result.problems].
type result struct {
	verdict
	// why says what makes the times unmatched or unfitting.
	why string
	// mixed is the number of functions that share an address with others, and cannot be told from those.
	mixed int
	// apart is how far the times are from the process's life in the recording, in nanoseconds; 0 if
	// they are of it, or if that is not known. after says that they come after it.
	apart time.Duration
	after bool
}

// finish sets the clock from all constraints. Functions that cannot be told apart are left out, unless
// perf inject has them.
func (c *Constraints) finish() (r result) {
	r.verdict, r.why = c.assign()
	unclear := c.tied
	if r.verdict != sound {
		c.locate()
		unclear = c.ambiguous
	}
	if r.mixed = len(unclear); !c.isInjectable() && r.mixed > 0 {
		c.dump.LeftOut = unclear
	}
	if r.why == "" {
		r.apart, r.after = c.apart()
	}
	return r
}

// assign sets the clock from all constraints. why says what makes the times unmatched or unfitting.
func (c *Constraints) assign() (v verdict, why string) {
	if c.set {
		return sound, ""
	}
	d := c.dump
	against := c.contradiction()
	known, ok := c.measured()
	switch {
	case c.way == useNoTimes: // the clock is set
		return untimed, ""
	case c.way == useStart:
		return unfitting, c.unfit()
	case ok:
		d.Clock, d.Match = c.shifted(known.Offset), known
		return sound, ""
	case c.way == useAsRead && c.unit == 1 && against != "": // another clock explains it no better
		c.asRead()
		return sound, ""
	case against != "":
		c.start(report.ClockNone)
		return unmatched, against
	case c.marker == 0:
		c.start(report.ClockNone)
		return unbounded, ""
	case c.recorded == bootClock && !c.epoch && c.unit == 1 && c.lower <= 0 && c.width() >= 0 && c.width() <= maxWidth:
		// The machine has not slept: no sleep is as short as this.
		c.asRead()
		return sound, ""
	}
	d.Clock, d.Match = c.clock(), report.Clock{Kind: c.kind(), Offset: c.lower, Error: c.width()}
	if c.width() >= 0 && c.width() <= maxWidth {
		return sound, ""
	}
	return rough, ""
}

// apart returns how far the times are from the recording's, if they should be the recording's and none
// of them is from the life of the process. Otherwise it returns 0.
func (c *Constraints) apart() (apart time.Duration, after bool) {
	apart = time.Duration(max(c.lower, -c.lower))
	switch {
	case c.set || c.way >= useNoTimes || c.recorded != monotonicClock || c.epoch || c.marker == 0 || int64(apart) <= maxWidth:
		return 0, false
	case c.earliest > c.until:
		return apart, true
	case c.latest >= c.marker || apart <= time.Duration(clockSlack): // some producers take times before they map the dump
		return 0, false
	}
	return apart, false
}

// problems returns the problems with a dump's times in words.
func (r result) problems(c *Constraints) (problems []report.Problem) {
	add := func(advice, format string, args ...any) {
		problems = append(problems, report.Problem{Code: report.ProblemClock, File: c.dump.Path, Offset: -1, Text: fmt.Sprintf(format, args...), Advice: advice})
	}
	if text, advice := r.text(c); text != "" {
		add(advice, "%s", text)
	}
	if side := "before"; r.apart > 0 {
		if r.after {
			side = "after"
		}
		add("inject before the next run, or "+report.AdviceMonotonic, "its times are %.2f s %s those of the recording: they are of another clock, or it is the dump of another run", r.apart.Seconds(), side)
	}
	return problems
}

// text says how the times are used and what that does to functions at addresses that were used more
// than once, with advice. It is "" if nothing is lost.
func (r result) text(c *Constraints) (text, advice string) {
	if r.mixed == 0 && r.why == "" {
		return "", ""
	}
	const (
		realtime  = "its times are of CLOCK_REALTIME (nanoseconds since 1970) and "
		fromStart = "; its functions are used from the start of the recording"
	)
	advice, recorded := report.AdviceMonotonic, "those of the recording"
	if c.recorded != monotonicClock && !c.epoch && r.verdict < untimed && r.verdict != sound {
		advice, recorded = report.AdviceClock, "those of the recording, which was made without -k mono"
	}
	switch {
	case r.verdict == sound:
		text = fmt.Sprintf("its times are in units of %v, too long to tell its functions apart", time.Duration(c.unit))
	case r.verdict == untimed:
		text = "it has no times" + fromStart
	case r.verdict == unfitting:
		text = r.why + fromStart
	case c.epoch && r.verdict == unmatched:
		text = realtime + "cannot be matched with those of the recording: " + r.why + fromStart
	case c.epoch:
		text = realtime + "can be matched only roughly with those of the recording"
	case r.verdict == unmatched:
		text = "its times cannot be matched with " + recorded + ": " + r.why + fromStart
	case isPartlyTimed(c.dump):
		text = "its times cannot be matched with " + recorded + fromStart
	case r.verdict == unbounded:
		text = fmt.Sprintf("its times cannot be matched with those of the recording, which was made without -k mono after process %d had mapped the dump", c.dump.PID) + fromStart
	default:
		text = "its times can be matched only roughly with " + recorded
	}
	return text + r.loss(c), advice
}

// loss says what becomes of functions that share an address with others, as a clause. Never less is
// shown than perf inject shows.
func (r result) loss(c *Constraints) string {
	isStart := !c.dump.HasTimes()
	switch {
	case r.mixed == 0:
		return ""
	case !c.isInjectable():
		return fmt.Sprintf("; %d functions at addresses that were used more than once are left out", r.mixed)
	case isStart || r.verdict == sound:
		return fmt.Sprintf("; at addresses that were used more than once (%d functions), samples are shown in the last of them", r.mixed)
	}
	return fmt.Sprintf("; at addresses that were used more than once (%d functions), samples may be shown in a later function than theirs", r.mixed)
}

// isInjectable reports whether perf inject takes the recording: it has CLOCK_MONOTONIC, or TIME_CONV.
func (c *Constraints) isInjectable() bool {
	return c.recorded == monotonicClock || c.rec.TimeConv != nil
}

// asRead takes the dump's times for the recording's.
func (c *Constraints) asRead() {
	c.dump.Clock, c.dump.Match = orStart(c.dump, c.of), report.Clock{Kind: report.ClockMonotonic}
}

// shifted returns the clock that is ahead of the dump's by offset nanoseconds.
func (c *Constraints) shifted(offset int64) func(uint64) uint64 {
	at, read := Shifted(offset), c.reading
	return orStart(c.dump, func(t uint64) uint64 { return at(read.of(t)) })
}

// start has all functions of the dump from its mapping on.
func (c *Constraints) start(kind string) {
	at := mappedAt(c.dump)
	c.dump.Clock, c.dump.Match = func(uint64) uint64 { return at }, report.Clock{Kind: kind, Error: -1}
}

// orStart returns a clock that never is before the mapping of a jitdump, and at it for records without
// a time: a producer maps its dump before it writes to it. perf record reports the executable memory of
// a process after that, too, and those records would hide an earlier function.
func orStart(d *model.Dump, clock func(uint64) uint64) func(uint64) uint64 {
	if !d.Source.Traits().ClockUnsure {
		return clock
	}
	start := mappedAt(d)
	return func(t uint64) uint64 {
		if t == 0 {
			return start
		}
		return max(start, clock(t))
	}
}
