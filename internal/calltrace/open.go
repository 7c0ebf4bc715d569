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
	"github.com/jitinject/jitinject/perfdata"
)

// Logs of calls show what sampling cannot: when every call ended, and how long it took. Such a
// log is a trace. Its calls become samples of an event of their own, beside those that perf has
// taken.

// A track is a trace that is put into the recording.
type track struct {
	calls.Trace
	event  string              // the name of its event in the result: the one that it wants, or else a free one
	clock  func(uint64) uint64 // converts its times into the recording's
	number int                 // index of its line in the summary
}

// Traces are the traces that are put into a recording.
type Traces struct {
	// Summaries are the summary's lines, one for each trace.
	Summaries []report.TraceSummary
	Found     report.Findings
	// Again says that the recording has calls of a trace already, from an earlier run.
	Again bool

	tracks []*track
}

// Len returns the number of traces.
func (traces *Traces) Len() int { return len(traces.tracks) }

// Close closes all traces.
func (traces *Traces) Close() {
	for _, track := range traces.tracks {
		track.Close()
	}
}

// An Opener opens the traces of a format: those that opts name, and those in dumps. It calls add
// for each, with the conversion of its times into the recording's and how that was found. Traces
// that cannot be used become problems in found. The error is ctx's, or of options that cannot be
// followed.
type Opener func(ctx context.Context, rec *recording.Recording, dumps []*model.Dump, code *codebytes.Files, opts *config.Options, found *report.Findings, add Add) error

// A Reporter is a trace with findings and numbers of its own.
type Reporter interface {
	// Report adds them to the trace's line of the summary and to the findings, when the trace was read
	// to its end.
	Report(c calls.Counts, s *report.TraceSummary, found *report.Findings)
}

// An Add adds a trace, or closes it if it is not used.
type Add = func(t calls.Trace, clock func(uint64) uint64, match report.Clock)

// Open opens the traces of all formats. They come after the given ones. The caller closes them.
// The error is that of an Opener.
func Open(ctx context.Context, rec *recording.Recording, dumps []*model.Dump, code *codebytes.Files, given []calls.Trace, formats []Opener, opts *config.Options) (*Traces, error) {
	traces := new(Traces)
	names := newTraceNames(rec)
	add := func(t calls.Trace, clock func(uint64) uint64, match report.Clock) {
		traces.add(ctx, names, t, clock, match, opts)
	}
	for _, t := range given {
		clock, match, err := clock.TraceClock(rec, opts)
		if err != nil {
			traces.Found.Problem(report.ProblemOf(t.Path(), err, report.AdviceClock))
			continue
		}
		add(t, clock, match)
	}
	for _, open := range formats {
		if err := open(ctx, rec, dumps, code, opts, &traces.Found, add); err != nil {
			traces.Close()
			return nil, err
		}
	}
	return traces, nil
}

// add adds a trace, or a finding that says why it is left out.
func (traces *Traces) add(ctx context.Context, names *traceNames, trace calls.Trace, clock func(uint64) uint64, match report.Clock, opts *config.Options) {
	rec := names.rec
	if !names.timed {
		traces.Found.Problem(report.Problem{Code: report.ProblemCalls, File: rec.In.Path, Offset: -1, Text: "its samples have no times, so calls cannot be added between them", Advice: "record again with perf record -T -k mono"})
		trace.Close()
		return
	}
	event, err := names.eventFor(ctx, trace.PID(), trace.Name())
	if err != nil {
		if errors.As(err, new(errCallsThere)) {
			traces.Found.Note(fmt.Sprintf("%s: %v; those in %s are not put in again", quote.Printable(rec.In.Path), err, quote.Printable(trace.Path())))
			traces.Again = true
		} else {
			traces.Found.Problem(report.ProblemOf(trace.Path(), err, "give all traces at once, with the recording that perf record wrote"))
		}
		trace.Close()
		return
	}
	traces.tracks = append(traces.tracks, &track{trace, event, clock, len(traces.Summaries)})
	traces.Summaries = append(traces.Summaries, report.TraceSummary{PID: trace.PID(), Path: trace.Path(), Event: event, Clock: match, Command: rec.CommOf(trace.PID())})
	opts.Logf(1, "%s: calls of process %d", quote.Printable(trace.Path()), trace.PID())
}

// hasTimes reports whether all samples have times.
func hasTimes(s *recording.Recording) bool {
	return !slices.ContainsFunc(s.Attrs, func(a perfdata.Attr) bool { return a.SampleType()&perfdata.FieldTime == 0 })
}

// EachCalled returns a function that calls f for every function that the traces have calls of.
func (traces *Traces) EachCalled() calls.Each {
	return func(ctx context.Context, wanted func(pid uint32) bool, f func(pid uint32, time, addr uint64)) error {
		for _, t := range traces.tracks {
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

// report completes the summary of a trace that was read to its end.
func (traces *Traces) report(t *track, c calls.Counts, errs []error) {
	s, found := &traces.Summaries[t.number], &traces.Found
	s.Threads, s.Calls, s.Notes, s.Inferred, s.Unmatched = c.Threads, c.Calls, c.Notes, c.Inferred, c.Unmatched
	s.Gaps, s.Backward, s.TooDeep, s.Traced = c.Gaps, c.Backward, c.TooDeep, c.Traced
	if r, ok := t.Trace.(Reporter); ok {
		r.Report(c, s, found)
	}
	for _, err := range errs {
		found.Problem(report.ProblemOf(t.Path(), err, "what came before is there; let the program end, and copy its log again"))
	}
	for _, p := range t.Problems() {
		found.Problem(report.Problem{Code: report.ProblemCalls, File: t.Path(), Offset: p.Offset, Text: p.Text, Advice: p.Advice})
	}
	switch n := s.Calls + s.Notes; {
	case n > 0 && s.Early == n:
		found.Problem(report.Problem{Code: report.ProblemUnused, File: t.Path(), Offset: -1, Text: "all of its calls came before the recording; is it of another run?", Advice: "name the log of the recorded one"})
	case n > 0 && s.Late == n:
		found.Problem(report.Problem{Code: report.ProblemUnused, File: t.Path(), Offset: -1, Text: "all of its calls came after the recording; is it of another run?", Advice: "name the log of the recorded one"})
	}
}
