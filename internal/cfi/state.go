package cfi

// maxSaved is the maximum number of watched registers.
const maxSaved = 12

// Watched registers, as indexes in a state. Machines define which registers these are.
const (
	fp   = 0 // the frame pointer
	ra   = 1 // the return address, on machines that have it in a register
	none = 0xff
)

// A state has the known rules before an instruction: distances from registers to the CFA, and the
// places of the caller's registers.
type state struct {
	live       bool // reachable
	spOK, fpOK bool
	called     bool  // there is a call on a path to here
	unproved   bool  // there is one that may have changed the stack pointer
	fresh      bool  // there is a path without any call
	signed     bool  // the return address is signed on one path
	moved      bool  // the word below the CFA lacks the return address on all paths
	sp, fp     int32 // distance from the stack pointer, and frame pointer, up to the CFA

	intact uint16          // registers that still have the caller's value
	saved  [maxSaved]int32 // else the caller's value is so far below the CFA; 0 if lost
}

// classic reports whether the frame pointer points at the caller's frame pointer, as in frames that
// are made for unwinding.
func (s *state) classic() bool { return s.fpOK && s.saved[fp] == s.fp && s.fp > 0 }

// meet keeps the common rules of both states. It reports whether s lost a rule.
func (s *state) meet(t *state) (changed bool) {
	if !t.live || *s == *t {
		return false
	}
	if !s.live {
		*s = *t
		return true
	}
	was := *s
	s.spOK = s.spOK && t.spOK && s.sp == t.sp
	s.fpOK = s.fpOK && t.fpOK && s.fp == t.fp
	s.called, s.signed, s.unproved = s.called || t.called, s.signed || t.signed, s.unproved || t.unproved
	s.fresh, s.moved = s.fresh || t.fresh, s.moved && t.moved
	s.intact &= t.intact
	for i := range s.saved {
		if s.saved[i] != t.saved[i] {
			s.saved[i] = 0
		}
	}
	s.tidy()
	return *s != was
}

// tidy gives equal states equal bits.
func (s *state) tidy() {
	if !s.spOK {
		s.sp = 0
	}
	if !s.fpOK {
		s.fp = 0
	}
}

// conflicts reports whether two states cannot belong to one frame.
func (s *state) conflicts(t *state) bool {
	return s.live && t.live && s.spOK && t.spOK && s.sp != t.sp
}

// doubt removes the rules that depend on the stack pointer.
func (s *state) doubt(m *machine) {
	s.loseSP()
	classic := s.classic() && (m.linked || s.fp == 2*wordSize)
	if !classic {
		s.fpOK, s.fp = false, 0
	}
	for i := range s.saved {
		if !classic || i != fp && i != ra {
			s.saved[i] = 0
		}
	}
}

// below returns how far below the CFA an operand's address is.
func (s *state) below(base uint8, displacement int32) (n int32, ok bool) {
	switch {
	case base == baseSP && s.spOK:
		return s.sp - displacement, true
	case base == baseFP && s.fpOK:
		return s.fp - displacement, true
	}
	return 0, false
}

// addSP adds to the stack pointer.
func (s *state) addSP(by int32) {
	if s.spOK {
		s.setSP(int64(s.sp) - int64(by))
	}
}

// maxFrame is above the size of all frames, so that sums do not overflow.
const maxFrame = 1 << 28

func (s *state) setSP(sp int64) {
	if sp > maxFrame || sp < -maxFrame {
		s.loseSP()
		return
	}
	s.spOK, s.sp = true, int32(sp)
	for i, n := range s.saved {
		if n > s.sp {
			s.saved[i] = 0 // it is below the end of the stack
		}
	}
}

func (s *state) loseSP() { s.spOK, s.sp = false, 0 }

// loseReturnAddress records that the word below the CFA no longer has the return address. V8's
// bytecode handlers move it down to make space for arguments, and leave by a jump. From there on,
// nothing is known.
func (s *state) loseReturnAddress() {
	s.moved = true
	s.loseSP()
	s.fpOK, s.fp = false, 0
}

func (s *state) setFP(fp int64) {
	if s.fpOK = fp <= maxFrame && fp >= -maxFrame; s.fpOK {
		s.fp = int32(fp)
	}
	s.tidy()
}

// write applies a register write with a value that is not the caller's.
func (s *state) write(reg uint8) {
	s.intact &^= 1 << reg
	if reg == fp {
		s.fpOK, s.fp = false, 0
	}
}

// store applies a write of a register, or of something else, to memory.
func (s *state) store(reg, base uint8, displacement, size int32) {
	n, ok := s.below(base, displacement)
	if !ok {
		return
	}
	whole := reg != none && s.intact>>reg&1 != 0
	for i, at := range s.saved {
		// The saved word is from CFA-at up, the stored one from CFA-n.
		if at != 0 && n-size < at && at-wordSize < n && !(whole && i == int(reg) && at == n) {
			s.saved[i] = 0
		}
	}
	if whole && s.saved[reg] == 0 && n > 0 {
		s.saved[reg] = n
	}
}

// load applies a load of a register from memory: a saved value is restored.
func (s *state) load(reg, base uint8, displacement int32) {
	n, ok := s.below(base, displacement)
	s.write(reg)
	if ok && s.saved[reg] == n && n != 0 {
		s.intact |= 1 << reg
	}
}
