package cfi

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/ehframe"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// A piece is code with one state; it is not live if it is unreachable.
type piece struct {
	start, end uint32
	state
}

// keep adds the states of a part's code to s.pieces.
func (s *Synthesizer) keep() {
	at, was := uint32(0), state{}
	kept := len(s.pieces)
	visit := func(off uint32, now *state) {
		if *now == was {
			return
		}
		if was.live && off > at {
			if last := len(s.pieces) - 1; last >= kept && s.pieces[last].end == at && s.pieces[last].state == was {
				s.pieces[last].end = off
			} else {
				s.pieces = append(s.pieces, piece{at, off, was})
			}
		}
		at, was = off, *now
	}
	for i := range s.targets {
		if s.later && s.bad[i] {
			visit(s.targets[i], &state{})
		} else {
			s.block(i, visit)
		}
	}
	if was.live && int(at) < len(s.code) { // the code runs off its end
		s.pieces = append(s.pieces, piece{at, uint32(len(s.code)), was})
	}
	for i := kept; i < len(s.pieces); i++ {
		if p := &s.pieces[i]; s.doubtAll || s.doubtCalled && p.called {
			p.doubt(s.m)
		}
	}
	s.sortPieces()
}

func (s *Synthesizer) sortPieces() {
	slices.SortStableFunc(s.pieces, func(a, b piece) int { return cmp.Compare(a.start, b.start) })
}

// rows converts s.pieces to rows. Padding between pieces is never executed: the row before it goes
// on.
func (s *Synthesizer) rows() {
	at := uint32(0)
	for i := range s.pieces {
		p := &s.pieces[i]
		if len(s.result.Rows) > maxRows {
			break
		}
		if p.start > at && (at == 0 || !s.only(at, p.start)) {
			s.add(jitcode.FrameRow{Offset: uint64(at)})
		}
		row := s.row(p)
		if s.add(row); p.moved && !row.Known {
			s.addMoved(ehframe.Span{From: uint64(p.start), To: uint64(p.end)})
		}
		at = p.end
	}
	if int(at) < len(s.code) && !s.only(at, uint32(len(s.code))) {
		s.add(jitcode.FrameRow{Offset: uint64(at)})
	}
	if len(s.result.Rows) > maxRows || !slices.ContainsFunc(s.result.Rows, func(r jitcode.FrameRow) bool { return r.Known }) {
		s.result.Rows = s.result.Rows[:0]
	}
}

// addMoved appends a span to Result.Moved.
func (s *Synthesizer) addMoved(span ehframe.Span) {
	if last := len(s.result.Moved) - 1; last >= 0 && s.result.Moved[last].To == span.From {
		s.result.Moved[last].To = span.To
		return
	}
	s.result.Moved = append(s.result.Moved, span)
}

// add adds a row, unless it repeats the last one.
func (s *Synthesizer) add(row jitcode.FrameRow) {
	rows := s.result.Rows
	if last := len(rows) - 1; last >= 0 {
		if rows[last].Known == row.Known && rows[last].CFA == row.CFA && slices.Equal(rows[last].Saved, row.Saved) {
			return
		}
		if rows[last].Offset == row.Offset {
			rows[last] = row
			return
		}
	}
	s.result.Rows = append(rows, row)
}

// row returns the row of a piece.
func (s *Synthesizer) row(p *piece) jitcode.FrameRow {
	row := jitcode.FrameRow{Offset: uint64(p.start), Known: true}
	switch {
	case p.signed && !p.classic():
		return jitcode.FrameRow{Offset: row.Offset} // rows cannot describe how to read it
	case p.fpOK && (p.classic() || !p.spOK):
		row.CFA = jitcode.CFA{Reg: s.m.regs[fp], Offset: int64(p.fp)}
	case p.spOK:
		row.CFA = jitcode.CFA{Reg: s.m.sp, Offset: int64(p.sp)}
	default:
		return jitcode.FrameRow{Offset: row.Offset}
	}
	at := len(s.arena)
	for i, reg := range s.m.regs {
		switch {
		case reg == none:
		case p.saved[i] != 0:
			s.arena = append(s.arena, jitcode.SavedReg{Reg: reg, Offset: -int64(p.saved[i])})
		case p.intact>>i&1 != 0:
		case i == ra: // the return address is lost
			return jitcode.FrameRow{Offset: row.Offset}
		case i == fp:
			s.arena = append(s.arena, jitcode.SavedReg{Reg: reg, Lost: true})
		}
	}
	if !s.m.linked {
		s.arena = append(s.arena, jitcode.SavedReg{Reg: s.m.returnReg, Offset: -wordSize})
	}
	row.Saved = s.arena[at:len(s.arena):len(s.arena)]
	// They are few. slices.SortFunc makes the program 16 kB larger for this type.
	for i := range row.Saved {
		for ; i > 0 && row.Saved[i].Reg < row.Saved[i-1].Reg; i-- {
			row.Saved[i], row.Saved[i-1] = row.Saved[i-1], row.Saved[i]
		}
	}
	return row
}

// Proofs returns what the code of the last Synthesize proves about its frames. found is the result of
// that. Without Strict, proofs depend on the assumption that calls leave the stack pointer unchanged.
// There are none for code that does not return with the stack as at its entry: it may be entered by a
// jump, in a frame that it does not show.
func (s *Synthesizer) Proofs(found *Result) (proofs []ehframe.Proof) {
	if len(found.Rows) == 0 || !found.Returns || found.Odd || found.Popped > 0 {
		return nil
	}
	for i := range s.pieces {
		p := &s.pieces[i]
		if !s.row(p).Known {
			continue
		}
		proof := ehframe.Proof{Span: ehframe.Span{From: uint64(p.start), To: uint64(p.end)}}
		if p.spOK {
			proof.CFAs = append(proof.CFAs, jitcode.CFA{Reg: s.m.sp, Offset: int64(p.sp)})
		}
		if p.fpOK {
			proof.CFAs = append(proof.CFAs, jitcode.CFA{Reg: s.m.regs[fp], Offset: int64(p.fp)})
		}
		proofs = append(proofs, proof)
	}
	return proofs
}
