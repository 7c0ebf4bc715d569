package showxray

import (
	"context"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/runtime/xray"
	"github.com/jitinject/jitinject/internal/show/callstats"
)

// stats shows how often functions were called and how long that took, those with the
// largest sums first. Lengths are from entry to exit, calls of others included, as
// llvm-xray account counts them.
//
// Only calls that have an exit of their own count. Those that were left by an exception,
// or had not ended when the trace did, are counted as unfinished.
func (x *traceViewer) stats() error {
	var l callstats.Ledger
	unfinished := make(map[uint64]uint64)
	var total calls.Counts
	var fixes xrayfdr.Fixes
	f := &x.Opts.Filter
	var processes []*xray.Process
	if x.trace != nil {
		processes = x.trace.Processes
	}
	for _, p := range processes {
		if !f.MatchesPID(p.PID) {
			continue
		}
		trace := p.Trace(xray.Place{
			Path:     x.Path,
			Function: func(id uint32) (uint64, bool) { return uint64(id), true },
			Time:     func(count uint64) uint64 { return count },
		})
		threads, err := trace.Threads(context.Background())
		if err != nil {
			return err
		}
		for _, t := range threads {
			counts, err := x.thread(t, &l, unfinished)
			if err != nil {
				return err
			}
			total.Add(counts)
		}
		for _, problem := range trace.Problems() {
			x.Problem(problem.Offset, errorText(problem.Text))
		}
		found := trace.Fixed()
		fixes.Add(&found)
	}
	n := (&callstats.Table{
		Ledger: &l, Unfinished: unfinished, Unit: x.unit(), Length: x.length, Key: "function",
		Name: func(id uint64) string { return x.program.name(uint32(id)) },
	}).Show(x.Out)
	if f.ChoosesCalls() {
		total.Inferred = 0
		for _, n := range unfinished {
			total.Inferred += int64(n)
		}
		total.Calls = int64(l.Counted()) + total.Inferred
	}
	t := callstats.Total{
		Threads: int(total.Threads), Functions: n, Calls: total.Calls - total.Inferred, Unfinished: total.Inferred, Unmatched: total.Unmatched,
		Events: total.Notes, Gaps: total.Gaps, Backward: total.Backward, TooDeep: total.TooDeep, Refused: l.Refused,
	}
	if x.measured() {
		t.Clock = "measured by the buffers"
	}
	t.Show(x.Viewer)
	x.fixes(fixes)
	return nil
}

// errorText is an error that is nothing but its text.
type errorText string

func (e errorText) Error() string { return string(e) }

// thread takes in the calls of a thread.
func (x *traceViewer) thread(t calls.Thread, l *callstats.Ledger, unfinished map[uint64]uint64) (calls.Counts, error) {
	f := &x.Opts.Filter
	picky := f.ChoosesCalls()
	stack := calls.NewStack(t)
	var e calls.Event
	for {
		err := stack.Next(&e)
		if err == io.EOF {
			return stack.Counts(), nil
		}
		if err != nil {
			return stack.Counts(), err
		}
		if e.Kind == calls.Note {
			continue
		}
		function := e.Stack[len(e.Stack)-1]
		if picky && !(x.wantedFunction(uint32(function)) && f.MatchesTime(x.trace.Clock.Time(e.Time), true)) {
			continue
		}
		if !e.Inferred {
			l.Add(function, e.Inclusive, e.Exclusive)
		} else if len(unfinished) < callstats.MaxFunctions || unfinished[function] > 0 {
			unfinished[function]++
		}
	}
}

// unit returns the unit of lengths: nanoseconds, or counts of a clock with an unknown
// rate.
func (x *traceViewer) unit() string {
	if x.frequency() == 0 {
		return "ticks"
	}
	return "ns"
}

// measured reports whether the clock's rate is that of the buffers.
func (x *traceViewer) measured() bool { return x.trace != nil && x.trace.Clock.Measured }

// frequency is how often the clock counts in a second: what the header says, unless
// buffers show that it does not.
func (x *traceViewer) frequency() float64 {
	if x.measured() {
		return x.trace.Clock.Frequency
	}
	return float64(x.header.CycleFrequency)
}

// length makes nanoseconds of counts, rounded to thousandths.
func (x *traceViewer) length(ticks float64) float64 {
	if f := x.frequency(); f != 0 {
		return math.Round(ticks/f*1e12) / 1e3
	}
	return ticks
}
