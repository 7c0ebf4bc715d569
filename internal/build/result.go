package build

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/report"
)

// A Result has the numbers of made objects, and the findings.
type Result struct {
	Objects   int   // number of existing files
	Bytes     int64 // their total size
	Unchanged int   // of Objects: existed before with the same content
	Replaced  int   // of Objects: replaced another file
	Dumps     DumpCounts
	Found     report.Findings
}

// DumpCounts are the counts of dumps, by the dump's number.
type DumpCounts map[int]*Counts

// of returns the counts of a dump, to be added to.
func (c DumpCounts) of(d *model.Dump) *Counts { return c.at(d.Number) }

func (c DumpCounts) at(number int) *Counts {
	if c[number] == nil {
		c[number] = new(Counts)
	}
	return c[number]
}

// merge adds the counts of others.
func (c DumpCounts) merge(others DumpCounts) {
	for number, o := range others {
		c.at(number).add(*o)
	}
}

// Counts are numbers of functions of a dump: with lines, with inlined calls, by the source of their
// unwind tables, and without code.
type Counts struct{ lines, inlines, sent, derived, unplaced, withoutCode int }

// count counts a function. unwound reports whether its object has unwind tables.
func (c *Counts) count(fn *jitcode.Function, unwound bool) {
	if len(fn.Lines) > 0 {
		c.lines++
	}
	if len(fn.Inlines) > 0 {
		c.inlines++
	}
	if !fn.HasCode() {
		c.withoutCode++
	}
	switch {
	case fn.Unwind.Empty():
	case !unwound:
		c.unplaced++
	case len(fn.Unwind.Sent.FDEs) > 0:
		c.sent++
	default:
		c.derived++
	}
}

// countInFile counts a function in a skeleton: the file has its code and its unwind tables.
func (c *Counts) countInFile(fn *jitcode.Function) {
	if len(fn.Lines) > 0 {
		c.lines++
	}
	if len(fn.Inlines) > 0 {
		c.inlines++
	}
}

func (c *Counts) add(o Counts) {
	c.lines += o.lines
	c.inlines += o.inlines
	c.sent += o.sent
	c.derived += o.derived
	c.unplaced += o.unplaced
	c.withoutCode += o.withoutCode
}

// Fill sets the fields of a dump's summary that come from the counts.
func (c Counts) Fill(s *report.DumpSummary) {
	s.WithLines, s.WithoutCode, s.Inlining = c.lines, c.withoutCode, c.inlines
	s.Unwind.Sent, s.Unwind.Derived, s.Unwind.Unplaced = c.sent, c.derived, c.unplaced
	if c.unplaced > 0 {
		s.Frames = fmt.Sprintf("for the unwind tables of %d functions there was no place within 2 GB behind their code; perf up to 6.12 may not find their callers", c.unplaced)
	}
}
