package xray

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// logFixes describes the fixes in a trace, except for skipped meaningless bytes.
var logFixes = []struct {
	kind       xrayfdr.Fix
	name, text string
}{
	{xrayfdr.CarriedTSC, "uncounted-buffers", "buffers without a count of their own (LLVM 5) go on from their thread's one before"},
	{xrayfdr.LostTSC, "lost-counts", "buffers without a count of their own, and without one before, begin at the time in their header"},
	{xrayfdr.CutRecord, "cut-records", "the last record of a buffer was not whole, and is left out"},
	{xrayfdr.TypedExtents, "short-buffers", "buffers with typed events are written too short (LLVM 14); their last records are missing"},
	{xrayfdr.WrongExtents, "wrong-extents", "buffers end before they say so, as the next one begins there"},
	{xrayfdr.Searched, "lost-buffers", "buffers did not begin at the end of the buffer before, and were searched for"},
}

// Fixes returns the fixes in the buffers that were read.
func (t *LogTrace) Fixes() (fixes []source.Fix) {
	for _, r := range logFixes {
		if n := t.fixes[r.kind]; n > 0 {
			fixes = append(fixes, source.Fix{Name: r.name, Count: int64(n), Text: r.text})
		}
	}
	return fixes
}

// Fixed returns the counts of all fixes in the buffers that were read.
func (t *LogTrace) Fixed() xrayfdr.Fixes { return t.fixes }

// Problems returns the faults of the buffers that were read.
func (t *LogTrace) Problems() []calls.Problem {
	problems := slices.Clone(t.problems)
	if n := t.fixes[xrayfdr.CutFile]; n > 0 {
		problems = append(problems, calls.Problem{Offset: -1, Text: "it ends inside a buffer; later records are missing", Advice: "let the program end, and copy its trace again"})
	}
	if n := t.fixes[xrayfdr.LostTSC]; n > 0 {
		problems = append(problems, calls.Problem{
			Offset: -1, Text: fmt.Sprintf("%d of its buffers do not say when they begin, and those before them are gone; their times are right to some microseconds only", n),
			Advice: "have the runtime keep more buffers (buffer_max)",
		})
	}
	if t.missing > 0 {
		problems = append(problems, calls.Problem{
			Offset: -1, Text: fmt.Sprintf("%d bytes at the ends of buffers with typed events were not written: up to %d records, without which some calls seem to end late or to be missing", t.missing, t.missing/8),
			Advice: "have the program log such events with __xray_customevent, or build it with a newer LLVM",
		})
	}
	if t.more > 0 {
		problems = append(problems, calls.Problem{Offset: -1, Text: fmt.Sprintf("%d more of its buffers are damaged", t.more)})
	}
	if len(t.unknown) > 0 {
		n, least, most := t.others, uint32(1<<32-1), uint32(0)
		for id, count := range t.unknown {
			n += count
			least, most = min(least, id), max(most, id)
		}
		text := fmt.Sprintf("%d calls of functions that the program does not have (numbers %d to %d) are left out", n, least, most)
		if n == 1 {
			text = fmt.Sprintf("1 call of function %d, which the program does not have, is left out", least)
		}
		advice := "name the program that wrote the trace, of the same build, with " + report.Mentioned("Programs", "FILE")
		if least >= sharedFunctions {
			text = fmt.Sprintf("%d calls of functions in shared objects (numbers %#x to %#x) are left out: the trace does not say which objects they are", n, least, most)
			advice = "link what is traced into the program, or build the libraries without -fxray-shared"
		}
		problems = append(problems, calls.Problem{Offset: -1, Text: text, Advice: advice})
	}
	return problems
}
