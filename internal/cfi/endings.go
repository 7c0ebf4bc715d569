package cfi

import (
	"cmp"
	"slices"
)

// maxEndings bounds how often gaps are searched for ends of frames: again where a jump
// leads back from the code after one. maxLeft bounds the places that such code goes to.
// Beyond these, gaps get no rows. maxEnding bounds the ops from the load of the frame pointer
// to the jump out of the function.
const (
	maxEndings = 4
	maxLeft    = 64
	maxEnding  = 32
)

// A leftAt is a place that code reaches after the end of a frame, with the state there.
type leftAt struct {
	at uint32
	state
}

// endings finds the ends of classic frames in gaps. It cuts the code after each end out of
// s.pieces: up to where it leaves the function, and at the targets of its jumps. Maglev
// compares the number of arguments there, and has two ways to return. After the end, the
// CFA counts from the stack pointer, or is unknown.
//
// Data in a gap may be decoded as instructions that overlap others. Then each run is
// searched alone, which may lose rows. endings reports whether it finished.
func (s *Synthesizer) endings(frame *state) bool {
	s.left = s.left[:0]
	for known, rounds := -1, 0; len(s.left) != known; rounds++ {
		if len(s.left) > maxLeft || rounds == maxEndings {
			return false
		}
		known = len(s.left)
		s.cuts = s.cuts[:0]
		for _, r := range s.runs {
			s.endingsOf(r, frame)
		}
	}
	s.cutCalled(frame)
	slices.SortStableFunc(s.cuts, func(a, b piece) int { return cmp.Compare(a.start, b.start) })
	kept, end := s.cuts[:0], uint32(0)
	for _, c := range s.cuts {
		if c.start = max(c.start, end); c.start < c.end {
			kept, end = append(kept, c), c.end
		}
	}
	s.cuts = kept
	s.cut()
	return true
}

// endingsOf adds the endings of a run to s.cuts, and the places after them to s.left.
func (s *Synthesizer) endingsOf(r run, frame *state) {
	now, since := state{}, r.start // now is live before the end of a frame, or after
	cut := func(to uint32, as state) {
		if since < to {
			s.cuts = append(s.cuts, piece{since, to, as})
		}
		since = to
	}
	behind := r.start
	enter := func(from, to uint32) {
		for _, l := range s.left {
			if !now.live && l.at >= from && l.at <= to {
				now, since = l.state, l.at
			}
		}
	}
	ops := s.ops[r.ops:r.upTo]
	for i := range ops {
		o := &ops[i]
		enter(behind, o.off)
		behind = o.off + 1
		switch {
		case o.kind == opSPFromFP && o.imm == 0: // leave, or mov rsp, rbp
			now = *frame
		case !now.live && o.kind == opLoad && o.reg == fp && o.base == baseSP:
			if before, ok := s.restored(ops[i:], frame); ok {
				now = before
			}
		}
		if !now.live {
			continue
		}
		ended := !now.fpOK
		if o.kind < opCall {
			was := now
			if s.m.apply(&now, o); now.spOK && now.sp < s.limit {
				now.loseReturnAddress()
			}
			if !ended {
				since = o.end
			} else if now != was {
				cut(o.end, was)
			}
			continue
		}
		if !ended {
			now = state{}
			continue
		}
		leaves := o.kind == opReturn || o.kind == opIndirect || o.kind == opJump && o.imm == outside
		as := now
		if leaves && !(now.spOK && now.sp == s.limit && now.intact>>fp&1 != 0 && s.mark[o.off]&markTarget == 0) || o.kind == opCall {
			as.loseSP()
		}
		cut(o.end, as)
		if (o.kind == opBranch || o.kind == opJump) && o.imm != outside {
			s.leave(uint32(o.imm), now)
		}
		switch {
		case o.kind.ends():
			now = state{}
		case o.kind == opCall:
			now.loseSP()
		}
	}
	if enter(behind, r.end); now.live && !now.fpOK { // goes on in another run
		cut(r.end, now)
		s.leave(r.end, now)
	}
}

// leave adds a place to s.left, unless it is there already.
func (s *Synthesizer) leave(at uint32, now state) {
	if len(s.left) <= maxLeft && !slices.ContainsFunc(s.left, func(l leftAt) bool { return l.at == at }) {
		s.left = append(s.left, leftAt{at, now})
	}
}

// restored returns the state before ops[0], which loads the frame pointer from the stack. ok is
// true if the code from there on leaves the function with the stack as at the entry. Then it ends
// the frame without the frame pointer, as HotSpot's methods do (remove_frame of
// c1_MacroAssembler_x86.cpp, MachEpilogNode::emit of x86_64.ad).
func (s *Synthesizer) restored(ops []op, frame *state) (before state, ok bool) {
	before = *frame
	before.setSP(int64(before.saved[fp]) + int64(ops[0].imm))
	now := before
	for i := range ops[:min(maxEnding, len(ops))] {
		o := &ops[i]
		switch {
		case o.kind == opReturn, o.kind == opIndirect, o.kind == opJump && o.imm == outside:
			return before, now.spOK && now.sp == s.limit && now.intact>>fp&1 != 0
		case o.kind.ends():
			return before, false
		}
		s.m.apply(&now, o)
	}
	return before, false
}
