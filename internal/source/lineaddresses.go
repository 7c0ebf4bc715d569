package source

import "sync/atomic"

// A LineAddresses says what was decided about the addresses of a dump's lines, and by
// what. Tables of V8's baseline compiler, which are about bytecode, do not count.
type LineAddresses struct {
	Decision LineDecision
	Basis    LineBasis
	Skew     uint64 // in bytes: what was, or could have been, taken off each address

	Tables  int // that have entries
	Rows    int // in them
	Either  int // tables that fit the code both ways
	Neither int // tables that fit it neither way

	AsWritten AddressFit
	MovedBack AddressFit // by Skew

	// Early counts functions that got lines when the dump was not complete, and evidence
	// that came later speaks against them.
	Early int
}

// An AddressFit says how addresses fit the code.
type AddressFit struct {
	Tables   int // that fit only so
	Known    int // rows in the code of which it is known whether an instruction starts there
	AtStarts int // of them, those where one does
	Outside  int // rows in front of their function's code or behind it
}

// givenAway are counts of functions that were read and have lines.
type givenAway struct{ asWritten, moved atomic.Int64 }

// Grow says that functions are read before the dump is complete: what is not certain yet
// gives no lines.
func (d *Jitdump) Grow() {
	d.growing = true
	d.positions = v8Positions{partial: true}
}

// LineAddresses returns what was decided so far. ok is false for a dump without lines.
func (d *Jitdump) LineAddresses() (a LineAddresses, ok bool) {
	e := &d.evidence
	if len(e.hypotheses) == 0 {
		return a, false
	}
	moved := d.chosen
	if moved == 0 { // then the one that comes closest
		moved = 1
		for h := range e.hypotheses {
			if h > 0 && len(e.hypotheses[h].failed) < len(e.hypotheses[moved].failed) {
				moved = h
			}
		}
	}
	h, first := &e.hypotheses[moved], &e.hypotheses[0]
	a = LineAddresses{
		Decision: d.decision, Basis: d.basis, Skew: uint64(h.skew), Tables: e.tables, Rows: e.rows,
		Either: h.either, Neither: h.neither, AsWritten: first.fit(), MovedBack: h.fit(),
	}
	a.AsWritten.Tables = e.tables - h.only - h.either - h.neither
	switch d.decision {
	case LinesMovedBack:
		a.Early = int(d.given.asWritten.Load())
	case LinesContradictory:
		a.Early = int(d.given.asWritten.Load() + d.given.moved.Load())
	default:
		a.Early = int(d.given.moved.Load())
	}
	return a, true
}

func (h *hypothesis) fit() AddressFit {
	return AddressFit{Tables: h.only, Known: h.known, AtStarts: h.starts, Outside: h.outside}
}
