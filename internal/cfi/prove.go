package cfi

import (
	"bytes"
	"debug/elf"
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// Proofs that calls leave the stack pointer unchanged. V8's functions remove their arguments from
// the caller's stack, and builtins build the frame of their caller. So rows that count from the
// stack pointer are valid after a call only with a proof.
//
// A call is proved by the code of the called function, if that is known (a Callee). Or it is proved
// by the code after it. That leads to a return or a tail call with the stack as at the entry, or
// loads a saved register from its place. Nothing in between may set the stack pointer from
// elsewhere. If the call had moved the stack pointer, these would fail.

// A Callee is the effect of a function on the registers that its caller's frame depends on.
type Callee uint8

const (
	CalleeUnknown Callee = iota // nothing is proved
	CalleeNeutral               // leaves the stack pointer and the frame pointer unchanged
	CalleeOther                 // changes one of them
)

// Callee returns the effect of the function on its callers. Functions that leave by a jump
// are unknown: another function returns for them. So are functions that return in different
// ways: HotSpot's entry barrier does not return to an outdated method.
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

// prove marks calls without proof that they leave the stack pointer unchanged. It reports
// whether any of them was not marked before.
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
// depends on the stack pointer there. It passes each call that does not to unproved, unless
// that is nil.
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
		if o.kind != opReturn && o.kind != opLoad && s.usesFP && !s.setsFP {
			anchor = false // a call may have built the frame, and the jump may leave it
		}
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

// anchor marks an op that needs the stack pointer to be as assumed. before is the previous
// op, or nil.
func (s *Synthesizer) anchor(o, before *op, now *state) {
	is := false
	switch o.kind {
	case opReturn:
		is = now.spOK && now.sp == s.limit && !(before != nil && before.pushes(o.off))
	case opJump, opBranch: // a tail call; to unknown code, it may be the end of a frame that an unproved call began
		is = o.imm == outside && now.spOK && now.sp == s.entry.sp && Callee(o.reg) == CalleeNeutral
	case opIndirect: // a tail call
		is = now.spOK && now.sp == s.entry.sp
	case opLoad:
		is = o.base == baseSP && now.spOK && now.saved[o.reg] != 0 && now.saved[o.reg] == now.sp-o.imm
	}
	if is {
		s.mark[o.off] |= markAnchor
	}
}

// mayMove reports whether a call may change the stack pointer.
func (s *Synthesizer) mayMove(call *op) bool {
	return Callee(call.reg) == CalleeOther || s.mark[call.off]&markUnproved != 0
}

// moved applies a call that may have moved the stack pointer. If only the return address was on the
// stack, the call may have built the function's frame. Then the new state is valid from the second
// byte of the call on: unwinders look there for callers, and the callee builds the frame before it
// calls anything. moved reports whether this is so.
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

// grown returns a slice of n zeros, in the memory of b if that is large enough.
func grown(b []bool, n int) []bool {
	if cap(b) < n {
		return make([]bool, n)
	}
	b = b[:n]
	clear(b)
	return b
}

// TakesArguments reports whether code has an instruction that returns and removes arguments from
// the caller's stack. It knows only that of x86-64: ret with an operand.
func TakesArguments(t jitcode.Target, code []byte) bool {
	if elf.Machine(t.Machine) != elf.EM_X86_64 {
		return false
	}
	const ret = 0xc2
	var room [8]op
	decoded := 0 // the start of an instruction, if code is decoded from its first byte on
	for at := 0; ; at++ {
		i := bytes.IndexByte(code[at:], ret)
		if i < 0 || at+i+2 >= len(code) {
			return false
		}
		at += i
		// Whole words, and a plausible number of them.
		n := binary.LittleEndian.Uint16(code[at+1:])
		if n == 0 || n%wordSize != 0 || n > 255*wordSize {
			continue
		}
		for decoded < at {
			_, n := decodeX86(code, decoded, room[:0])
			decoded += max(n, 1)
		}
		if decoded == at {
			return true
		}
	}
}

// TakesArgumentsAlways reports whether any code for a machine may remove arguments from the
// caller's stack, because no return instruction shows it.
func TakesArgumentsAlways(t jitcode.Target) bool { return elf.Machine(t.Machine) == elf.EM_AARCH64 }
