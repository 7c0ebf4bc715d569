package cfi

import (
	"cmp"
	"encoding/binary"
	"slices"
)

// A sign is a property of code in a gap: it shows whether a call may have entered the code.
type sign uint8

const (
	signFrame  sign = 1 << iota // it runs in the function's frame
	signCalls                   // it calls something
	signCalled                  // the function calls it
	signLeaves                  // it leaves the function
	signEnds                    // it ends otherwise
)

// A gapRun has the signs of a run in a gap. Jumps between runs keep the frame, so they connect runs
// to groups.
type gapRun struct {
	parent   int  // another run of its group, or itself
	code     bool // it is no data, and not only data leads to it
	targeted bool // a run leads to it
	signs    sign // of its group; only set for the run that is its own parent
}

// findSigns sets s.gapRuns for the runs of the current gaps. frame is the state at their start, and
// s.pieces has the known code.
func (s *Synthesizer) findSigns(frame *state) {
	s.gapRuns = s.gapRuns[:0]
	for i := range s.runs {
		s.gapRuns = append(s.gapRuns, gapRun{parent: i})
	}
	words, table := uint32(0), false // the end of the last words that might be a table
	for i, r := range s.runs {
		if r.start >= words {
			words, table = s.tableAt(r.start)
		}
		if !(table && r.start < words) && s.mark[r.start]&markTried != 0 && !s.gapRuns[i].code {
			s.connect(i)
		}
	}
	for i := range s.runs {
		if s.gapRuns[i].code {
			s.gapRuns[s.groupOf(i)].signs |= s.signsOf(i, frame)
		}
	}
}

// addressBits is the size of user addresses, on machines with derived frames.
const addressBits = 48

// tableAt reports whether a table of addresses of this function's code starts at a place, and
// returns the end of its words. Jump tables of V8 and of LLVM are such. The addresses are larger
// than the function's size, and differ by less. From every word up to end, the result is the same
// if ok is false, so that each word is read once.
func (s *Synthesizer) tableAt(at uint32) (end uint32, ok bool) {
	size := int64(len(s.code))
	at &^= wordSize - 1
	last := int64(0)
	for end = at; int64(end)+wordSize <= size; end += wordSize {
		word := int64(binary.LittleEndian.Uint64(s.code[end:]))
		if word>>addressBits != 0 || end > at && (word-last <= -size || word-last >= size) {
			break
		}
		last = word
	}
	return end, end >= at+2*wordSize && last >= size
}

// connect marks the i-th run as code, and all runs that it leads to. They are one group.
func (s *Synthesizer) connect(i int) {
	s.gapRuns[i].code = true
	for s.pending = append(s.pending[:0], uint32(i)); len(s.pending) > 0; {
		from := int(s.pending[len(s.pending)-1])
		s.pending = s.pending[:len(s.pending)-1]
		lead := func(at uint32) {
			to, ok := s.runAt(at)
			if !ok || to == from {
				return
			}
			if !s.gapRuns[to].code {
				s.gapRuns[to].code, s.pending = true, append(s.pending, uint32(to))
			}
			s.gapRuns[to].targeted = true
			s.gapRuns[s.groupOf(from)].parent = s.groupOf(to)
		}
		r := s.runs[from]
		for _, o := range s.ops[r.ops:r.upTo] {
			if (o.kind == opBranch || o.kind == opJump) && o.imm != outside {
				lead(uint32(o.imm))
			}
		}
		if s.continues(r) {
			lead(r.end)
		}
	}
}

// groupOf returns the group of the i-th run: the index of the run that is its own parent.
func (s *Synthesizer) groupOf(i int) int {
	for s.gapRuns[i].parent != i {
		s.gapRuns[i].parent = s.gapRuns[s.gapRuns[i].parent].parent
		i = s.gapRuns[i].parent
	}
	return i
}

// runAt returns the index of the run of the current gaps that covers a place.
func (s *Synthesizer) runAt(at uint32) (i int, ok bool) {
	i, found := slices.BinarySearchFunc(s.runs, at, func(r run, at uint32) int { return cmp.Compare(r.start, at) })
	if !found {
		i--
	}
	return i, i >= 0 && at < s.runs[i].end
}

// continues reports whether a run leads to the code after it.
func (s *Synthesizer) continues(r run) bool { return r.ops == r.upTo || !s.ops[r.upTo-1].kind.ends() }

// asCalled returns the state after a call.
func (s *Synthesizer) asCalled() state {
	return state{live: true, spOK: true, sp: s.limit, intact: 1<<len(s.m.regs) - 1}
}

// signsOf returns the signs of the i-th run. frame is the function's. The run is followed as if a
// call had entered it.
func (s *Synthesizer) signsOf(i int, frame *state) (signs sign) {
	r, now := s.runs[i], s.asCalled()
	if s.gapRuns[i].targeted {
		now.loseSP() // the code before may have pushed something
	}
	for _, m := range s.mark[r.start:r.end] {
		if m&markCalled != 0 {
			signs |= signCalled
		}
	}
	if s.onlyJumps(i) {
		signs |= signFrame
	}
	for j := range s.ops[r.ops:r.upTo] {
		o := &s.ops[r.ops+j]
		usesFrame := false
		switch o.kind {
		case opUseFP, opSPFromFP:
			usesFrame = frame.fpOK && !now.fpOK
		case opLoad, opStore:
			usesFrame = o.base == baseFP && frame.fpOK && !now.fpOK || s.overwritesReturn(o, &now)
		case opCall:
			signs |= signCalls
		case opBranch, opJump, opIndirect:
			if o.kind == opIndirect || o.imm == outside {
				signs |= signLeaves
				usesFrame = o.kind != opIndirect && Callee(o.reg) == CalleeOther
				if s.makesReturn(&now) {
					signs |= signCalls
				}
			} else {
				signs |= s.signsAt(uint32(o.imm), &now)
			}
		case opReturn:
			signs |= signLeaves
		case opTrap:
			signs |= signEnds
		}
		if s.m.apply(&now, o); usesFrame || now.spOK && now.sp < s.limit {
			signs |= signFrame
		}
	}
	if s.continues(r) {
		signs |= signEnds | s.signsAt(r.end, &now)
	}
	return signs
}

// onlyJumps reports whether the i-th run is one direct jump out of the function.
func (s *Synthesizer) onlyJumps(i int) bool {
	r := s.runs[i]
	if s.gapRuns[i].targeted || r.ops == r.upTo {
		return false
	}
	o := &s.ops[r.ops]
	return o.kind == opJump && o.imm == outside && o.off == r.start
}

// makesReturn reports whether code that jumps with a state has made a return address for the
// target: it has pushed more than it popped, or written to the register.
func (s *Synthesizer) makesReturn(now *state) bool {
	if s.m.linked {
		return now.intact>>ra&1 == 0
	}
	return now.spOK && now.sp > s.limit
}

// overwritesReturn reports whether an op writes to the return address on the stack.
func (s *Synthesizer) overwritesReturn(o *op, now *state) bool {
	n, ok := now.below(o.base, o.imm)
	return o.kind == opStore && ok && !s.m.linked && n > 0 && n-int32(o.size) < wordSize
}

// signsAt returns the sign of code in a gap that continues at a place with a state.
func (s *Synthesizer) signsAt(at uint32, now *state) sign {
	if _, gap := s.runAt(at); gap {
		return 0
	}
	if p := s.knownAt(at); p != nil && (p.classic() && !now.classic() || p.conflicts(now)) {
		return signFrame
	}
	return signEnds
}
