package stepped

import (
	"slices"

	"golang.org/x/sys/unix"
)

// saved are the registers that a callee keeps for its caller, by the numbers that DWARF
// gives them. [System V ABI, AMD64, 3.2.1 and 3.6.2]
var saved = [...]uint8{3, 6, 12, 13, 14, 15}

func savedOf(r *unix.PtraceRegs) [6]uint64 {
	return [...]uint64{r.Rbx, r.Rbp, r.R12, r.R13, r.R14, r.R15}
}

// A shadowFrame is what the shadow stack knows of a call.
type shadowFrame struct {
	slot, ra uint64 // where the return address is, and which it is
	regs     [6]uint64
}

// A shadow is a shadow stack: the calls that have been made while it watched.
type shadow struct{ frames []shadowFrame }

// A moment is a thread before an instruction.
type moment struct {
	regs unix.PtraceRegs
	top  uint64 // what the stack pointer points to
}

// stepped takes in an instruction that led from one moment to another.
func (s *shadow) stepped(from, to *moment) {
	switch {
	case to.regs.Rsp == from.regs.Rsp-8 && to.top-from.regs.Rip-2 <= 6 && (to.regs.Rip != to.top || to.top-from.regs.Rip == 5):
		// Frames below are gone: an exception, or a stack that was switched.
		for len(s.frames) > 0 && s.frames[len(s.frames)-1].slot <= to.regs.Rsp {
			s.frames = s.frames[:len(s.frames)-1]
		}
		s.frames = append(s.frames, shadowFrame{to.regs.Rsp, to.top, savedOf(&to.regs)})
	case to.regs.Rip == from.top && to.regs.Rsp >= from.regs.Rsp+8 && to.regs.Rsp-from.regs.Rsp < 1<<16:
		for i, f := range slices.Backward(s.frames) {
			if f.ra == to.regs.Rip {
				s.frames = s.frames[:i]
				break
			}
		}
	}
}

// top returns the frame that code runs in, as far as calls tell. Its return address may
// have been taken off the stack, or to another place; then there is none.
func (s *shadow) top(now *moment, word func(at uint64) uint64) (shadowFrame, bool) {
	if len(s.frames) == 0 {
		return shadowFrame{}, false
	}
	f := s.frames[len(s.frames)-1]
	return f, f.slot >= now.regs.Rsp && word(f.slot) == f.ra
}
