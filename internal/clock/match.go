package clock

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/jitinject/jitinject/internal/config"
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

// Match sets the dump's clock and how it was found. Where samples are needed for that, or where
// something is to be said about the times, it returns constraints, and the clock is preliminary until
// [Estimate]. Times of no clock are no error: then functions are there from the start. It fails if mode
// forbids what is needed.
func (r *Reading) Match(mode string) (*Constraints, error) {
	d := r.dump
	if matchCaptures(d, r.rec, mode) {
		return nil, nil
	}
	if err := r.Forbidden(mode); err != nil {
		return nil, err
	}
	offset, given, err := GivenOffset(mode)
	if err != nil {
		return nil, err
	}
	d.Assumed = r.assumed()
	c := newConstraints(*r)
	switch {
	case r.way == useNoTimes:
		c.start(report.ClockStart)
		return c, nil
	case r.way == useAsRead && r.unit == 0:
		c.asRead()
		d.Match.Kind = report.ClockTSC
	case given:
		d.Clock, d.Match = c.shifted(offset), report.Clock{Kind: report.ClockGiven, Offset: offset, Error: -1}
	case r.way == useAsRead && (mode == "strict" || !r.before && !c.precedes()):
		c.asRead()
	case r.isEmpty():
		d.Clock, d.Match = Shifted(0), report.Clock{Kind: report.ClockNone, Error: -1}
	case r.way == useStart:
		c.start(report.ClockNone)
		return c, nil
	default:
		for _, n := range r.others {
			rival := *r
			rival.nanoseconds = n
			c.rivals = append(c.rivals, newConstraints(rival))
		}
		d.Clock = c.clock()
		return c, nil
	}
	if len(c.tied) > 0 {
		c.set = true
		return c, nil
	}
	return nil, nil
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
	for _, c := range pending {
		if c.way < useNoTimes && !c.set {
			for pid := range c.writers {
				of[pid] = append(append(of[pid], c), c.rivals...)
			}
		}
	}
	if err := constrain(ctx, rec, of); err != nil {
		return err
	}
	for _, c := range pending {
		c = c.likeliest()
		for _, p := range c.finish().problems(c) {
			found.Problem(p)
		}
		opts.Logf(2, "%s: clock offset from %d ns to %d ns, losing %.0f ppm; %d samples in functions, %d too early",
			quote.Printable(c.dump.Path), c.lower, c.upper, c.drift*1e6, c.samples, c.early)
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
					for _, c := range of[s.PID] {
						c.sample(s.PID, s.Time, s.IP)
					}
				}
			case perfdata.RecordExit:
				if t, err := rec.Layouts.Task(r); err == nil {
					for _, c := range of[t.PID] {
						c.writers[t.PID].exited(&t)
					}
				}
			}
		}
	}
	for pid, list := range of {
		for _, c := range list {
			if pid == c.dump.PID {
				c.ended(rec.Latest)
			}
		}
	}
	return nil
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
