package clock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/perfdata"
)

// ValidClock reports whether mode can be Options.Clock.
func ValidClock(mode string) bool {
	_, _, err := GivenOffset(mode)
	return err == nil
}

// GivenOffset returns the offset that Options.Clock gives, in nanoseconds. ok is false for the
// modes without one.
func GivenOffset(mode string) (offset int64, ok bool, err error) {
	switch mode {
	case "", "auto", "strict":
		return 0, false, nil
	}
	offset, err = strconv.ParseInt(mode, 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("%s: invalid value; use auto, strict, or a number of nanoseconds", report.MentionedPath("Clock", mode))
	}
	return offset, true, nil
}

// Match sets the dump's clock and how it was found. Where samples are needed for that, it returns
// constraints, and the clock is preliminary until [Estimate]. Times of no clock are no error: then
// functions are there from the start. It fails if mode forbids what is needed.
func Match(d *model.Dump, rec *recording.Recording, mode string) (*Constraints, error) {
	if matchCaptures(d, rec, mode) {
		return nil, nil
	}
	offset, given, err := GivenOffset(mode)
	if err != nil {
		return nil, err
	}
	claimed, err := d.Source.Clock()
	if err != nil {
		return nil, err
	}
	text := rec.ClockError()
	r := reading{nanoseconds: nanoseconds{unit: 1}} // if the format is sure of its clock
	if text != "" {
		r.way = useOffset
	}
	empty := len(d.Source.Scanned().Events) == 0
	if d.Source.Traits().ClockUnsure && !empty {
		r = evidenceOf(d, rec, claimed, FirstTime(d)).decide()
	}
	d.Assumed = r.assumed(rec, claimed)
	e := newConstraints(rec, d, r)
	switch asRead := orStart(d, r.of); {
	case r.way == useNoTimes:
		e.start(report.ClockStart)
		return e, nil
	case r.way == useAsRead && r.unit == 0:
		d.Clock, d.Match = asRead, report.Clock{Kind: report.ClockTSC}
	case given:
		shifted := Shifted(offset)
		d.Clock, d.Match = orStart(d, func(t uint64) uint64 { return shifted(r.of(t)) }), report.Clock{Kind: report.ClockGiven, Offset: offset, Error: -1}
	case r.way == useAsRead && (mode == "strict" || !r.before && !e.precedes(rec)):
		d.Clock, d.Match = asRead, report.Clock{Kind: report.ClockMonotonic}
	case mode == "strict" && r.epoch:
		return nil, report.Advise(errors.New(realtimeText), report.AdviceMonotonic)
	case mode == "strict" && text == "":
		return nil, report.Advise(errors.New(e.unfit(rec)), report.AdviceMonotonic)
	case mode == "strict":
		return nil, report.Advise(Unknown{text}, report.AdviceClock)
	case empty:
		d.Clock, d.Match = Shifted(0), report.Clock{Kind: report.ClockNone, Error: -1}
	case r.way == useStart:
		e.unfitting = e.unfit(rec)
		e.start(report.ClockNone)
		return e, nil
	default:
		for _, n := range r.others {
			o := r
			o.nanoseconds = n
			e.rivals = append(e.rivals, newConstraints(rec, d, o))
		}
		d.Clock = e.clock()
		return e, nil
	}
	if len(e.tied) > 0 {
		e.set = true
		return e, nil
	}
	return nil, nil
}

const realtimeText = "its times are of CLOCK_REALTIME (nanoseconds since 1970), and those of the recording of another clock"

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

// start has all functions of the dump from its mapping on.
func (c *Constraints) start(kind string) {
	at := mappedAt(c.dump)
	c.dump.Clock, c.dump.Match = func(uint64) uint64 { return at }, report.Clock{Kind: kind, Error: -1}
}

// unfit says that the dump's times fit no clock of the recording.
func (c *Constraints) unfit(rec *recording.Recording) string {
	return fmt.Sprintf("its first time, %s s if it counts nanoseconds, fits no clock of its process, which mapped it at %s s", Seconds(FirstTime(c.dump)), Seconds(mappedAt(c.dump)))
}

// An Unknown is an error of the recording, not of the dump that it was found with: its clock
// cannot be compared.
type Unknown struct{ text string }

// Error returns the fault.
func (u Unknown) Error() string { return u.text }

// Shifted returns the clock that is ahead of the dump's by offset nanoseconds. Times that would
// be negative become 0. Those above the highest time become that.
func Shifted(offset int64) func(uint64) uint64 {
	return func(t uint64) uint64 {
		sum := t + uint64(offset)
		switch {
		case offset < 0 && sum > t:
			return 0
		case offset > 0 && sum < t:
			return math.MaxUint64
		}
		return sum
	}
}

// Estimate sets the clocks of the pending dumps from the samples of the recording, and adds
// findings about them. Errors are ctx's or those of reading.
func Estimate(ctx context.Context, rec *recording.Recording, pending []*Constraints, opts *config.Options, found *report.Findings) error {
	of := make(map[uint32][]*Constraints) // by process
	for _, e := range pending {
		if e.way < useNoTimes && !e.set {
			of[e.dump.PID] = append(append(of[e.dump.PID], e), e.rivals...)
		}
	}
	if err := constrain(ctx, rec, of); err != nil {
		return err
	}
	for _, e := range pending {
		e = e.likeliest()
		e.finish(found)
		opts.Logf(2, "%s: clock offset from %d ns to %d ns, losing %.0f ppm; %d samples in functions, %d too early",
			quote.Printable(e.dump.Path), e.low, e.high, e.drift*1e6, e.samples, e.early)
	}
	return nil
}

// constrain adds the constraints of all samples and ends of processes. The error is ctx's, or of
// reading.
func constrain(ctx context.Context, rec *recording.Recording, of map[uint32][]*Constraints) error {
	if len(of) == 0 {
		return nil
	}
	for block, err := range rec.In.Walk(ctx, report.PhaseSamples) {
		if err != nil {
			return err
		}
		for _, r := range block.Records() {
			switch r.Type {
			case perfdata.RecordSample:
				if s, ok := rec.Layouts.SampleHead(r); ok && s.Time != perfdata.NoTime {
					for _, e := range of[s.PID] {
						e.sample(s.Time, s.IP)
					}
				}
			case perfdata.RecordExit:
				if t, err := rec.Layouts.Task(r); err == nil {
					for _, e := range of[t.PID] {
						e.exited(&t)
					}
				}
			}
		}
	}
	for _, list := range of {
		for _, e := range list {
			e.ended(rec.Latest)
		}
	}
	return nil
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

// finish sets the clock from all constraints, and adds findings about it.
func (c *Constraints) finish(found *report.Findings) {
	against, sound := c.assign()
	if sound {
		c.reportTied(found)
	} else {
		c.report(against, found)
	}
	if against == "" {
		c.reportApart(found)
	}
}

// assign sets the clock from all constraints. sound says that functions are there at their times;
// otherwise, against is why the times cannot be used, or "".
func (c *Constraints) assign() (against string, sound bool) {
	if c.set {
		return "", true
	}
	d := c.dump
	against = c.contradiction()
	known, ok := c.measured()
	switch {
	case c.way >= useNoTimes: // that is done
		return c.unfitting, false
	case ok:
		d.Clock, d.Match = c.shifted(known.Offset), known
		return "", true
	case c.way == useAsRead && c.unit == 1 && against != "": // another clock explains it no better
		c.asRead()
		return "", true
	case against != "" || c.marker == 0:
		c.start(report.ClockNone)
		return against, false
	case c.recorded == bootClock && !c.epoch && c.unit == 1 && c.low <= 0 && c.width() >= 0 && c.width() <= maxWidth:
		// The machine has not slept: no sleep is as short as this.
		c.asRead()
		return "", true
	}
	d.Clock, d.Match = c.clock(), report.Clock{Kind: c.kind(), Offset: c.low, Error: c.width()}
	return "", c.width() >= 0 && c.width() <= maxWidth
}

// reportTied adds a problem if the unit of the times is too long for some functions at one place.
func (c *Constraints) reportTied(found *report.Findings) {
	if len(c.tied) == 0 {
		return
	}
	shown := fmt.Sprintf("at addresses that were used more than once (%d functions), samples are shown in the last of them", len(c.tied))
	if !c.injectable {
		c.dump.LeftOut = c.tied
		shown = fmt.Sprintf("%d functions at addresses that were used more than once are left out", len(c.tied))
	}
	found.Problem(report.Problem{Code: report.ProblemClock, File: c.dump.Path, Offset: -1, Advice: report.AdviceMonotonic,
		Text: fmt.Sprintf("its times are in units of %v, too long to tell its functions apart; %s", time.Duration(c.unit), shown)})
}

// reportApart adds a problem if the times should be the recording's, and none of them is from the life
// of the process. Then they may be of another clock, or the dump of another run.
func (c *Constraints) reportApart(found *report.Findings) {
	apart := max(c.low, -c.low)
	if c.set || c.way >= useNoTimes || c.recorded != monotonicClock || c.epoch || c.marker == 0 || apart <= maxWidth {
		return
	}
	side := "before"
	switch {
	case c.first > c.until:
		side = "after"
	case c.last >= c.marker || apart <= int64(clockSlack): // some producers take times before they map the dump
		return
	}
	found.Problem(report.Problem{Code: report.ProblemClock, File: c.dump.Path, Offset: -1, Advice: "inject before the next run, or " + report.AdviceMonotonic,
		Text: fmt.Sprintf("its times are %.2f s %s those of the recording: they are of another clock, or it is the dump of another run", time.Duration(apart).Seconds(), side)})
}

// report adds findings about functions without times, or with times that are too rough. against is
// why the times cannot be used, or "".
func (c *Constraints) report(against string, found *report.Findings) {
	// Times matter only for addresses that held more than one function.
	var left string
	isStart := c.dump.Match.Kind == report.ClockNone || c.dump.Match.Kind == report.ClockStart
	switch {
	case len(c.ambiguous) == 0, c.injectable && c.shared == 0:
	case c.injectable && isStart: // never less than perf inject shows
		left = fmt.Sprintf("at addresses that were used more than once (%d functions), samples are shown in the last of them; ", c.shared)
	case c.injectable:
		left = fmt.Sprintf("at addresses that were used more than once (%d functions), samples may be shown in a later function than theirs; ", c.shared)
	default:
		c.dump.LeftOut = c.ambiguous
		left = fmt.Sprintf("%d functions at addresses that were used more than once are left out; ", len(c.ambiguous))
	}
	made, advice := ", which was made without -k mono", report.AdviceClock
	if c.recorded == monotonicClock {
		made, advice = "", report.AdviceMonotonic
	}
	const fromStart = "its functions are used from the start of the recording"
	problem := func(format string, args ...any) {
		found.Problem(report.Problem{Code: report.ProblemClock, File: c.dump.Path, Offset: -1, Text: strings.TrimSuffix(fmt.Sprintf(format, args...), "; "), Advice: advice})
	}
	switch {
	case c.way == useNoTimes && left != "":
		advice = report.AdviceMonotonic
		problem("it has no times; %s; %s", fromStart, left)
	case c.way == useNoTimes: // the summary says so
	case c.way == useStart:
		advice = report.AdviceMonotonic
		problem("%s; %s; %s", against, fromStart, left)
	case c.epoch && against != "":
		advice = report.AdviceMonotonic
		problem("its times are of CLOCK_REALTIME (nanoseconds since 1970) and cannot be matched with those of the recording: %s; %s; %s", against, fromStart, left)
	case c.epoch && left != "":
		advice = report.AdviceMonotonic
		problem("its times are of CLOCK_REALTIME (nanoseconds since 1970) and can be matched only roughly with those of the recording; %s", left)
	case against != "":
		problem("its times cannot be matched with those of the recording%s: %s; %s; %s", made, against, fromStart, left)
	case left != "" && isPartlyTimed(c.dump):
		problem("its times cannot be matched with those of the recording%s; %s; %s", made, fromStart, left)
	case left != "" && c.marker == 0:
		problem("its times cannot be matched with those of the recording, which was made without -k mono after process %d had mapped the dump; %s; %s", c.dump.PID, fromStart, left)
	case left != "":
		problem("its times can be matched only roughly with those of the recording%s; %s", made, left)
	}
}

// TraceClock returns the conversion of times in CLOCK_MONOTONIC into those of the recording. Only
// the recording and the options determine it. It fails if they do not.
func TraceClock(s *recording.Recording, opts *config.Options) (func(uint64) uint64, report.Clock, error) {
	offset, given, err := GivenOffset(opts.Clock)
	switch text := s.ClockError(); {
	case err != nil:
		return nil, report.Clock{}, err
	case given:
		return Shifted(offset), report.Clock{Kind: report.ClockGiven, Offset: offset, Error: -1}, nil
	case text != "":
		return nil, report.Clock{}, report.Advise(Unknown{text}, report.AdviceClock)
	}
	return Shifted(0), report.Clock{Kind: report.ClockMonotonic}, nil
}
