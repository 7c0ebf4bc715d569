package jitdump

import (
	"github.com/jitinject/jitinject/internal/source"
)

// Grow makes functions readable before the dump is complete. Uncertain lines are dropped.
func (d *Dump) Grow() {
	d.decisions.growing = true
	d.decisions.positions = v8Positions{}
}

// LineAddresses returns the current decision. ok is false for a dump without lines.
func (d *Dump) LineAddresses() (a source.LineAddresses, ok bool) {
	e := &d.decisions.constraints
	if len(e.hypotheses) == 0 {
		return a, false
	}
	moved := d.decisions.chosen
	if moved == 0 { // use the closest one
		moved = 1
		for h := range e.hypotheses {
			if h > 0 && len(e.hypotheses[h].failed) < len(e.hypotheses[moved].failed) {
				moved = h
			}
		}
	}
	h, first := &e.hypotheses[moved], &e.hypotheses[0]
	a = source.LineAddresses{
		Decision: d.decisions.decision, Basis: d.decisions.basis, Skew: uint64(h.skew), Tables: e.tables, Rows: e.rows,
		Either: h.either, Neither: h.neither, AsWritten: first.fit(), MovedBack: h.fit(),
	}
	a.AsWritten.Tables = e.tables - h.only - h.either - h.neither
	switch d.decisions.decision {
	case source.LinesMovedBack:
		a.Early = int(d.fixes.asWritten.Load())
	case source.LinesContradictory:
		a.Early = int(d.fixes.asWritten.Load() + d.fixes.skew.Load())
	default:
		a.Early = int(d.fixes.skew.Load())
	}
	return a, true
}

// fit returns the counts of a hypothesis.
func (h *hypothesis) fit() source.AddressFit {
	return source.AddressFit{Tables: h.only, Known: h.known, AtStarts: h.starts, Outside: h.outside}
}
