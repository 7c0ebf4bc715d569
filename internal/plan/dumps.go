package plan

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// A reporter is a dump of a format that has findings of its own once all of it was read. Report
// fills the fields of s for that format. path is the dump's name for the user.
type reporter interface {
	Report(path string, s *report.DumpSummary) report.Findings
}

// A LineSource is a dump with line tables.
type LineSource interface {
	// LineAddresses returns how the addresses of lines were interpreted. It returns false if
	// that was not decided.
	LineAddresses() (source.LineAddresses, bool)
}

// addDump adds what is known of a dump after all of it was read: problems, fixes and where it was cut.
func (p *placer) addDump(d *placedDump) {
	read := d.Source.Scanned()
	if d.line.Cut, d.line.CutName = read.Cut, read.CutName; read.Cut >= 0 {
		d.line.Writer = d.Writer(p.rec)
	}
	problem := func(offset int64, text, advice string) {
		p.Found.Problem(report.Problem{File: d.Path, Offset: offset, Text: text, Advice: advice})
	}
	for _, q := range read.Problems {
		problem(q.Offset, q.Text, d.AdviceDamage())
	}
	if read.Dropped > 0 {
		problem(-1, fmt.Sprintf("%d more problems like these", read.Dropped), d.AdviceDamage())
	}
	if r, ok := d.Source.(reporter); ok {
		p.Found.Add(r.Report(quote.Printable(d.Path), d.line))
	}
	if a := LineAddresses(d.Dump); a != nil && a.Decision == string(source.LinesContradictory) {
		problem(-1, fmt.Sprintf(
			"its source lines were left out, because their addresses contradict each other: of %d tables, %d fit the code as written, %d if moved back by %d bytes, %d either way, %d neither way",
			a.Tables, a.AsWritten.Tables, a.MovedBack.Tables, a.Skew, a.Either, a.Neither), report.AdviceVerify(d.Path))
	}
	for _, text := range d.attribution.Problems() {
		problem(-1, text, "record all of them: start perf record before they are forked, or with -a")
	}
}

// LineAddresses returns the decision about the addresses of a dump's lines, or nil if it has
// none.
func LineAddresses(d *model.Dump) *report.LineAddresses {
	s, ok := d.Source.(LineSource)
	if !ok {
		return nil
	}
	a, ok := s.LineAddresses()
	if !ok {
		return nil
	}
	return &report.LineAddresses{
		Decision: string(a.Decision), Basis: string(a.Basis), Skew: a.Skew, Tables: a.Tables, Rows: a.Rows,
		Either: a.Either, Neither: a.Neither, AsWritten: report.AddressFit(a.AsWritten), MovedBack: report.AddressFit(a.MovedBack),
	}
}
