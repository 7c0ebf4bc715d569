package inject

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/perfdata"
)

// Programs that log their calls give a recording what sampling cannot: when every call
// ended, and how long it took. Such a log is a trace; its calls become samples of an
// event of their own, beside those that perf has taken.

// A trace is one that is put into the recording.
type trace struct {
	calls.Trace
	event  string              // the name of its event; as a rule the one that it wants
	clock  func(uint64) uint64 // from its times to the recording's
	number int                 // of its line in the summary
}

// Name returns the name of the event that its calls have in the result.
func (t *trace) Name() string { return t.event }

// openTraces opens the traces that opts name, and takes in those that are given. Those
// that cannot be used become problems. The caller closes the others.
func openTraces(ctx context.Context, rec *recording, dumps []*dump, code *codeFiles, given []calls.Trace, opts *Options, sum *Summary) ([]*trace, error) {
	var traces []*trace
	names := &traceNames{rec: rec}
	add := func(t calls.Trace, clock func(uint64) uint64, match Clock) {
		if !rec.hasTimes() {
			sum.problem(Problem{File: rec.in.path, Offset: -1, Text: "its samples have no times, so calls cannot be put between them", Advice: "record again with perf record -T -k mono"})
			t.Close()
			return
		}
		event, err := names.eventFor(ctx, t.PID(), t.Name())
		if err != nil {
			if errors.As(err, new(errCallsThere)) {
				sum.note(fmt.Sprintf("%s: %v; those in %s are not put in again", Printable(rec.in.path), err, Printable(t.Path())))
				rec.callsThere = true
			} else {
				sum.problem(problemOf(t.Path(), err, "give all traces at once, with the recording that perf record wrote"))
			}
			t.Close()
			return
		}
		traces = append(traces, &trace{t, event, clock, len(sum.Traces)})
		s := TraceSummary{PID: t.PID(), Path: t.Path(), Event: event, Clock: match, Command: rec.commOf(t.PID())}
		sum.Traces = append(sum.Traces, s)
		opts.logf(1, "%s: calls of process %d", Printable(t.Path()), t.PID())
	}
	for _, t := range given {
		clock, match, err := rec.traceClock(opts)
		if err != nil {
			sum.problem(problemOf(t.Path(), err, adviceClock))
			continue
		}
		add(t, clock, match)
	}
	err := monoTraces(ctx, rec, dumps, code, opts, sum, func(t *monoTrace, d *dump) { add(t, d.clock, d.match) })
	if err == nil {
		var xrays []*xray
		xrays, err = openXRays(ctx, rec, opts, sum)
		for _, x := range xrays {
			n := len(traces)
			add(x, x.clock, x.match)
			if len(traces) > n {
				sum.Traces[len(sum.Traces)-1].XRay = &x.summary
			}
		}
	}
	if err != nil {
		closeTraces(traces)
		return nil, err
	}
	return traces, nil
}

// hasTimes reports whether samples have times, if there are any.
func (s *recording) hasTimes() bool {
	return !slices.ContainsFunc(s.attrs, func(a perfdata.Attr) bool { return a.SampleType()&perfdata.FieldTime == 0 })
}

// eachCalled returns what calls a function for the functions that traces tell of.
func eachCalled(traces []*trace) eachCall {
	return func(ctx context.Context, wanted func(pid uint32) bool, f func(pid uint32, time, addr uint64)) error {
		for _, t := range traces {
			if !wanted(t.PID()) {
				continue
			}
			threads, err := t.Threads(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", Printable(t.Path()), err)
			}
			var step calls.Step
			for _, thread := range threads {
				for n := 1; thread.Next(&step) == nil; n++ {
					if step.Kind == calls.Enter {
						f(t.PID(), t.clock(step.Time), step.Function)
					}
					if n%(64<<10) == 0 && ctx.Err() != nil {
						return ctx.Err()
					}
				}
			}
		}
		return nil
	}
}

// traceClock returns how times in CLOCK_MONOTONIC become those of the recording, where
// nothing but the recording and the options says so.
func (s *recording) traceClock(opts *Options) (func(uint64) uint64, Clock, error) {
	offset, given, err := givenOffset(opts.Clock)
	switch text := s.clockError(); {
	case err != nil:
		return nil, Clock{}, err
	case given:
		return shifted(offset), Clock{Kind: ClockGiven, Offset: offset, Error: -1}, nil
	case text != "":
		return nil, Clock{}, advise(errClock{text}, adviceClock)
	}
	return shifted(0), Clock{Kind: ClockMonotonic}, nil
}

func closeTraces(traces []*trace) {
	for _, t := range traces {
		t.Close()
	}
}

// errTraceOnce refuses traces for a stream.
var errTraceOnce = advise(errors.New("calls are put in by their times, which takes a recording that can be read twice"), "record into a file")

// A TraceSummary is about one log of calls.
type TraceSummary struct {
	PID       uint32 `json:"pid"`
	Command   string `json:"command,omitempty"`
	Path      string `json:"path"`
	Event     string `json:"event"`           // the name of the event that its samples have
	Threads   int64  `json:"threads"`         // that logged anything
	Unknown   int    `json:"unknown_threads"` // of them, those with made-up numbers, because nobody knows their own
	Calls     int64  `json:"calls"`           // samples of the event
	Notes     int64  `json:"notes"`           // what the program said itself, in samples of another event
	Inferred  int64  `json:"inferred"`        // calls whose end follows from others, and is not logged
	Unmatched int64  `json:"unmatched"`       // ends of calls whose beginnings are not logged
	Gaps      int64  `json:"gaps"`            // places where a thread's log is missing
	Backward  int64  `json:"backward"`        // entries that were older than the one before
	TooDeep   int64  `json:"too_deep"`        // times that the calls in the middle of a stack were taken to have ended, because there were too many
	Cut       int64  `json:"cut"`             // callchains without the calls in the middle
	CutNotes  int64  `json:"cut_notes"`       // notes that lost their ends
	Traced    uint64 `json:"traced_ns"`       // the sum of exclusive times
	Early     int64  `json:"early"`           // samples before all that the recording has times of
	Late      int64  `json:"late"`            // and behind that
	Clock     Clock  `json:"clock"`

	XRay *XRaySummary `json:"xray,omitempty"` // what only traces of XRay have
}

// reportTrace puts into the summary what came of a trace.
func reportTrace(t *trace, c calls.Counts, errs []error, sum *Summary) {
	s := &sum.Traces[t.number]
	s.Threads, s.Calls, s.Notes, s.Inferred, s.Unmatched = c.Threads, c.Calls, c.Notes, c.Inferred, c.Unmatched
	s.Gaps, s.Backward, s.TooDeep, s.Traced = c.Gaps, c.Backward, c.TooDeep, c.Traced
	switch t := t.Trace.(type) {
	case *xray:
		t.report(c, sum)
	case *monoTrace:
		t.report(c.Deepest, sum)
	}
	for _, err := range errs {
		sum.problem(problemOf(t.Path(), err, "what came before is there; let the program end, and copy its log again"))
	}
	for _, p := range t.Problems() {
		sum.problem(Problem{File: t.Path(), Offset: p.Offset, Text: p.Text, Advice: p.Advice})
	}
	switch n := s.Calls + s.Notes; {
	case n > 0 && s.Early == n:
		sum.problem(Problem{File: t.Path(), Offset: -1, Text: "all of its calls came before the recording; is it of another run?", Advice: "name the log of the recorded one"})
	case n > 0 && s.Late == n:
		sum.problem(Problem{File: t.Path(), Offset: -1, Text: "all of its calls came after the recording; is it of another run?", Advice: "name the log of the recorded one"})
	}
}
