package inject

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/source"
)

// Addresses of the source lines of a dump.

// A LineAddresses says whether the addresses of a dump's lines are right, and by what
// evidence. Tables of V8's baseline compiler do not count: they are about bytecode.
type LineAddresses struct {
	// Decision is as-written, moved-back, undecided (no evidence; lines are used as written)
	// or contradictory (no lines are used).
	Decision string `json:"decision"`

	// Basis is the evidence: instructions (entries are at starts of instructions only so),
	// extent (entries are inside the code only so, or begin with it), producer (V8 is known
	// to write them so) or none.
	Basis string `json:"basis"`

	Skew    uint64 `json:"skew"`               // in bytes: subtracted from each address, or considered
	Tables  int    `json:"tables"`             // line tables with entries
	Rows    int    `json:"rows"`               // entries in them
	Either  int    `json:"tables_either_way"`  // tables that fit both as written and moved back
	Neither int    `json:"tables_neither_way"` // tables that fit neither way

	AsWritten AddressFit `json:"as_written"`
	MovedBack AddressFit `json:"moved_back"` // by Skew

	// Early counts functions that got lines while the dump grew, and contradict later
	// evidence.
	Early int `json:"early"`
}

// An AddressFit says how well the addresses of lines fit the code.
type AddressFit struct {
	Tables   int `json:"tables"`         // tables that fit only this way
	Known    int `json:"rows_known"`     // rows in the code that can be compared with starts of instructions
	AtStarts int `json:"rows_at_starts"` // of these, rows at the start of an instruction
	Outside  int `json:"rows_outside"`   // rows before or after the code of their function
}

// A lineSource is a dump with line tables.
type lineSource interface {
	Grow()
	LineAddresses() (source.LineAddresses, bool)
}

// lineAddresses returns the decision about the addresses of a dump's lines, or nil if it
// has none.
func (d *dump) lineAddresses() *LineAddresses {
	s, ok := d.source.(lineSource)
	if !ok {
		return nil
	}
	a, ok := s.LineAddresses()
	if !ok {
		return nil
	}
	return &LineAddresses{
		Decision: string(a.Decision), Basis: string(a.Basis), Skew: a.Skew, Tables: a.Tables, Rows: a.Rows,
		Either: a.Either, Neither: a.Neither, AsWritten: AddressFit(a.AsWritten), MovedBack: AddressFit(a.MovedBack), Early: a.Early,
	}
}

// lineProblems adds problems with the lines of a dump to sum.
func (d *dump) lineProblems(sum *Summary) {
	a := d.lineAddresses()
	if a == nil {
		return
	}
	if a.Decision == string(source.LinesContradictory) {
		sum.problem(Problem{File: d.path, Offset: -1, Advice: adviceVerify(d.path), Text: fmt.Sprintf(
			"its source lines were left out, because their addresses contradict each other: of %d tables, %d fit the code as written, %d if moved back by %d bytes, %d either way, %d neither way",
			a.Tables, a.AsWritten.Tables, a.MovedBack.Tables, a.Skew, a.Either, a.Neither)})
	}
	if a.Early > 0 {
		sum.problem(Problem{File: d.path, Offset: -1, Advice: "inject from a file: perf record -o FILE", Text: fmt.Sprintf(
			"the source lines of %d functions may be wrong: they were injected before the dump was complete", a.Early)})
	}
}
