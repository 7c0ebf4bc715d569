package cfi

import (
	"slices"
)

// maxVisits is the average number of visits of an op before a function is given up. States only
// lose content, so the visits of each target are bounded by the size of a state. Real code needs a
// tenth of this.
const maxVisits = 64

// flow computes the state at each target: the common rules of all paths to it. It returns false if
// it exceeds its budget.
//
// In correct code, the paths agree on the CFA. If they do not, one of them is never taken. This
// happens after a call that does not return, mostly the last op of its block. If jumps to the code
// after it disagree with it, the jumps are right. Then flow starts again without that path.
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
			// A called place has a return address on the stack that the entry lacks.
			if i, ok := s.target(at); ok && (!s.later || s.mark[at]&markCalled == 0) {
				s.in[i].meet(first)
				s.stale.add(i)
			}
		}
		// In the order of addresses, again from the start until no target is left.
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

// at returns the state at a target.
func (s *Synthesizer) at(i int) state {
	in := s.in[i]
	if !s.distrust[i] {
		in.meet(&s.weak[i])
	}
	// A function may call itself from its second instruction on. If there is more on the stack, its
	// size is unknown: the return address of the call is not counted.
	if in.spOK && in.sp != s.entry.sp && s.mark[s.targets[i]]&markCalled != 0 {
		in.loseSP()
	}
	return in
}

// block propagates the state at a target through the code up to the next target. It calls visit, if
// not nil, with the state from each place where it may change.
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
		since := o.end // the state after o is valid from here on
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
		// Skip unreachable code that follows at the same place.
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

// only reports whether there is only padding between two places.
func (s *Synthesizer) only(from, to uint32) bool {
	return from <= to && from+uint32(s.m.padding(s.code[from:to])) == to
}

// guard ensures that the return address is below the stack pointer. After the stack pointer has
// passed it, its place is unknown.
func (s *Synthesizer) guard(now *state) {
	if now.spOK && now.sp < s.limit {
		s.result.Popped = max(s.result.Popped, uint64(s.limit-now.sp))
		now.loseSP()
		now.moved = true
	}
}

// pushes reports whether an op is the last before a place, and writes to the top of the stack: a
// return there is a jump.
func (o *op) pushes(at uint32) bool {
	return o.kind == opStore && o.base == baseSP && o.imm == 0 && o.size == wordSize && o.end == at
}

// contradicted records a return where the stack pointer does not lead to the return address: its
// value is wrong. Mostly a call of a function that removes its arguments from the stack is the
// reason.
func (s *Synthesizer) contradicted(now *state) {
	if now.called {
		s.doubtCalled = true
	} else {
		s.doubtAll = true
	}
}

// borrows records an instruction that uses a frame pointer which the function has not set. If a
// frame is left without any call before, the function began in that frame. It also did if it has
// popped more than it has pushed: C1's forward_exception ends the frame of the stub that jumps to it
// (generate_handle_exception of c1_Runtime1_x86.cpp). Functions that drop arguments pop these as
// well. Otherwise, if there was a call that may have made the frame, it did.
func (s *Synthesizer) borrows(o *op, now *state) {
	if s.setsFP || now.fpOK {
		return
	}
	s.usesFP = true
	switch {
	case o.kind == opSPFromFP && (now.fresh || now.moved && !s.strict):
		s.inherited = true
	case now.unproved && !now.fresh:
		s.made = true
	}
}

// witness records what an instruction shows about the function. last is the op before it.
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
