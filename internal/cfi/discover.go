package cfi

import (
	"slices"
	"sort"
)

// Marks of bytes.
const (
	markStart    = 1 << iota // start of an instruction
	markTarget               // target of a jump
	markTried                // start of a decoded gap
	markOld                  // start of an instruction in an earlier part
	markCalled               // target of a call
	markUnproved             // a call here may have moved the stack pointer
	markAnchor               // the instruction here depends on the stack pointer
)

// A run is code from start to end, without gaps. Only its last instruction may lack a successor.
type run struct {
	start, end uint32
	ops, upTo  int // the run's ops are s.ops[ops:upTo]
}

// discover decodes all code that is reachable from s.gaps and was not decoded before. It sets
// s.runs, s.sorted with the ops, and s.targets with the jump targets, sorted by address. It returns
// false if instructions overlap, or if there are too many.
func (s *Synthesizer) discover() bool { return s.takeApart() && s.order() }

// takeApart sets s.runs and s.ops. It returns false if the code exceeds the limits.
func (s *Synthesizer) takeApart() bool {
	s.runs, s.ops, s.sorted, s.targets = s.runs[:0], s.ops[:0], s.sorted[:0], s.targets[:0]
	s.pending = append(s.pending[:0], s.gaps...)
	for _, at := range s.gaps {
		s.lead(at)
	}
	s.behind = s.behind[:0]
	for len(s.pending)+len(s.behind) > 0 {
		if len(s.pending) == 0 {
			s.further()
			continue
		}
		at := s.pending[len(s.pending)-1]
		s.pending = s.pending[:len(s.pending)-1]
		if s.mark[at]&markStart == 0 {
			s.follow(at)
		}
		if s.tooMuch() {
			return false
		}
	}
	sort.Sort((*byStart)(&s.runs))
	return true
}

// byStart sorts runs. slices.SortFunc makes the program 12 kB larger for this type.
type byStart []run

func (r *byStart) Len() int           { return len(*r) }
func (r *byStart) Less(i, j int) bool { return (*r)[i].start < (*r)[j].start }
func (r *byStart) Swap(i, j int)      { (*r)[i], (*r)[j] = (*r)[j], (*r)[i] }

// order sets s.sorted and completes s.targets. It returns false if instructions overlap.
func (s *Synthesizer) order() bool {
	end := uint32(0)
	for i, r := range s.runs {
		if r.start < end {
			if r.end <= end && r.ops == r.upTo {
				continue // a jump over the prefix lock, without an effect on frames
			}
			return false
		}
		end = r.end
		s.sorted = append(s.sorted, s.ops[r.ops:r.upTo]...)
		if i+1 == len(s.runs) || s.runs[i+1].start != r.end { // into an earlier part, or off the code
			s.sorted = append(s.sorted, op{off: r.end, end: r.end, kind: opTrap})
		}
	}
	for _, at := range s.calls {
		if s.mark[at]&(markStart|markOld) == markStart {
			s.lead(at)
		}
	}
	slices.Sort(s.targets)
	s.targets = slices.Compact(s.targets)
	for i, at := range s.targets {
		s.slot[at] = uint32(i)
	}
	return true
}

// target returns the index of a place in s.targets. ok is false if it is not there: an earlier part
// may have it.
func (s *Synthesizer) target(at uint32) (i int, ok bool) {
	i = int(s.slot[at]) // slot is never cleared: this may be a value for other code
	return i, i < len(s.targets) && s.targets[i] == at
}

// maxPadding is the maximum length of padding that is skipped, in bytes: many jumps may lead into
// one long row of int3.
const maxPadding = 1 << 10

// further continues in a gap after code that ended. More code may follow, reached only by jumps
// with unknown targets, as in an interpreter.
func (s *Synthesizer) further() {
	at := s.behind[len(s.behind)-1]
	s.behind = s.behind[:len(s.behind)-1]
	at += uint32(s.m.padding(s.code[at:min(int(at)+maxPadding, len(s.code))]))
	if int(at) < len(s.code) && s.mark[at]&(markStart|markTried) == 0 {
		s.mark[at] |= markTried
		s.gaps = append(s.gaps, at)
		s.pending = append(s.pending, at)
		s.lead(at)
	}
}

// age assigns all code found so far to earlier parts. Data decoded as code must not change the
// results for code.
func (s *Synthesizer) age() {
	for i, m := range s.mark {
		if m&markStart != 0 {
			s.mark[i] |= markOld
		}
	}
	s.later = true
}

// crosses reports whether an instruction overlaps code of an earlier part.
func (s *Synthesizer) crosses(at uint32, n int) bool {
	for _, m := range s.mark[at : int(at)+n] {
		if m&markOld != 0 {
			return true
		}
	}
	return false
}

func (s *Synthesizer) tooMuch() bool { return len(s.ops) > maxOps || len(s.targets) > maxTargets }

// lead records the target of a jump.
func (s *Synthesizer) lead(at uint32) {
	if s.mark[at]&markTarget == 0 {
		s.mark[at] |= markTarget
		s.targets = append(s.targets, at)
	}
}

// follow decodes code from one instruction on. It stops after an instruction without a successor,
// and before decoded code.
func (s *Synthesizer) follow(at uint32) {
	r := run{start: at, ops: len(s.ops)}
	decode, code := s.m.decode, s.code
	for int(at) < len(code) && s.mark[at]&markStart == 0 && !s.tooMuch() {
		before := len(s.ops)
		var n int
		if s.ops, n = decode(code, int(at), s.ops); n == 0 || s.later && s.crosses(at, n) {
			s.ops = s.ops[:before]
			// The effect of this instruction is unknown, and so is its length.
			s.ops = append(s.ops, op{off: at, end: at, kind: opTrap, imm: undecodable})
			break
		}
		s.mark[at] |= markStart
		at += uint32(n)
		s.dropUses(max(before, r.ops), r.ops)
		if len(s.ops) == before {
			continue
		}
		o := &s.ops[len(s.ops)-1]
		if (o.kind == opCall || o.kind == opJump || o.kind == opBranch) && o.imm == outside && s.Callee != nil {
			if by, ok := s.m.displacement(code[at-uint32(n) : at]); ok {
				o.reg = uint8(s.Callee(int64(at-uint32(n)) + by))
			}
		}
		for i := before; i < len(s.ops); i++ {
			// As a frame pointer or as any other register.
			s.setsFP = s.setsFP || s.ops[i].kind == opFPFromSP || s.ops[i].kind == opWrite && s.ops[i].reg == fp
		}
		if (o.kind == opBranch || o.kind == opJump) && o.imm != outside {
			if to := uint32(o.imm); s.mark[to]&markOld == 0 {
				s.lead(to)
				if s.mark[to]&markStart == 0 {
					s.pending = append(s.pending, to)
				}
			}
		}
		if o.kind == opCall && s.Leaves && !s.strict && Callee(o.reg) == CalleeOther {
			// HotSpot's rethrow_stub pops its return address and jumps to a handler.
			s.ops = append(s.ops, op{off: o.off, end: at, kind: opTrap})
			o = &s.ops[len(s.ops)-1]
		}
		// Calls of the function's own start need no mark.
		if o.kind == opCall && o.imm > 0 && s.mark[o.imm]&markCalled == 0 {
			s.mark[o.imm] |= markCalled
			s.calls = append(s.calls, uint32(o.imm))
		}
		if o.kind.ends() {
			if s.later && int(at) < len(code) {
				s.behind = append(s.behind, at)
			}
			break
		}
	}
	r.end, r.upTo = at, len(s.ops)
	s.runs = append(s.runs, r)
}

// dropUses removes the use of the frame pointer at s.ops[at] if it shows nothing new: an earlier use
// exists, or the function sets the frame pointer and this is not a gap.
func (s *Synthesizer) dropUses(at, first int) {
	if at < len(s.ops) && s.ops[at].kind == opUseFP && (s.setsFP && !s.later || at > first && s.ops[at-1].kind == opUseFP) {
		s.ops = append(s.ops[:at], s.ops[at+1:]...)
	}
}
