package cfi

// maxSaved is how many registers are watched, at most.
const maxSaved = 12

// Registers that are watched, as the index of their state. Machines say which
// registers these are.
const (
	fp   = 0 // the frame pointer
	ra   = 1 // the return address, on machines that have it in a register
	none = 0xff
)

// A state is what is known before an instruction: numbers that lead from registers
// to the CFA, and where the caller's registers are.
type state struct {
	live       bool // can this be reached?
	spOK, fpOK bool
	called     bool  // is there a call on a way that leads here?
	unproved   bool  // is there one that may have changed the stack pointer?
	fresh      bool  // is there a way without any call?
	signed     bool  // is the return address signed on one?
	moved      bool  // does the word below the CFA lack the return address, on all ways?
	sp, fp     int32 // the CFA is so much above the stack pointer and above the frame pointer

	intact uint16          // registers that still hold what they held in the caller
	saved  [maxSaved]int32 // or the caller's value is so much below the CFA; 0 for nowhere
}

// classic reports whether the frame pointer points at the frame pointer of the
// caller, as it does in a frame that is made to be walked.
func (s *state) classic() bool { return s.fpOK && s.saved[fp] == s.fp && s.fp > 0 }

// meet keeps what holds in both states, and reports whether that is less than what
// held in s.
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

// conflicts reports whether two states cannot both be of one frame.
func (s *state) conflicts(t *state) bool {
	return s.live && t.live && s.spOK && t.spOK && s.sp != t.sp
}

// doubt takes back what follows from the stack pointer.
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

// below says how far below the CFA an address is that an instruction names.
func (s *state) below(base uint8, displacement int32) (n int32, ok bool) {
	switch {
	case base == baseSP && s.spOK:
		return s.sp - displacement, true
	case base == baseFP && s.fpOK:
		return s.fp - displacement, true
	}
	return 0, false
}

// addSP moves the stack pointer.
func (s *state) addSP(by int32) {
	if s.spOK {
		s.setSP(int64(s.sp) - int64(by))
	}
}

// maxFrame is more than any frame has, so that sums do not overflow.
const maxFrame = 1 << 28

func (s *state) setSP(sp int64) {
	if sp > maxFrame || sp < -maxFrame {
		s.loseSP()
		return
	}
	s.spOK, s.sp = true, int32(sp)
	for i, n := range s.saved {
		if n > s.sp {
			s.saved[i] = 0 // the stack ends above
		}
	}
}

func (s *state) loseSP() { s.spOK, s.sp = false, 0 }

// loseReturnAddress records that the word below the CFA no longer has the return address.
// V8's handlers of bytecodes move it down to make room for arguments, and leave by a jump.
// From there on, nothing is known.
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

// write notes that a register gets a value that has nothing to do with the caller.
func (s *state) write(reg uint8) {
	s.intact &^= 1 << reg
	if reg == fp {
		s.fpOK, s.fp = false, 0
	}
}

// store notes that a register, or something else, goes to memory.
func (s *state) store(reg, base uint8, displacement, size int32) {
	n, ok := s.below(base, displacement)
	if !ok {
		return
	}
	whole := reg != none && s.intact>>reg&1 != 0
	for i, at := range s.saved {
		// What is saved is from CFA-at up, what is stored from CFA-n.
		if at != 0 && n-size < at && at-wordSize < n && !(whole && i == int(reg) && at == n) {
			s.saved[i] = 0
		}
	}
	if whole && s.saved[reg] == 0 && n > 0 {
		s.saved[reg] = n
	}
}

// load notes that a register comes from memory: what was saved there is back.
func (s *state) load(reg, base uint8, displacement int32) {
	n, ok := s.below(base, displacement)
	s.write(reg)
	if ok && s.saved[reg] == n && n != 0 {
		s.intact |= 1 << reg
	}
}
