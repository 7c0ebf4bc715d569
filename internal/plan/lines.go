package plan

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// A LineSource is a dump with line tables.
type LineSource interface {
	// LineAddresses returns how the addresses of lines were interpreted. It returns false if
	// that was not decided.
	LineAddresses() (source.LineAddresses, bool)
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

// lineProblems adds problems with the lines of a dump to found.
func lineProblems(d *model.Dump, found *report.Findings) {
	a := LineAddresses(d)
	if a == nil {
		return
	}
	if a.Decision == string(source.LinesContradictory) {
		found.Problem(report.Problem{Code: report.ProblemDamage, File: d.Path, Offset: -1, Advice: report.AdviceVerify(d.Path), Text: fmt.Sprintf(
			"its source lines were left out, because their addresses contradict each other: of %d tables, %d fit the code as written, %d if moved back by %d bytes, %d either way, %d neither way",
			a.Tables, a.AsWritten.Tables, a.MovedBack.Tables, a.Skew, a.Either, a.Neither)})
	}
}
