package cfi

import "slices"

// flow finds out what holds at each target: what all ways that lead there agree on.
//
// In code that is right, they agree on where the CFA is. Where they do not, one of
// them is never gone. That is so behind a call that does not return, which mostly
// comes last in its block: where jumps to the code behind it say something else, they
// are right, and everything is done again without that way.
func (s *Synthesizer) flow(first *state) {
	n := len(s.targets)
	s.in, s.weak = slices.Grow(s.in[:0], n)[:n], slices.Grow(s.weak[:0], n)[:n]
	s.distrust = slices.Grow(s.distrust[:0], n)[:n]
	clear(s.distrust)
	for again := true; again; {
		again = false
		clear(s.in)
		clear(s.weak)
		for _, at := range s.gaps {
			if i, ok := slices.BinarySearch(s.targets, at); ok {
				s.in[i].meet(first)
			}
		}
		for s.sweep(nil) {
		}
		for i := range s.targets {
			if s.weak[i].conflicts(&s.in[i]) && !s.distrust[i] {
				s.distrust[i], again = true, true
			}
		}
	}
}

// at returns what holds at a target.
func (s *Synthesizer) at(i int) state {
	in := s.in[i]
	if !s.distrust[i] {
		in.meet(&s.weak[i])
	}
	return in
}

// sweep lets states flow once through all code, in the order of addresses, and
// reports whether that changed anything at a target that it had passed. If there is
// a visitor, it is shown what holds from each place on where that may change.
func (s *Synthesizer) sweep(visit func(off uint32, now *state)) (changed bool) {
	now := state{}
	next := 0 // target
	behindCall := uint32(0)
	passed := func(upTo uint32) {
		for ; next < len(s.targets) && s.targets[next] <= upTo; next++ {
			if now.live {
				to := s.in
				if behindCall > 0 && s.only(behindCall, s.targets[next]) {
					to = s.weak
				}
				to[next].meet(&now)
			}
			if now = s.at(next); visit != nil {
				visit(s.targets[next], &now)
			}
			behindCall = 0
		}
	}
	for i := range s.sorted {
		o := &s.sorted[i]
		passed(o.off)
		behindCall = 0
		if !now.live {
			continue
		}
		switch o.kind {
		case opBranch, opJump:
			if o.imm == outside {
				break
			}
			// A target that is not in s.targets was come by in an earlier part.
			if to, ok := slices.BinarySearch(s.targets, uint32(o.imm)); ok && s.in[to].meet(&now) && to < next {
				changed = true
			}
		case opCall:
			behindCall = o.end
			fallthrough
		default:
			if o.base == baseFP && o.kind == opStore || o.kind == opSPFromFP {
				s.borrows(o, &now)
			}
			s.m.apply(&now, o)
			s.guard(&now)
			if o.kind == opCall && s.prologue && now.spOK && now.sp == s.entry.sp && !now.fpOK {
				s.m.enterFrame(&now)
			}
		}
		if visit != nil {
			s.witness(o, &now)
		}
		if o.kind.ends() {
			now = state{}
		}
		// What follows at the same place is not looked at when nobody comes there.
		if visit != nil && (!now.live || i+1 == len(s.sorted) || s.sorted[i+1].off != o.off) {
			visit(o.end, &now)
		}
	}
	passed(uint32(len(s.code)))
	return changed
}

// only reports whether there is nothing but padding between two places.
func (s *Synthesizer) only(from, to uint32) bool {
	return from <= to && from+uint32(s.m.padding(s.code[from:to])) == to
}

// guard sees to it that there is a return address: one that was taken off the stack
// is somewhere else now.
func (s *Synthesizer) guard(now *state) {
	if now.spOK && now.sp < s.limit {
		s.result.Popped = max(s.result.Popped, uint64(s.limit-now.sp))
		now.loseSP()
	}
}

// borrows notes that an instruction counts from a frame pointer that the function has
// not set up.
func (s *Synthesizer) borrows(o *op, now *state) {
	if now.fpOK || now.intact>>fp&1 == 0 {
		return
	}
	s.usesFP = true
	s.foreign = s.foreign || o.kind == opSPFromFP
}

// witness notes what an instruction shows of the function.
func (s *Synthesizer) witness(o *op, now *state) {
	if (o.kind == opReturn || o.kind == opIndirect || o.kind == opJump && o.imm == outside) &&
		now.spOK && now.sp > s.entry.sp && !now.fpOK && now.intact>>fp&1 != 0 {
		s.unbalanced = true
	}
	switch o.kind {
	case opReturn:
		s.result.Returns = s.result.Returns || now.spOK && now.sp == s.limit
	case opJump:
		s.result.Jumps = s.result.Jumps || o.imm == outside
	case opIndirect:
		s.result.Jumps = true
		if now.fpOK || !now.spOK || now.sp != s.entry.sp {
			s.indirect.meet(now)
		}
	}
	if now.live && now.classic() {
		s.frames.meet(now)
	}
}
