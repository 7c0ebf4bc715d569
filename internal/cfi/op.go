package cfi

// wordSize is that of the machines whose code is understood here.
const wordSize = 8

// A kind says what an instruction does, or a part of it, as far as frames are
// concerned. Instructions that do nothing of this are not kept.
type kind uint8

const (
	opAddSP    kind = iota // sp += imm
	opLoseSP               // sp gets a value that nobody knows
	opSPFromFP             // sp = fp + imm
	opFPFromSP             // fp = sp + imm
	opStore                // memory at base + imm = reg, or anything if that is none
	opLoad                 // reg = memory at base + imm
	opWrite                // reg gets a value
	opUseFP                // memory at fp + something is read, or its address taken
	opSign                 // the return address in ra is signed, or is no longer, if imm is 0
	opCall                 // a call; reg is the Callee; it writes to ra on machines that have it

	// What follows is about which instruction comes next.
	opBranch   // target or the next one
	opJump     // target; reg is the Callee if the target is outside
	opIndirect // unknown target
	opReturn   // drops imm bytes above the return address as well
	opTrap     // no next instruction
)

const (
	baseSP = iota
	baseFP
	baseNone
)

// An op is one effect of the instruction from off up to end. Instructions with
// several effects have several ops, in the order in which these happen.
type op struct {
	off, end  uint32
	imm       int32 // or the target of a jump, or outside
	kind      kind
	reg, base uint8
	size      uint8 // of what is stored, in bytes
}

// outside is the target of jumps that leave the function, and of calls that are not
// known to lead into it.
const outside = -1

// undecodable is the imm of an opTrap at code that nobody understands.
const undecodable = 1

// ends reports whether the next instruction is not the one behind it.
func (k kind) ends() bool { return k >= opJump }

// enterFrame is what a prologue does, up to where nobody knows how large the frame is.
func (m *machine) enterFrame(s *state) {
	s.loseSP()
	s.fpOK, s.fp = true, 2*wordSize
	s.saved[fp] = 2 * wordSize
	if m.linked {
		s.saved[ra] = wordSize
	}
	s.intact &^= 1<<fp | 1<<ra
}

// apply changes a state by an op.
func (m *machine) apply(s *state, o *op) {
	switch o.kind {
	case opAddSP:
		s.addSP(o.imm)
	case opLoseSP:
		s.loseSP()
	case opSPFromFP:
		if s.fpOK {
			s.setSP(int64(s.fp) - int64(o.imm))
		} else {
			s.loseSP()
		}
	case opFPFromSP:
		sp, ok := s.sp, s.spOK
		s.write(fp)
		if ok {
			s.setFP(int64(sp) - int64(o.imm))
		}
	case opStore:
		if n, ok := s.below(o.base, o.imm); ok && !m.linked && n > 0 && n-int32(o.size) < wordSize {
			s.loseReturnAddress()
			return
		}
		s.store(o.reg, o.base, o.imm, int32(o.size))
	case opLoad:
		s.load(o.reg, o.base, o.imm)
	case opWrite:
		s.write(o.reg)
	case opSign:
		s.signed = o.imm != 0
	case opCall:
		s.called, s.fresh = true, false
		if m.linked {
			s.write(ra)
		}
	}
}
