package cfi

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// What shows that calls leave the stack pointer as it was. Where functions take their
// arguments off the caller's stack, as V8's do, and builtins make the frame of their
// caller, rows that count from the stack pointer hold after a call only if something does.
//
// A call is proved by what the function does that is called, if that is known (a Callee).
// Or it is proved by where its code leads: to a return or a tail call that finds the
// stack as it was at the entry, or to the place where a saved register is loaded from
// where it was saved, with no other way in between of finding the stack pointer. Had the
// call moved it, these would go wrong.

// A Callee says what a function does to the registers that its caller's frame depends on.
type Callee uint8

const (
	CalleeUnknown Callee = iota // nothing tells
	CalleeNeutral               // it leaves the stack pointer and the frame pointer as they were
	CalleeOther                 // it does not
)

// Callee says what callers of the function have to expect. Functions that leave by a jump
// are unknown: another one returns for them. So are those that return in different ways:
// HotSpot's entry barrier does not come back to a method that it finds outdated.
func (r *Result) Callee() Callee {
	odd := r.Odd || r.Popped > 0
	switch {
	case odd && !r.Returns:
		return CalleeOther
	case r.Returns && !odd && !r.Jumps && !r.Unsure:
		return CalleeNeutral
	}
	return CalleeUnknown
}

// prove marks the calls of which nothing shows that they leave the stack pointer as it
// was, and reports whether there are any that were not marked before.
func (s *Synthesizer) prove() (found bool) {
	s.proving = true
	for i := range s.targets {
		s.block(i, nil)
	}
	s.proving = false
	s.anchored = grown(s.anchored, len(s.targets))
	for range maxJudge {
		changed := false
		for i := len(s.targets) - 1; i >= 0; i-- {
			if !s.anchored[i] && s.leadsToAnchor(i, nil) {
				s.anchored[i], changed = true, true
			}
		}
		if !changed {
			break
		}
	}
	for i := range s.targets {
		s.leadsToAnchor(i, func(call *op) {
			if Callee(call.reg) == CalleeUnknown && s.mark[call.off]&markUnproved == 0 {
				s.mark[call.off] |= markUnproved
				found = true
			}
		})
	}
	return found
}

// leadsToAnchor reports whether code from the i-th target on leads to an anchor that
// depends on the stack pointer there. It shows each call that does not to unproved, if
// there is one.
func (s *Synthesizer) leadsToAnchor(i int, unproved func(call *op)) bool {
	ops := s.sorted[s.first[i]:s.first[i+1]]
	// Ops after the first that ends the block are never reached.
	for j := range ops {
		if ops[j].kind.ends() {
			ops = ops[:j+1]
			break
		}
	}
	leads := i+1 < len(s.targets) && (len(ops) == 0 || !ops[len(ops)-1].kind.ends()) && s.anchored[i+1]
	for j := len(ops) - 1; j >= 0; j-- {
		o := &ops[j]
		anchor := int(o.off) < len(s.code) && s.mark[o.off]&markAnchor != 0
		switch o.kind {
		case opReturn, opIndirect:
			leads = anchor
		case opJump:
			leads = anchor || s.anchoredAt(o.imm)
		case opBranch:
			leads = leads || anchor || s.anchoredAt(o.imm)
		case opTrap, opSPFromFP, opLoseSP:
			leads = false
		case opLoad:
			leads = leads || anchor
		case opCall:
			if !leads && unproved != nil {
				unproved(o)
			}
			if Callee(o.reg) == CalleeOther {
				leads = false
			}
		}
	}
	return leads
}

func (s *Synthesizer) anchoredAt(to int32) bool {
	if to == outside {
		return false
	}
	i, ok := s.target(uint32(to))
	return ok && s.anchored[i]
}

// anchor marks an op that depends on the stack pointer being where it is thought to be.
// before is the op in front of it, or nil.
func (s *Synthesizer) anchor(o, before *op, now *state) {
	is := false
	switch o.kind {
	case opReturn:
		is = now.spOK && now.sp == s.limit && !(before != nil && before.pushes(o.off))
	case opJump, opBranch:
		is = o.imm == outside && now.spOK && now.sp == s.entry.sp && Callee(o.reg) != CalleeOther
	case opIndirect: // a tail call, or by a table to code of which gaps.go demands the same
		is = now.spOK
	case opLoad:
		is = o.base == baseSP && now.spOK && now.saved[o.reg] != 0 && now.saved[o.reg] == now.sp-o.imm
	}
	if is {
		s.mark[o.off] |= markAnchor
	}
}

// mayMove reports whether a call may leave another stack pointer than there was.
func (s *Synthesizer) mayMove(call *op) bool {
	return Callee(call.reg) == CalleeOther || s.mark[call.off]&markUnproved != 0
}

// moved takes in that a call may have moved the stack pointer. If nothing was on the stack
// before it but the return address, it may have made the function's frame, too. Then what
// holds after it holds from the second byte of the call on: that is where unwinders look
// for functions that have called others, and what is called makes the frame before it
// calls anything itself. moved reports whether this is so.
func (s *Synthesizer) moved(now *state) (early bool) {
	early = now.spOK && now.sp == s.entry.sp && !now.fpOK
	if early && s.prologue {
		s.m.enterFrame(now)
	} else {
		now.loseSP()
		if !now.classic() {
			now.write(fp)
		}
	}
	now.unproved = true
	return early
}

// grown returns a slice of n zeros, in the memory of b if that is enough.
func grown(b []bool, n int) []bool {
	if cap(b) < n {
		return make([]bool, n)
	}
	b = b[:n]
	clear(b)
	return b
}

// TakesArguments reports whether code has an instruction that returns and takes arguments
// off the caller's stack. It only knows that of x86-64, where it is ret with an operand.
func TakesArguments(t jitcode.Target, code []byte) bool {
	if elf.Machine(t.Machine) != elf.EM_X86_64 {
		return false
	}
	const ret = 0xc2
	for at := 0; ; at++ {
		i := bytes.IndexByte(code[at:], ret)
		if i < 0 || at+i+2 >= len(code) {
			return false
		}
		at += i
		// Whole words, and no more of them than anybody passes.
		if n := binary.LittleEndian.Uint16(code[at+1:]); n > 0 && n%wordSize == 0 && n <= 255*wordSize && startsAt(code, at) {
			return true
		}
	}
}

// startsAt reports whether an instruction starts at code[at] when all code is decoded from
// its beginning on.
func startsAt(code []byte, at int) bool {
	var room [8]op
	pos := 0
	for pos < at {
		_, n := decodeX86(code, pos, room[:0])
		pos += max(n, 1)
	}
	return pos == at
}

// TakesArgumentsAlways reports whether code for a machine has to be treated as if it took
// arguments off the caller's stack, since nothing as simple as a return shows it.
func TakesArgumentsAlways(t jitcode.Target) bool { return elf.Machine(t.Machine) == elf.EM_AARCH64 }
