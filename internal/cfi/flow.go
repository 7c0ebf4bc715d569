package cfi

import (
	"slices"
)

// maxVisits is how often an op is looked at, on average, before a function is given
// up: states only lose, so that each target is come back to at most as often as there
// is something in them, and real code does with a tenth of this.
const maxVisits = 64

// flow finds out what holds at each target: what all ways that lead there agree on. It
// reports whether it came to an end.
//
// In code that is right, they agree on where the CFA is. Where they do not, one of
// them is never gone. That is so behind a call that does not return, which mostly
// comes last in its block: where jumps to the code behind it say something else, they
// are right, and everything is done again without that way.
func (s *Synthesizer) flow(first *state) bool {
	n := len(s.targets)
	s.in, s.weak = slices.Grow(s.in[:0], n)[:n], slices.Grow(s.weak[:0], n)[:n]
	s.distrust = slices.Grow(s.distrust[:0], n)[:n]
	clear(s.distrust)
	s.blocks()
	s.budget = maxVisits * (len(s.sorted) + n)
	for again := true; again; {
		again = false
		clear(s.in)
		clear(s.weak)
		s.stale.reset(n)
		for _, at := range s.gaps {
			// What is called has a return address on the stack that the function has not.
			if i, ok := s.target(at); ok && (!s.later || s.mark[at]&markCalled == 0) {
				s.in[i].meet(first)
				s.stale.add(i)
			}
		}
		// In the order of addresses, from the start again while there is something.
		for i := s.stale.next(0); i >= 0; {
			s.stale.remove(i)
			if s.block(i, nil); s.budget < 0 {
				return false
			}
			if i = s.stale.next(i + 1); i < 0 {
				i = s.stale.next(0)
			}
		}
		for i := range s.targets {
			if s.weak[i].conflicts(&s.in[i]) && !s.distrust[i] {
				s.distrust[i], again = true, true
			}
		}
		s.budget -= n
	}
	return true
}

// blocks finds the ops that follow each target.
func (s *Synthesizer) blocks() {
	s.first = s.first[:0]
	i := 0
	for _, at := range s.targets {
		for i < len(s.sorted) && s.sorted[i].off < at {
			i++
		}
		s.first = append(s.first, i)
	}
	s.first = append(s.first, len(s.sorted))
}

// at returns what holds at a target.
func (s *Synthesizer) at(i int) state {
	in := s.in[i]
	if !s.distrust[i] {
		in.meet(&s.weak[i])
	}
	// A function may call itself from its second instruction on. Where there is more on
	// the stack, nobody knows how much: what the call leaves there is not counted.
	if in.spOK && in.sp != s.entry.sp && s.mark[s.targets[i]]&markCalled != 0 {
		in.loseSP()
	}
	return in
}

// block lets the state at a target flow through the code up to the next one. If there
// is a visitor, it is shown what holds from each place on where that may change.
func (s *Synthesizer) block(i int, visit func(off uint32, now *state)) {
	now := &s.now // not on the stack: visitors might keep it
	*now = s.at(i)
	if visit != nil {
		visit(s.targets[i], now)
	}
	if !now.live {
		return
	}
	ops := s.sorted[s.first[i]:s.first[i+1]]
	s.budget -= 1 + len(ops)
	behindCall := uint32(0)
	for j := range ops {
		o := &ops[j]
		since := o.end // the state after o holds from here on
		var last *op   // the op before, in the block
		if j > 0 {
			last = &ops[j-1]
		}
		behindCall = 0
		switch o.kind {
		case opBranch, opJump:
			if o.imm == outside {
				if s.proving {
					s.anchor(o, last, now)
				}
				break
			}
			if to, ok := s.target(uint32(o.imm)); ok && s.in[to].meet(now) {
				s.stale.add(to)
			}
		case opCall:
			behindCall = o.end
			fallthrough
		default:
			if o.base == baseFP && o.kind == opStore || o.kind == opSPFromFP || o.kind == opUseFP {
				s.borrows(o, now)
			}
			if s.proving {
				s.anchor(o, last, now)
			}
			s.m.apply(now, o)
			s.guard(now)
			if o.kind == opCall && s.mayMove(o) && s.moved(now) {
				since = o.off + 1
			}
		}
		if visit != nil {
			s.witness(o, last, now)
			if o.kind == opReturn && now.spOK && now.sp != s.limit && now.sp != s.entry.sp && !(last != nil && last.pushes(o.off)) {
				s.contradicted(now)
			}
			if s.later && !s.goesWell(o, now, behindCall == 0 && last != nil && last.kind == opCall && last.end == o.off) {
				s.bad[i] = true
			}
		}
		ends := o.kind.ends()
		if ends {
			*now = state{}
		}
		// What follows at the same place is not looked at when nobody comes there.
		if visit != nil && (ends || j+1 == len(ops) || ops[j+1].off != o.off) {
			visit(since, now)
		}
		if ends {
			return
		}
	}
	if i+1 == len(s.targets) {
		return
	}
	to := s.in
	if behindCall > 0 && s.only(behindCall, s.targets[i+1]) {
		to = s.weak
	}
	if to[i+1].meet(now) {
		s.stale.add(i + 1)
	}
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
		now.moved = true
	}
}

// pushes reports whether an op is the last before a place and writes to the top of the
// stack: a return there is a jump.
func (o *op) pushes(at uint32) bool {
	return o.kind == opStore && o.base == baseSP && o.imm == 0 && o.size == wordSize && o.end == at
}

// contradicted notes that there is a return where the stack pointer does not lead to
// the return address: something on the way there does to it what nobody knows. Mostly
// it is a call, of what takes its arguments off the stack.
func (s *Synthesizer) contradicted(now *state) {
	if now.called {
		s.doubtCalled = true
	} else {
		s.doubtAll = true
	}
}

// borrows notes that an instruction counts from a frame pointer that the function has
// not set up. If a frame is left without any call before, the function began in it. Or
// else, if there was a call that may have set it up, it did.
func (s *Synthesizer) borrows(o *op, now *state) {
	if s.setsFP || now.fpOK {
		return
	}
	s.usesFP = true
	switch {
	case o.kind == opSPFromFP && now.fresh:
		s.inherited = true
	case now.unproved && !now.fresh:
		s.made = true
	}
}

// witness records the evidence that an instruction gives about the function. last is the op
// before it.
func (s *Synthesizer) witness(o, last *op, now *state) {
	if (o.kind == opReturn || o.kind == opIndirect || o.kind == opJump && o.imm == outside) &&
		now.spOK && now.sp > s.entry.sp && !now.fpOK && now.intact>>fp&1 != 0 {
		s.unbalanced = true
		s.pushedOut = s.pushedOut || now.fresh
	}
	if (o.kind == opCall || o.kind == opIndirect) && !now.classic() && !(now.spOK && now.sp == s.entry.sp) {
		s.mixed = true
	}
	switch o.kind {
	case opReturn:
		switch {
		case o.imm != 0, last != nil && last.pushes(o.off):
			s.result.Odd = true
		case !now.spOK:
			s.result.Unsure = true
		case now.sp != s.limit, now.intact>>fp&1 == 0:
			s.result.Odd = true
		default:
			s.result.Returns = true
		}
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
