package count

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
)

// A Result has the numbers of samples.
type Result struct {
	Samples *report.SampleSummary // nil if they were not counted
	Dumps   []*report.JitSamples  // by number
	Hottest *report.Hottest       // nil if samples were not counted
	Found   report.Findings
}

// result returns the counts. lines describe the dumps, by number. The dumps must be open.
func (t *Counter) result(dumps []*model.Dump, lines []report.DumpSummary) (r Result) {
	if !t.fits() {
		r.Found.Note(fmt.Sprintf("%s: its samples are not counted: the functions cover too much memory", quote.Printable(t.rec.In.Path)))
		return r
	}
	r.Samples = &report.SampleSummary{Total: t.Total}
	for i := range lines {
		own := new(report.JitSamples)
		if i < len(t.dumps) {
			c := t.dumps[i]
			*own = report.JitSamples{InJIT: c.resolved + c.early + c.left + c.unresolved, Resolved: c.resolved, Early: c.early, Left: c.left}
		}
		r.Dumps = append(r.Dumps, own)
		if d, lost := &lines[i], own.InJIT-own.Resolved; d.Cut >= 0 && lost > own.InJIT/100 && !t.LacksAny(i) {
			r.Found.Problem(report.Problem{File: d.Path, Offset: d.Cut, Text: fmt.Sprintf("%s, and %d of %s are in code that it does not describe", d.CutText(), lost, report.SamplesOf(own.InJIT)),
				Advice: d.CutAdvice()})
		}
		r.Samples.InJIT += own.InJIT
		r.Samples.Resolved += own.Resolved
		r.Samples.Early += own.Early
		r.Samples.Left += own.Left
	}
	for _, p := range t.Processes {
		r.Samples.WithoutDump += p.Unattributed
	}
	r.Hottest = t.hottest(dumps)
	return r
}

// LacksAny reports whether functions of a dump have no object. dump is its number.
func (t *Counter) LacksAny(dump int) bool {
	for f := range t.lost {
		if int(f.dump) == dump {
			return true
		}
	}
	return false
}
