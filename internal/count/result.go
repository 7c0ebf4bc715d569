package count

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// A Result has the numbers of samples.
type Result struct {
	Samples *report.SampleSummary // nil if they were not counted
	Dumps   []*report.JitSamples  // by number
	Hottest *report.Hottest       // nil if samples were not counted
	Found   report.Findings
}

// result returns the counts. lines describe the dumps, by number. again is that of
// CutAdvice. The dumps must be open.
func (c *Counter) result(dumps []*model.Dump, lines []report.DumpSummary, again func(report.Setting) string) (r Result) {
	if !c.fits() {
		r.Found.Note(fmt.Sprintf("%s: its samples are not counted: the functions cover too much memory", quote.Printable(c.rec.In.Path)))
		return r
	}
	r.Samples = &report.SampleSummary{Total: c.Total}
	for i := range lines {
		own := new(report.JitSamples)
		if i < len(c.dumps) {
			counts := c.dumps[i]
			*own = report.JitSamples{
				InJIT: counts.resolved + counts.early + counts.left + counts.unresolved, Resolved: counts.resolved, Early: counts.early, Left: counts.left,
			}
		}
		r.Dumps = append(r.Dumps, own)
		if d, lost := &lines[i], own.InJIT-own.Resolved; d.Cut >= 0 && lost > own.InJIT/100 && !c.LacksAny(i) {
			r.Found.Problem(report.Problem{Code: report.ProblemUnnamed, File: d.Path, Offset: d.Cut, Text: fmt.Sprintf("%s, and %s of %s are in code that it does not describe", d.CutText(), words.Number(lost), words.Count(own.InJIT, "sample")),
				Advice: d.CutAdvice(again)})
		}
		r.Samples.InJIT += own.InJIT
		r.Samples.Resolved += own.Resolved
		r.Samples.Early += own.Early
		r.Samples.Left += own.Left
	}
	for _, p := range c.Processes {
		r.Samples.WithoutDump += p.Unattributed
	}
	r.Hottest = c.hottest(dumps)
	return r
}

// LacksAny reports whether functions of a dump have no object. dump is its number.
func (c *Counter) LacksAny(dump int) bool {
	for f := range c.lost {
		if int(f.dump) == dump {
			return true
		}
	}
	return false
}
