package source

import "sync/atomic"

// A LineAddresses is the decision about the addresses of a dump's lines, with its evidence.
// Tables of V8's baseline compiler do not count: they are about bytecode.
type LineAddresses struct {
	Decision LineDecision
	Basis    LineBasis
	Skew     uint64 // in bytes: subtracted from each address, or considered

	Tables  int // tables with entries
	Rows    int // their entries
	Either  int // tables that fit the code both ways
	Neither int // tables that fit it neither way

	AsWritten AddressFit
	MovedBack AddressFit // by Skew

	// Early counts functions that got lines while the dump grew, and contradict later
	// evidence.
	Early int
}

// An AddressFit says how well addresses fit the code.
type AddressFit struct {
	Tables   int // tables that fit only this way
	Known    int // rows in the code that can be compared with starts of instructions
	AtStarts int // of these, rows at the start of an instruction
	Outside  int // rows before or after the code of their function
}

// givenAway counts functions that were read and have lines.
type givenAway struct{ asWritten, moved atomic.Int64 }

// Grow makes functions readable before the dump is complete: uncertain lines are left out.
func (d *Jitdump) Grow() {
	d.growing = true
	d.positions = v8Positions{partial: true}
}

// LineAddresses returns the decision so far. ok is false for a dump without lines.
func (d *Jitdump) LineAddresses() (a LineAddresses, ok bool) {
	e := &d.evidence
	if len(e.hypotheses) == 0 {
		return a, false
	}
	moved := d.chosen
	if moved == 0 { // use the closest one
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
