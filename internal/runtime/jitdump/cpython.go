package jitdump

import (
	"debug/elf"
	"time"

	"github.com/jitinject/jitinject/jitdump"
)

// CPython 3.15 and later replaces the last 8 bytes of each function's code, in the dump only. This
// gives each object of perf inject of Linux 6.17 a build id of its own
// (perf_map_jit_write_entry_with_name in Python/perf_jit_trampoline.c). The replacement, in the
// machine's byte order, is
//
//	salt ^ code_index<<32 ^ code_size,  salt = pid<<32 ^ CLOCK_MONOTONIC when the dump was begun
//
// The salt is the same for functions of different numbers or sizes: that proves it. The true bytes
// are not in the dump. They are replaced by bytes that disassemblers take for no instruction.

// saltSize is the number of replaced bytes.
const saltSize = 8

// saltAge is the maximum time between the start of the dump and its first function. It matters only
// for dumps of one function.
const saltAge = uint64(time.Hour)

// A salting is the state of the search for the salt of a dump.
type salting struct {
	salt  uint64
	first uint64 // time of the first function
	own   uint64 // index and size of the first function, as in its salt
	loads int    // number of loads with the salt
	apart bool   // loads have different own values: chance is ruled out
	none  bool   // the dump has no salt
}

// add examines a function. Functions of less than 8 bytes, or without code, show nothing.
func (s *salting) add(raw *jitdump.Raw, l *jitdump.Load) {
	if s.none || len(l.Code) < saltSize {
		return
	}
	own := l.CodeIndex<<32 ^ l.CodeSize
	v := raw.Order.Uint64(l.Code[len(l.Code)-saltSize:]) ^ own
	if s.loads == 0 {
		s.salt, s.first, s.own = v, raw.Timestamp, own
	}
	s.none = v != s.salt
	s.apart = s.apart || own != s.own
	s.loads++
}

// join adds the functions of a later part of the dump.
func (s *salting) join(later *salting) {
	if s.loads == 0 {
		*s = *later
	} else if later.loads > 0 {
		s.none, s.apart = s.none || later.none || later.salt != s.salt, s.apart || later.apart || later.own != s.own
		s.loads += later.loads
	}
}

// proved reports whether the dump of a process has a salt.
func (s *salting) proved(pid uint32) bool {
	switch {
	case s.none || s.loads == 0:
		return false
	case s.apart:
		return true
	}
	began := s.salt ^ uint64(pid)<<32
	return began <= s.first && s.first-began < saltAge
}

// replaced returns how many functions of the dump lack their last bytes.
func (l *listing) replaced() int64 {
	if !l.salt.proved(l.header.PID) {
		return 0
	}
	return int64(l.salt.loads)
}

// unsalted returns code with the salt replaced by invalid instructions, if the dump has a salt. It
// is valid until the next call.
func (r *CodeReader) unsalted(code []byte) []byte {
	if len(code) < saltSize || r.listing.replaced() == 0 {
		return code
	}
	r.patched = append(r.patched[:0], code...)
	fill := byte(0) // udf on arm64, unimp on RISC-V
	if elf.Machine(r.listing.header.Machine) == elf.EM_X86_64 {
		fill = 0x06 // invalid in 64-bit mode
	}
	for i := len(code) - saltSize; i < len(code); i++ {
		r.patched[i] = fill
	}
	return r.patched
}
