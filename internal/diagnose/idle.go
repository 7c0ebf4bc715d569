package diagnose

import (
	"fmt"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/clock"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/count"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// Idle reports the processes with memory in code that had no code registered for debuggers when that
// was read. Samples in JIT memory that no dump covers make it a problem: the user named the process for
// them. t is the sample counter, or nil. Then the number of these samples is unknown, and all are notes.
func Idle(rec *recording.Recording, code *codebytes.Files, t *count.Counter) (found report.Findings) {
	for _, f := range idle(code) {
		pid, when := f.Idle(), "now"
		if f.Core != nil {
			when = "when the core dump was made"
		}
		samples := int64(0)
		if t != nil && t.Processes[pid] != nil && rec.HasFiles(pid) {
			samples = t.Processes[pid].Unattributed
		}
		switch {
		case samples > 0:
			found.Problem(report.Problem{Code: report.ProblemNoCode, File: f.Path, Offset: -1,
				Text:   fmt.Sprintf("process %d had no code registered for debuggers %s, and %s of it lie in executable memory without a file: programs free code after its last use", pid, when, words.Count(samples, "sample")),
				Advice: adviceRegistered})
		case t == nil:
			found.Note(fmt.Sprintf("%s: process %d had no code registered for debuggers %s; its samples were not counted", quote.Printable(f.Path), pid, when))
		default:
			found.Note(fmt.Sprintf("%s: process %d had no code registered for debuggers %s; none is missing: no sample of it lies in executable memory without a file or a dump", quote.Printable(f.Path), pid, when))
		}
	}
	return found
}

// idle returns the memories of processes without registered code. code may be nil.
func idle(code *codebytes.Files) (files []*codebytes.File) {
	if code == nil {
		return nil
	}
	for _, f := range code.Files {
		if f.Idle() != 0 {
			files = append(files, f)
		}
	}
	return files
}

// isIdle reports whether a process had no registered code.
func isIdle(code *codebytes.Files, pid uint32) bool {
	return slices.ContainsFunc(idle(code), func(f *codebytes.File) bool { return f.Idle() == pid })
}

// Unresolved returns problems for dumps without a sample in any of their functions, although
// samples are in JIT memory of their processes. The problems name the likely cause. t is the
// sample counter, lines have its counts, and input is the path of the recording.
func Unresolved(rec *recording.Recording, dumps []*model.Dump, lines []report.DumpSummary, t *count.Counter, input string) (found report.Findings) {
	for _, d := range dumps {
		s := &lines[d.Number]
		registered := d.Source.Traits().Registered
		least := int64(recording.FewUnattributed)
		if registered && !slices.ContainsFunc(dumps, func(o *model.Dump) bool { return o != d && o.PID == d.PID }) {
			least = 1 // nothing else names the code of the process
		}
		if s.Samples == nil || s.Samples.Resolved > 0 || s.Samples.InJIT < least ||
			// those have problems of their own
			s.Cut >= 0 || s.Nowhere > 0 || len(d.LeftOut) > 0 || t.LacksAny(d.Number) {
			continue
		}
		if registered {
			found.Problem(report.Problem{Code: report.ProblemUnnamed, File: d.Path, Offset: -1,
				Text:   fmt.Sprintf("process %d has %s in JIT memory, and none in a function that it had registered for debuggers when its memory was read: it had removed that code, or never registered it", d.PID, words.Count(s.Samples.InJIT, "sample")),
				Advice: adviceRegistered})
			continue
		}
		advice := report.AdviceVerify(input, d.Path)
		if d.Source.Traits().Unchecked {
			advice = report.AdviceOtherRun
		}
		found.Problem(report.Problem{Code: report.ProblemUnnamed, File: d.Path, Offset: -1,
			Text:   fmt.Sprintf("none of the %s of process %d in JIT memory are in its functions: %s", words.Count(s.Samples.InJIT, "sample"), d.PID, whyUnresolved(d, rec)),
			Advice: advice})
	}
	return found
}

// adviceRegistered says how code is named that a process has registered for a while only.
const adviceRegistered = "read the memory, or make a core dump (gcore PID), while the code is in use (PostgreSQL: while the query runs); or have the program write a jitdump (PostgreSQL: jit_profiling_support = on)"

// whyUnresolved returns why samples are in none of the dump's functions.
func whyUnresolved(d *model.Dump, rec *recording.Recording) string {
	first, last := uint64(math.MaxUint64), uint64(0)
	events := d.Source.Scanned().Events
	for i := range events {
		t := d.Clock(events[i].Time)
		first, last = min(first, t), max(last, t)
	}
	switch {
	case len(events) == 0:
		return "it has none"
	case first > rec.Latest:
		return fmt.Sprintf("they are loaded from %s s to %s s, and the recording ends at %s s; their times are of another clock or unit, or it is another run's dump",
			clock.Seconds(first), clock.Seconds(last), clock.Seconds(rec.Latest))
	}
	return "they lie elsewhere, or were loaded later; it may be another run's dump"
}
