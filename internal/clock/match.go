package clock

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
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
// constraints, and the clock is preliminary until [Estimate]. It fails if the clock cannot be
// converted, or not under mode.
func Match(d *model.Dump, rec *recording.Recording, mode string) (*Constraints, error) {
	if matchCaptures(d, rec, mode) {
		return nil, nil
	}
	clock, note, err := clockOf(d, rec)
	if err != nil {
		return nil, err
	}
	if d.Assumed = note; clock == source.ArchClock {
		d.Clock, d.Match = rec.TimeConv.Time, report.Clock{Kind: report.ClockTSC}
		return nil, nil
	}
	offset, given, err := GivenOffset(mode)
	text := rec.ClockError()
	if clock == source.RealtimeClock {
		text = "its times are of CLOCK_REALTIME (nanoseconds since 1970), and those of the recording of another clock"
	}
	switch {
	case err != nil:
		return nil, err
	case given:
		d.Clock, d.Match = Shifted(offset), report.Clock{Kind: report.ClockGiven, Offset: offset, Error: -1}
	case text == "":
		d.Clock, d.Match = Shifted(0), report.Clock{Kind: report.ClockMonotonic}
	case mode == "strict" && clock == source.RealtimeClock:
		return nil, report.Advise(errors.New(text), report.AdviceMonotonic)
	case mode == "strict":
		return nil, report.Advise(Unknown{text}, report.AdviceClock)
	case len(d.Source.Scanned().Events) == 0:
		d.Clock, d.Match = Shifted(0), report.Clock{Kind: report.ClockNone, Error: -1}
	default:
		e := newConstraints(rec, d)
		if clock == source.RealtimeClock {
			e.since1970(rec)
		}
		d.Clock = e.clock()
		return e, nil
	}
	return nil, nil
}

// An Unknown is an error of the recording, not of the dump that it was found with: its clock
// cannot be compared.
type Unknown struct{ text string }

// Error returns the fault.
func (e Unknown) Error() string { return e.text }

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
	if len(pending) == 0 {
		return nil
	}
	of := make(map[uint32][]*Constraints) // by process
	for _, e := range pending {
		of[e.dump.PID] = append(of[e.dump.PID], e)
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
	for _, e := range pending {
		e.ended()
		e.finish(found)
		opts.Logf(2, "%s: clock offset from %d ns to %d ns, losing %.0f ppm; %d samples in functions, %d too early",
			quote.Printable(e.dump.Path), e.low, e.high, e.drift*1e6, e.samples, e.early)
	}
	return nil
}

// FinishEarly sets the clock from the marker alone: in a stream, later constraints come too late.
// e is nil if the clock is known already.
func (e *Constraints) FinishEarly(found *report.Findings) {
	if e == nil {
		return
	}
	d := e.dump
	if known, ok := e.measured(); ok {
		d.Clock, d.Match = Shifted(known.Offset), known
	} else if e.marker == 0 || e.contradiction() != "" {
		e.finish(found)
	} else {
		d.Clock, d.Match = e.clock(), report.Clock{Kind: e.kind(), Offset: e.low, Error: -1}
	}
}

// finish sets the clock from all constraints, and adds findings about it.
func (e *Constraints) finish(found *report.Findings) {
	d := e.dump
	if known, ok := e.measured(); ok {
		d.Clock, d.Match = Shifted(known.Offset), known
		return
	}
	against := e.contradiction()
	switch {
	case against != "" || e.marker == 0:
		start := d.Markers[0].Time
		for _, m := range d.Markers {
			start = min(start, m.Time)
		}
		d.Clock, d.Match = func(uint64) uint64 { return start }, report.Clock{Kind: report.ClockNone, Error: -1}
	case e.counts == withSleep && !e.epoch && e.low <= 0 && e.width() >= 0 && e.width() <= maxWidth:
		// The machine has not slept: no sleep is as short as this.
		d.Clock, d.Match = Shifted(0), report.Clock{Kind: report.ClockMonotonic}
		return
	default:
		d.Clock, d.Match = e.clock(), report.Clock{Kind: e.kind(), Offset: e.low, Error: e.width()}
		if e.width() >= 0 && e.width() <= maxWidth {
			return
		}
	}
	// Times matter only for addresses that held more than one function.
	d.LeftOut = e.ambiguous
	var left string
	if n := len(d.LeftOut); n > 0 {
		left = fmt.Sprintf("%d functions at addresses that were used more than once are left out; ", n)
	}
	advice := report.AdviceClock
	if e.epoch {
		advice = report.AdviceMonotonic
	}
	problem := func(format string, args ...any) {
		found.Problem(report.Problem{File: d.Path, Offset: -1, Text: strings.TrimSuffix(fmt.Sprintf(format, args...), "; "), Advice: advice})
	}
	switch {
	case against != "" && e.epoch:
		problem("its times are of CLOCK_REALTIME (nanoseconds since 1970) and cannot be matched with those of the recording: %s; its functions are used from the start of the recording; %s", against, left)
	case left != "" && e.epoch:
		problem("its times are of CLOCK_REALTIME (nanoseconds since 1970) and can be matched only roughly with those of the recording; %s", left)
	case against != "":
		problem("its times cannot be matched with those of the recording, which was made without -k mono: %s; its functions are used from the start of the recording; %s", against, left)
	case left != "" && isPartlyTimed(d):
		problem("its times cannot be matched with those of the recording, which was made without -k mono; its functions are used from the start of the recording; %s", left)
	case left != "" && e.marker == 0:
		problem("its times cannot be matched with those of the recording, which was made without -k mono after process %d had mapped the dump; its functions are used from the start of the recording; %s", d.PID, left)
	case left != "":
		problem("its times can be matched only roughly with those of the recording, which was made without -k mono; %s", left)
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
