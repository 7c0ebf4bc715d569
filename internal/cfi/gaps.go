package cfi

import (
	"cmp"
	"slices"
)

// Gaps are code without a known jump to it. They may be data, too.

// maxRounds bounds the searches for gaps. In each, only the first bytes of a gap certainly start an
// instruction.
const maxRounds = 4

// fillGaps derives the states in gaps. Data decoded as code must do no harm:
//
//   - If all frames of the function are classic, a gap has that frame, except after the end of such
//     a frame. The meaning of its bytes does not matter.
//   - Otherwise the states in a gap count if its code ends in a plausible way.
func (s *Synthesizer) fillGaps(entry *Entry) {
	if s.gap = s.gapState(entry); !s.gap.live {
		return
	}
	constant := s.gap.classic() && !s.mixed && (entry == nil || !entry.Shared)
	if !constant && (s.doubtCalled || s.doubtAll) {
		return
	}
	s.findGaps()
	if constant {
		s.fillClassic()
		return
	}
	for round := 0; round < maxRounds && len(s.gaps) > 0; round++ {
		if s.age(); !s.part(&s.gap) {
			break
		}
		s.findGaps()
	}
}

// gapState returns the state of code that is no target of a known jump. With indirect jumps, it is
// their state: jump tables keep the frame. Jumps with the frame of the entry leave the function.
// Otherwise, if all frames of the function have a frame pointer, the code is entered with it, as
// exception handlers are. In other cases the state is unknown.
func (s *Synthesizer) gapState(entry *Entry) state {
	if entry != nil && entry.Shared {
		return s.entry
	}
	if s.indirect.live && (s.indirect.spOK || s.indirect.fpOK) {
		return s.indirect
	}
	gap := s.frames
	if !gap.live || !gap.classic() {
		return state{}
	}
	gap.loseSP()
	return gap
}

// fillClassic gives all gaps the classic frame, up to the ends of frames in them.
func (s *Synthesizer) fillClassic() {
	if len(s.gaps) == 0 {
		return
	}
	frame := s.gap
	frame.loseSP()
	starts := slices.Clone(s.gaps)
	known := len(s.pieces)
	for _, at := range starts {
		end := uint32(len(s.code))
		if i, _ := slices.BinarySearchFunc(s.pieces[:known], at, func(p piece, at uint32) int { return cmp.Compare(p.start, at) }); i < known {
			end = s.pieces[i].start
		}
		s.pieces = append(s.pieces, piece{at, end, frame})
	}
	s.sortPieces()
	if s.age(); !s.takeApart() || !s.endings(&frame) {
		slices.Sort(starts)
		s.pieces = slices.DeleteFunc(s.pieces, func(p piece) bool {
			_, gap := slices.BinarySearch(starts, p.start)
			return gap
		})
	}
}

// cut inserts s.cuts into the pieces around them. Both are sorted.
func (s *Synthesizer) cut() {
	if len(s.cuts) == 0 {
		return
	}
	cuts := s.cuts
	pieces := make([]piece, 0, len(s.pieces)+2*len(cuts))
	for _, p := range s.pieces {
		for len(cuts) > 0 && cuts[0].start < p.end {
			c := cuts[0]
			if cuts = cuts[1:]; c.start < p.start || c.end > p.end {
				continue
			}
			if c.start > p.start {
				pieces = append(pieces, piece{p.start, c.start, p.state})
			}
			pieces = append(pieces, c)
			p.start = c.end
		}
		if p.start < p.end {
			pieces = append(pieces, p)
		}
	}
	s.pieces = pieces
}

// goesWell reports whether the control flow of an op fits the state. To leave the function, the
// stack must be as at the entry. Or the frame must be as at the start of the gap, for a part of the
// function that lies elsewhere. To continue in known code, the state must fit that code.
func (s *Synthesizer) goesWell(o *op, now *state, behindCall bool) bool {
	leaves := now.spOK && now.sp == s.entry.sp || now.classic() ||
		now.spOK == s.gap.spOK && now.sp == s.gap.sp && now.fpOK == s.gap.fpOK && now.fp == s.gap.fp
	switch o.kind {
	case opReturn:
		return now.spOK && (now.sp == s.limit || now.sp == s.entry.sp)
	case opIndirect:
		return leaves
	case opBranch, opJump:
		if o.imm == outside {
			return leaves
		}
		_, here := s.target(uint32(o.imm))
		return here || s.fits(uint32(o.imm), now)
	case opTrap:
		switch {
		case o.off < o.end:
			return true
		case o.imm == undecodable:
			return false
		case behindCall: // it does not return
			return true
		}
		return int(o.off) < len(s.code) && s.fits(o.off, now)
	}
	return true
}

// knownAt returns the state of known code at a place, or nil if there is none.
func (s *Synthesizer) knownAt(at uint32) *state {
	i, found := slices.BinarySearchFunc(s.pieces, at, func(p piece, at uint32) int { return cmp.Compare(p.start, at) })
	if !found {
		i--
	}
	if i < 0 || s.pieces[i].end <= at {
		return nil
	}
	return &s.pieces[i].state
}

// fits reports whether a state may enter known code.
func (s *Synthesizer) fits(at uint32, now *state) bool {
	p := s.knownAt(at)
	return p != nil && !p.conflicts(now) && (p.spOK && now.spOK || p.fpOK && now.fpOK && p.fp == now.fp)
}

// maxJudge bounds the passes over the code of gaps in judge.
const maxJudge = 16

// judge finds the targets in gaps with code that leads to a place it does not fit.
func (s *Synthesizer) judge() {
	s.bad = slices.Grow(s.bad[:0], len(s.targets))[:len(s.targets)]
	clear(s.bad)
	for i := range s.targets {
		s.block(i, func(uint32, *state) {})
	}
	s.dropCalled()
	for range maxJudge {
		changed := false
		for i := len(s.targets) - 1; i >= 0; i-- {
			if !s.bad[i] && s.leadsToBad(i) {
				s.bad[i], changed = true, true
			}
		}
		if !changed {
			return
		}
	}
	for i := range s.bad {
		s.bad[i] = true
	}
}

func (s *Synthesizer) leadsToBad(i int) bool {
	if now := s.at(i); !now.live {
		return false
	}
	for _, o := range s.sorted[s.first[i]:s.first[i+1]] {
		if (o.kind == opBranch || o.kind == opJump) && o.imm != outside {
			if to, ok := s.target(uint32(o.imm)); ok && s.bad[to] {
				return true
			}
		}
		if o.kind.ends() {
			return false
		}
	}
	if last := s.first[i+1] - 1; last >= s.first[i] && i+1 < len(s.targets) && s.sorted[last].kind == opCall && s.only(s.sorted[last].end, s.targets[i+1]) {
		return false // it does not return
	}
	return i+1 < len(s.targets) && s.bad[i+1]
}

// findGaps sets s.gaps to the starts of code that was not found before: after the padding between
// known pieces.
func (s *Synthesizer) findGaps() {
	s.gaps = s.gaps[:0]
	at := uint32(0)
	for _, r := range s.pieces {
		if r.end <= at {
			continue
		}
		if r.start > at {
			s.addGap(at, r.start)
		}
		at = r.end
	}
	s.addGap(at, uint32(len(s.code)))
}

func (s *Synthesizer) addGap(from, to uint32) {
	from += uint32(s.m.padding(s.code[from:to]))
	if from < to && s.mark[from]&markTried == 0 {
		s.mark[from] |= markTried
		s.gaps = append(s.gaps, from)
	}
}
