package inject

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/source"
)

// What there is to say about the source lines of a dump.

// A LineAddresses says whether the addresses of a dump's source lines are right, and by
// what that was decided. Tables of V8's baseline compiler, which are about bytecode, do not
// count.
type LineAddresses struct {
	// Decision is as-written, moved-back, undecided (nothing shows whether they are right;
	// they are used as written) or contradictory (no lines are used).
	Decision string `json:"decision"`

	// Basis is instructions (entries are where instructions start only so), extent (they
	// are inside the code only so, or begin with it), producer (V8 is known to write them
	// so) or none.
	Basis string `json:"basis"`

	Skew    uint64 `json:"skew"`   // in bytes: what was, or could have been, taken off each address
	Tables  int    `json:"tables"` // line tables with entries
	Rows    int    `json:"rows"`   // entries in them
	Either  int    `json:"tables_either_way"`
	Neither int    `json:"tables_neither_way"`

	AsWritten AddressFit `json:"as_written"`
	MovedBack AddressFit `json:"moved_back"` // by Skew

	// Early counts functions that got lines while the dump grew, and for which later
	// evidence speaks against them.
	Early int `json:"early"`
}

// An AddressFit says how addresses of lines fit the code.
type AddressFit struct {
	Tables   int `json:"tables"`         // that fit only so
	Known    int `json:"rows_known"`     // rows in the code for which it is known whether an instruction starts there
	AtStarts int `json:"rows_at_starts"` // of them, those where one does
	Outside  int `json:"rows_outside"`   // rows in front of their function's code or behind it
}

// A lineSource is a dump with line tables.
type lineSource interface {
	Grow()
	LineAddresses() (source.LineAddresses, bool)
}

// lineAddresses returns what is known of the addresses of a dump's lines, nil if it has
// none.
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

// lineProblems adds what is wrong with the lines of a dump.
func (d *dump) lineProblems(sum *Summary) {
	a := d.lineAddresses()
	if a == nil {
		return
	}
	if a.Decision == string(source.LinesContradictory) {
		sum.problem(Problem{File: d.path, Offset: -1, Advice: adviceVerify(d.path), Text: fmt.Sprintf(
			"its functions have no source lines, whose addresses contradict each other: of %d tables, %d fit the code as they are, %d if moved back by %d bytes, %d either way, %d neither way",
			a.Tables, a.AsWritten.Tables, a.MovedBack.Tables, a.Skew, a.Either, a.Neither)})
	}
	if a.Early > 0 {
		sum.problem(Problem{File: d.path, Offset: -1, Advice: "inject from a file: perf record -o FILE", Text: fmt.Sprintf(
			"the source lines of %d functions may be wrong: they were put in before the rest of the dump showed at which addresses its lines are", a.Early)})
	}
}
