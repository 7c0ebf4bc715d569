package stepped

import (
	"slices"

	"golang.org/x/sys/unix"
)

// calleeSaved are the DWARF numbers of the registers that a callee keeps for its caller.
// [System V ABI, AMD64, 3.2.1 and 3.6.2]
var calleeSaved = [...]uint8{3, 6, 12, 13, 14, 15}

// rbp is the DWARF number of the frame pointer, rsp that of the stack pointer.
const rbp, rsp = 6, 7

// savedOf returns the values of calleeSaved.
func savedOf(r *unix.PtraceRegs) [6]uint64 {
	return [...]uint64{r.Rbx, r.Rbp, r.R12, r.R13, r.R14, r.R15}
}

// A moment is a thread before an instruction: its registers, and the word at rsp.
type moment struct {
	regs unix.PtraceRegs
	top  uint64
}

// A shadowFrame is a call: the return address, the address of the word that holds it, and
// the caller's values of calleeSaved. from is the address of the call.
type shadowFrame struct {
	slot, ra uint64
	regs     [6]uint64
	from     uint64
	moved    bool // the slot has the return address no longer
}

// A shadow is a shadow stack. It has the calls that were made while it watched.
type shadow struct{ frames []shadowFrame }

// maxPopped is how far a return may move the stack pointer, in bytes.
const maxPopped = 1 << 16

// maxCall is the length of the longest call instruction, in bytes.
const maxCall = 8

// isCall reports whether the instruction between two moments was a call: it pushed the
// address after itself, and did not merely continue there.
func isCall(from, to *moment) bool {
	length := to.top - from.regs.Rip
	return to.regs.Rsp == from.regs.Rsp-8 && length >= 2 && length <= maxCall && (to.regs.Rip != to.top || length == 5)
}

// update records the instruction between two moments. returned is the frame that it
// returned from, if that is the innermost one of the shadow stack.
func (s *shadow) update(from, to *moment) (returned *shadowFrame) {
	switch {
	case isCall(from, to):
		// An exception, or a switch of stacks, has left the frames below.
		for len(s.frames) > 0 && s.frames[len(s.frames)-1].slot <= to.regs.Rsp {
			s.frames = s.frames[:len(s.frames)-1]
		}
		s.frames = append(s.frames, shadowFrame{slot: to.regs.Rsp, ra: to.top, regs: savedOf(&to.regs), from: from.regs.Rip})
	case to.regs.Rip == from.top && to.regs.Rsp >= from.regs.Rsp+8 && to.regs.Rsp-from.regs.Rsp < maxPopped:
		for i, f := range slices.Backward(s.frames) {
			if f.ra != to.regs.Rip {
				continue
			}
			if i == len(s.frames)-1 {
				returned = &f
			}
			s.frames = s.frames[:i]
			return returned
		}
	}
	return nil
}

// follow finds out whether the innermost frame's return address is where it was. Code may
// take it off the stack, together with arguments, and push it again later: then the frame
// gets that slot, and back is true. word reads memory.
func (s *shadow) follow(now *moment, word func(uint64) uint64) (back bool) {
	f := s.top()
	if f == nil {
		return false
	}
	f.moved = f.moved || f.slot < now.regs.Rsp || word(f.slot) != f.ra
	if f.moved && now.top == f.ra {
		f.slot, f.moved = now.regs.Rsp, false
		return true
	}
	return false
}

// top returns the innermost frame, or nil.
func (s *shadow) top() *shadowFrame {
	if len(s.frames) == 0 {
		return nil
	}
	return &s.frames[len(s.frames)-1]
}
