package calltrace

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/runtime/xray"
	"github.com/jitinject/jitinject/perfdata"
)

// Programs that log their calls give a recording what sampling cannot: when every call
// ended, and how long it took. Such a log is a trace; its calls become samples of an
// event of their own, beside those that perf has taken.

// A Track is one that is put into the recording.
type Track struct {
	calls.Trace
	event  string              // the name of its event; as a rule the one that it wants
	clock  func(uint64) uint64 // from its times to the recording's
	number int                 // of its line in the summary
}

// Name returns the name of the event that its calls have in the result.
func (t *Track) Name() string { return t.event }

// Open opens the traces that opts name, and takes in those that are given. Those
// that cannot be used become problems. The caller closes the others.
func Open(ctx context.Context, rec *recording.Recording, dumps []*model.Dump, code *codebytes.Files, given []calls.Trace, opts *config.Options, sum *report.Summary) ([]*Track, error) {
	var traces []*Track
	names := &traceNames{rec: rec}
	add := func(t calls.Trace, clock func(uint64) uint64, match report.Clock) {
		if !hasTimes(rec) {
			sum.Problem(report.Problem{File: rec.In.Path, Offset: -1, Text: "its samples have no times, so calls cannot be put between them", Advice: "record again with perf record -T -k mono"})
			t.Close()
			return
		}
		event, err := names.eventFor(ctx, t.PID(), t.Name())
		if err != nil {
			if errors.As(err, new(errCallsThere)) {
				sum.Note(fmt.Sprintf("%s: %v; those in %s are not put in again", quote.Printable(rec.In.Path), err, quote.Printable(t.Path())))
				rec.CallsThere = true
			} else {
				sum.Problem(report.ProblemOf(t.Path(), err, "give all traces at once, with the recording that perf record wrote"))
			}
			t.Close()
			return
		}
		traces = append(traces, &Track{t, event, clock, len(sum.Traces)})
		s := report.TraceSummary{PID: t.PID(), Path: t.Path(), Event: event, Clock: match, Command: rec.CommOf(t.PID())}
		sum.Traces = append(sum.Traces, s)
		opts.Logf(1, "%s: calls of process %d", quote.Printable(t.Path()), t.PID())
	}
	for _, t := range given {
		clock, match, err := clock.TraceClock(rec, opts)
		if err != nil {
			sum.Problem(report.ProblemOf(t.Path(), err, report.AdviceClock))
			continue
		}
		add(t, clock, match)
	}
	err := mono.Traces(ctx, rec, dumps, code, opts, sum, func(t *mono.Trace, d *model.Dump) { add(t, d.Clock, d.Match) })
	if err == nil {
		var xrays []*xray.Trace
		xrays, err = xray.Open(ctx, rec, opts, sum)
		for _, x := range xrays {
			n := len(traces)
			add(x, x.Clock, x.Match)
			if len(traces) > n {
				sum.Traces[len(sum.Traces)-1].XRay = &x.Summary
			}
		}
	}
	if err != nil {
		Close(traces)
		return nil, err
	}
	return traces, nil
}

// hasTimes reports whether samples have times, if there are any.
func hasTimes(s *recording.Recording) bool {
	return !slices.ContainsFunc(s.Attrs, func(a perfdata.Attr) bool { return a.SampleType()&perfdata.FieldTime == 0 })
}

// EachCalled returns what calls a function for the functions that traces tell of.
func EachCalled(traces []*Track) calls.Each {
	return func(ctx context.Context, wanted func(pid uint32) bool, f func(pid uint32, time, addr uint64)) error {
		for _, t := range traces {
			if !wanted(t.PID()) {
				continue
			}
			threads, err := t.Threads(ctx)
			if err != nil {
				return fmt.Errorf("%s: %w", quote.Printable(t.Path()), err)
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

func Close(traces []*Track) {
	for _, t := range traces {
		t.Close()
	}
}

// ErrTraceOnce refuses traces for a stream.
var ErrTraceOnce = report.Advise(errors.New("calls are put in by their times, which takes a recording that can be read twice"), "record into a file")

// reportTrace puts into the summary what came of a trace.
func reportTrace(t *Track, c calls.Counts, errs []error, sum *report.Summary) {
	s := &sum.Traces[t.number]
	s.Threads, s.Calls, s.Notes, s.Inferred, s.Unmatched = c.Threads, c.Calls, c.Notes, c.Inferred, c.Unmatched
	s.Gaps, s.Backward, s.TooDeep, s.Traced = c.Gaps, c.Backward, c.TooDeep, c.Traced
	switch t := t.Trace.(type) {
	case *xray.Trace:
		t.Report(c, sum)
	case *mono.Trace:
		t.Report(c.Deepest, sum)
	}
	for _, err := range errs {
		sum.Problem(report.ProblemOf(t.Path(), err, "what came before is there; let the program end, and copy its log again"))
	}
	for _, p := range t.Problems() {
		sum.Problem(report.Problem{File: t.Path(), Offset: p.Offset, Text: p.Text, Advice: p.Advice})
	}
	switch n := s.Calls + s.Notes; {
	case n > 0 && s.Early == n:
		sum.Problem(report.Problem{File: t.Path(), Offset: -1, Text: "all of its calls came before the recording; is it of another run?", Advice: "name the log of the recorded one"})
	case n > 0 && s.Late == n:
		sum.Problem(report.Problem{File: t.Path(), Offset: -1, Text: "all of its calls came after the recording; is it of another run?", Advice: "name the log of the recorded one"})
	}
}
