package cfi

// wordSize is the word size of the supported machines, in bytes.
const wordSize = 8

// A kind is the effect of an instruction, or of a part of it, on frames. Instructions without such
// an effect have no op.
type kind uint8

const (
	opAddSP    kind = iota // sp += imm
	opLoseSP               // sp gets an unknown value
	opSPFromFP             // sp = fp + imm
	opFPFromSP             // fp = sp + imm
	opStore                // memory at base + imm = reg, or anything if that is none
	opLoad                 // reg = memory at base + imm
	opWrite                // reg gets a value
	opUseFP                // memory at fp + something is read, or its address is computed
	opSign                 // the return address in ra is signed; if imm is 0, it is no longer
	opCall                 // a call; reg is the Callee; it writes to ra on machines that have it

	// The following kinds are about the next instruction.
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

// An op is one effect of the instruction from off up to end. Instructions with several effects have
// several ops, in the order of the effects.
type op struct {
	off, end  uint32
	imm       int32 // or the target of a jump, or outside
	kind      kind
	reg, base uint8
	size      uint8 // of the stored value, in bytes
}

// outside is the target of jumps that leave the function, and of calls that may do so.
const outside = -1

// undecodable is the imm of an opTrap at code that cannot be decoded.
const undecodable = 1

// ends reports whether the op has no successor.
func (k kind) ends() bool { return k >= opJump }

// enterFrame applies a prologue, except for the unknown size of the frame.
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
