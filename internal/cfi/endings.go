package cfi

import "slices"

// maxEndings is how often gaps are searched for the ends of frames: once more where a jump
// leads back from the code after one.
const maxEndings = 4

// A leftAt is a place that a jump leads to from code after the end of a frame, with what
// holds there.
type leftAt struct {
	at uint32
	state
}

// endings finds where classic frames end in gaps, and cuts what comes after that out of
// s.pieces: the code up to where it leaves the function, and where its jumps lead. Maglev
// compares the number of arguments there, and has two ways to return. After the end, what
// is certain holds: the CFA counts from the stack pointer, or nothing is known.
func (s *Synthesizer) endings(frame *state) {
	s.left = s.left[:0]
	for range maxEndings {
		known := len(s.left)
		s.findEndings(frame)
		if len(s.left) == known || !s.leadsBack(known) {
			break
		}
	}
	s.cut()
}

// leadsBack reports whether a place in s.left, from an index on, was not come by when it was
// found.
func (s *Synthesizer) leadsBack(from int) bool {
	return slices.ContainsFunc(s.left[from:], func(l leftAt) bool {
		return !slices.ContainsFunc(s.cuts, func(c piece) bool { return c.start <= l.at && l.at < c.end })
	})
}

// findEndings fills s.cuts, in order, and adds to s.left.
func (s *Synthesizer) findEndings(frame *state) {
	now := state{} // live where the frame is about to end, or has
	since, behind := uint32(0), uint32(0)
	s.cuts = s.cuts[:0]
	cut := func(to uint32, as state) {
		if since < to {
			s.cuts = append(s.cuts, piece{since, to, as})
		}
		since = to
	}
	for i := range s.sorted {
		o := &s.sorted[i]
		if !now.live {
			for _, l := range s.left {
				if l.at >= behind && l.at <= o.off {
					now, since = l.state, l.at
				}
			}
		}
		behind = o.off + 1
		if o.kind == opSPFromFP && o.imm == 0 { // leave, or mov rsp, rbp
			now = *frame
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
		if (o.kind == opBranch || o.kind == opJump) && o.imm != outside && !slices.ContainsFunc(s.left, func(l leftAt) bool { return l.at == uint32(o.imm) }) {
			s.left = append(s.left, leftAt{uint32(o.imm), now})
		}
		switch {
		case o.kind.ends():
			now = state{}
		case o.kind == opCall:
			now.loseSP()
		}
	}
}
