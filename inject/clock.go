package inject

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/perfdata"
)

// A Clock says how the times of a dump became those of the recording.
type Clock struct {
	Kind string `json:"kind"` // one of the constants below

	// Offset is what was added to the dump's times, in nanoseconds. Estimated, it
	// is too small by no more than Error, -1 if nothing bounds that: functions come
	// a little early and never late. That is so when the dump was mapped; from
	// then on the two clocks may have drifted apart.
	Offset int64 `json:"offset"`
	Error  int64 `json:"error"`
}

// The kinds of clocks.
const (
	ClockMonotonic = "monotonic" // the recording's times are the dump's
	ClockTSC       = "tsc"       // the recording says how counts of the processor become its times
	ClockEstimated = "estimated" // the offset was found by evidence
	ClockRealtime  = "realtime"  // the dump's times are of CLOCK_REALTIME; the offset was found by evidence
	ClockGiven     = "given"     // by Options.Clock
	ClockStart     = "start"     // the dump has no times: functions are there from the start
	ClockNone      = "none"      // the times cannot be matched: functions are there from the start
)

// ValidClock reports whether mode can be Options.Clock.
func ValidClock(mode string) bool {
	_, _, err := givenOffset(mode)
	return err == nil
}

// givenOffset returns the offset that Options.Clock gives; ok is false for the
// modes that have none.
func givenOffset(mode string) (offset int64, ok bool, err error) {
	switch mode {
	case "", "auto", "strict":
		return 0, false, nil
	}
	offset, err = strconv.ParseInt(mode, 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("--clock %s: it can be auto, strict, or a number of nanoseconds", Printable(mode))
	}
	return offset, true, nil
}

// matchClock decides how the dump's times become the recording's. Where that takes
// evidence, it returns what there is, and the answer is not final before estimateClocks
// has collected the rest.
func (d *dump) matchClock(rec *recording, mode string) (*evidence, error) {
	if d.matchCaptures(rec, mode) {
		return nil, nil
	}
	clock, note, err := d.clockOf(rec)
	if err != nil {
		return nil, err
	}
	if d.assumed = note; clock == source.ArchClock {
		d.clock, d.match = rec.timeConv.Time, Clock{Kind: ClockTSC}
		return nil, nil
	}
	offset, given, err := givenOffset(mode)
	text := rec.clockError()
	if clock == source.RealtimeClock {
		text = "its times are of CLOCK_REALTIME (nanoseconds since 1970), and those of the recording of another clock"
	}
	switch {
	case err != nil:
		return nil, err
	case given:
		d.clock, d.match = shifted(offset), Clock{Kind: ClockGiven, Offset: offset, Error: -1}
	case text == "":
		d.clock, d.match = shifted(0), Clock{Kind: ClockMonotonic}
	case mode == "strict" && clock == source.RealtimeClock:
		return nil, advise(errors.New(text), adviceMonotonic)
	case mode == "strict":
		return nil, advise(errClock{text}, adviceClock)
	case len(d.source.Scanned().Events) == 0:
		d.clock, d.match = shifted(0), Clock{Kind: ClockNone, Error: -1}
	default:
		e := newEvidence(rec, d)
		if clock == source.RealtimeClock {
			e.since1970(rec)
		}
		d.clock = e.clock()
		return e, nil
	}
	return nil, nil
}

// errClock is a complaint about the recording, found while looking at a dump.
type errClock struct{ text string }

func (e errClock) Error() string { return e.text }

// shifted returns the clock that is ahead of the dump's by offset.
func shifted(offset int64) func(uint64) uint64 {
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

// estimateClocks looks through the recording for more evidence about the clocks of
// dumps, and decides.
func estimateClocks(ctx context.Context, rec *recording, pending []*evidence, opts *Options, sum *Summary) error {
	if len(pending) == 0 {
		return nil
	}
	of := make(map[uint32][]*evidence) // by process
	for _, e := range pending {
		of[e.dump.pid] = append(of[e.dump.pid], e)
	}
	for block, err := range rec.in.walk(ctx, PhaseSamples) {
		if err != nil {
			return err
		}
		for _, r := range block.Records() {
			switch r.Type {
			case perfdata.RecordSample:
				if s, ok := rec.layouts.Sample(r); ok {
					for _, e := range of[s.PID] {
						e.sample(s.Time, s.IP)
					}
				}
			case perfdata.RecordExit:
				if t, err := rec.layouts.Task(r); err == nil {
					for _, e := range of[t.PID] {
						e.exited(&t)
					}
				}
			}
		}
	}
	for _, e := range pending {
		e.ended()
		e.settle(sum)
		opts.logf(2, "%s: clock offset from %d ns to %d ns, losing %.0f ppm; %d samples in functions, %d too early",
			Printable(e.dump.path), e.low, e.high, e.drift*1e6, e.samples, e.early)
	}
	return nil
}

// settleEarly decides before there is evidence other than the marker: in a stream, what
// comes later is too late. Nil means that the clock is known.
func (e *evidence) settleEarly(sum *Summary) {
	if e == nil {
		return
	}
	d := e.dump
	if known, ok := e.measured(); ok {
		d.clock, d.match = shifted(known.Offset), known
	} else if e.marker == 0 || e.contradiction() != "" {
		e.settle(sum)
	} else {
		d.clock, d.match = e.clock(), Clock{Kind: e.kind(), Offset: e.low, Error: -1}
	}
}

// settle decides with the evidence at hand.
func (e *evidence) settle(sum *Summary) {
	d := e.dump
	if known, ok := e.measured(); ok {
		d.clock, d.match = shifted(known.Offset), known
		return
	}
	against := e.contradiction()
	switch {
	case against != "" || e.marker == 0:
		start := d.markers[0].time
		for _, m := range d.markers {
			start = min(start, m.time)
		}
		d.clock, d.match = func(uint64) uint64 { return start }, Clock{Kind: ClockNone, Error: -1}
	case e.counts == withSleep && !e.epoch && e.low <= 0 && e.width() >= 0 && e.width() <= maxWidth:
		// The machine has not slept: no sleep is as short as this.
		d.clock, d.match = shifted(0), Clock{Kind: ClockMonotonic}
		return
	default:
		d.clock, d.match = e.clock(), Clock{Kind: e.kind(), Offset: e.low, Error: e.width()}
		if e.width() >= 0 && e.width() <= maxWidth {
			return
		}
	}
	// What was at an address is told from the times where two functions were
	// there, and only there.
	d.leftOut = e.ambiguous
	var left string
	if n := len(d.leftOut); n > 0 {
		left = fmt.Sprintf("%d functions whose addresses were used more than once are left out; ", n)
	}
	advice := adviceClock
	if e.epoch {
		advice = adviceMonotonic
	}
	problem := func(format string, args ...any) {
		sum.problem(Problem{File: d.path, Offset: -1, Text: strings.TrimSuffix(fmt.Sprintf(format, args...), "; "), Advice: advice})
	}
	switch {
	case against != "" && e.epoch:
		problem("its times are of CLOCK_REALTIME (nanoseconds since 1970) and cannot be matched with those of the recording: %s; its functions are there from the start; %s", against, left)
	case left != "" && e.epoch:
		problem("its times are of CLOCK_REALTIME (nanoseconds since 1970) and can be matched only roughly with those of the recording; %s", left)
	case against != "":
		problem("its times cannot be matched with those of the recording, which was made without -k mono: %s; its functions are there from the start; %s", against, left)
	case left != "" && captureDump(d.source) != nil:
		problem("its times cannot be matched with those of the recording, which was made without -k mono; its functions are there from the start; %s", left)
	case left != "" && e.marker == 0:
		problem("its times cannot be matched with those of the recording, which was made without -k mono after process %d had mapped the dump; its functions are there from the start; %s", d.pid, left)
	case left != "":
		problem("its times can be matched only roughly with those of the recording, which was made without -k mono; %s", left)
	}
}
