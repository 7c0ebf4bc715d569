package xray

import (
	"fmt"
	"math"
	"time"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// The part of a process's life that its trace covers. The runtime has a fixed number of buffers.
// When all are full, it reuses the oldest ones without a notice.

// A life has the data of a trace's process from the recording.
type life struct {
	began, ended uint64 // of the process
	traced       uint64 // start of the trace
	threads      int    // of the process
	silent       int    // number of threads without anything in the trace
	forked       bool   // it has calls from its parent
}

// lifeOf returns the recorded data of a trace's process.
func lifeOf(s *recording.Recording, pid uint32, threads int, traced uint64, logged int) life {
	l := life{traced: traced, ended: s.Latest}
	p := s.Processes[pid]
	if p == nil {
		return l
	}
	if p.Exited > traced {
		l.ended = p.Exited
	}
	exec := s.ProcessTree.LastExec(pid, traced)
	b, born := s.ProcessTree.Fork(pid, traced)
	l.forked = born && b.Clones && b.Time > exec
	if l.began = max(exec, b.Time); l.began == 0 {
		l.began = p.Since
	}
	l.threads = threads
	l.silent = max(l.threads-logged, 0)
	return l
}

// late reports whether the trace begins so late in the process that something may be missing: after
// a hundredth of its life, and after more than the usual start-up time.
func (l *life) late() bool {
	return l.traced > l.began && l.ended > l.traced && l.traced-l.began > uint64(10*time.Millisecond) && l.traced-l.began > (l.ended-l.began)/100
}

// covered returns the part of the process that the trace covers, in words.
func (l *life) covered() string {
	ns := func(n uint64) time.Duration {
		return time.Duration(min(n, math.MaxInt64)).Round(100 * time.Microsecond)
	}
	return fmt.Sprintf("it covers the last %v of %v", ns(l.ended-l.traced), ns(l.ended-l.began))
}

// Report adds the trace's findings to the summary.
func (t *Trace) Report(c calls.Counts, s *report.TraceSummary, found *report.Findings) {
	s.XRay = &t.Summary
	for _, r := range t.Fixes() {
		t.Summary.Fixes = append(t.Summary.Fixes, report.Fix(r))
	}
	l := &t.life
	if l.late() {
		why := ""
		switch {
		case c.Unmatched > 0 && !l.forked:
			why = fmt.Sprintf("%d calls have no beginning in it", c.Unmatched)
			if c.Unmatched == 1 {
				why = "a call has no beginning in it"
			}
		case l.silent > 0 && !l.forked:
			why = fmt.Sprintf("%d of %d threads have nothing in it", l.silent, l.threads)
		}
		switch {
		case why != "":
			found.Problem(report.Problem{
				Code: report.ProblemCalls, File: t.Path(), Offset: -1, Text: fmt.Sprintf("its beginning is missing: %s, and %s; counts of calls are too low", l.covered(), why),
				Advice: "its buffers were overwritten, if the program was not patched late: record with more of them (buffer_max in XRAY_FDR_OPTIONS)",
			})
		case l.traced-l.began > (l.ended-l.began)/2:
			found.Note(fmt.Sprintf("%s: %s; if that is too little, record with a larger buffer_max in XRAY_FDR_OPTIONS", quote.Printable(t.Path()), l.covered()))
		}
	}
	if t.pairs >= fewPairs && t.short*100 <= t.pairs {
		found.Note(fmt.Sprintf("%s: no simple call is shorter than 5 us; was func_duration_threshold_us=0 in XRAY_FDR_OPTIONS forgotten? without it such calls are not logged", quote.Printable(t.Path())))
	}
}

// fewPairs is too few calls to judge what a runtime drops. A call with entry and exit in different
// buffers is never dropped, so some calls may be short.
const fewPairs = 10
