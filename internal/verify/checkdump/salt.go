package checkdump

import "github.com/jitinject/jitinject/jitdump"

// codeSalt is how many bytes at the end of each function's code CPython 3.15 replaces by
// salt ^ code_index<<32 ^ code_size (Python/perf_jit_trampoline.c).
const codeSalt = 8

// A saltCheck looks whether all functions have one salt.
type saltCheck struct {
	salt  uint64
	own   uint64 // the first function's part of its last bytes
	loads int
	apart bool // some have another part of their own
	other bool // some have another salt, or none
}

// add takes in a function.
func (s *saltCheck) add(raw *jitdump.Raw, l *jitdump.Load) {
	n := len(l.Code) - codeSalt
	if n < 0 || s.other {
		return
	}
	own := l.CodeIndex<<32 ^ l.CodeSize
	v := raw.Order.Uint64(l.Code[n:]) ^ own
	s.other = s.loads > 0 && v != s.salt
	s.apart = s.apart || s.loads > 0 && own != s.own
	s.salt, s.own = v, own
	s.loads++
}

// found reports whether there are several functions, and all have the salt.
func (s *saltCheck) found() bool { return s.apart && !s.other }
