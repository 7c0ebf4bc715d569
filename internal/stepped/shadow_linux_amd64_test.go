package stepped

import (
	"slices"

	"golang.org/x/sys/unix"
)

// calleeSaved are the DWARF numbers of the registers that a callee keeps for its caller.
// [System V ABI, AMD64, 3.2.1 and 3.6.2]
var calleeSaved = [...]uint8{3, 6, 12, 13, 14, 15}

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
// the caller's values of calleeSaved. from is the address of the call, to the one that it called.
type shadowFrame struct {
	slot, ra uint64
	cfa      uint64 // the caller's stack pointer before the call, wherever the slot moves
	regs     [6]uint64
	from, to uint64
	moved    bool // the slot has the return address no longer

	// No call made the frame: code has pushed a return address. Either it is the one of the
	// frame below, which moves here, so that its slot is used for something else. Or the code
	// makes a frame that looks as if there was a call. V8's interpreter does both.
	pushed bool
}

// A shadow is a shadow stack of the calls since the watch began.
type shadow struct {
	frames []shadowFrame

	// Frames are gone, and the code that removed them has not jumped yet to the one it goes
	// on in. Until then it is in neither.
	leaving bool
}

// maxPopped bounds the bytes by which a return moves the stack pointer.
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
		s.frames = append(s.frames, shadowFrame{slot: to.regs.Rsp, ra: to.top, cfa: to.regs.Rsp + 8, regs: savedOf(&to.regs), from: from.regs.Rip, to: to.regs.Rip})
	case len(s.frames) > 0 && s.top().moved && to.regs.Rip == s.top().ra && jumped(from, to) && to.regs.Rsp > s.top().slot:
		// It has popped the return address, and jumps there. HotSpot's interpreter returns so.
		returned = s.top()
		s.frames = s.frames[:len(s.frames)-1]
		return returned
	case to.regs.Rip == from.top && to.regs.Rsp >= from.regs.Rsp+8 && to.regs.Rsp-from.regs.Rsp < maxPopped:
		for i, f := range slices.Backward(s.frames) {
			if f.ra == to.regs.Rip && f.slot == from.regs.Rsp {
				if i == len(s.frames)-1 {
					returned = &f
				}
				s.frames = s.frames[:i]
				return returned
			}
		}
	}
	return nil
}

// jumped reports whether the instruction between two moments jumped.
func jumped(from, to *moment) bool { return to.regs.Rip-from.regs.Rip-1 >= 15 }

// follow finds the innermost frame's return address. Code may pop it, drop arguments, and
// push it again: then the frame gets that slot, and back is true. Other frames below the
// stack pointer are removed: an exception was thrown. word reads memory. returnsTo reports
// whether a pushed word may be a return address.
func (s *shadow) follow(from, now *moment, word func(uint64) uint64, returnsTo func(uint64) bool) (back bool) {
	if jumped(from, now) {
		s.leaving = false
	}
	sp, code := now.regs.Rsp, word(from.regs.Rip)
	if f := s.top(); f != nil && f.pushed && f.moved && f.slot+8 == sp && jumped(from, now) {
		// No call has made it, and it was popped before this jump: HotSpot's ExceptionBlob pushes
		// the address that an exception came from, and continues at its handler.
		s.frames = s.frames[:len(s.frames)-1]
	}
	for f := s.top(); f != nil; f = s.top() {
		n := len(s.frames)
		if popped := f.slot+8 == sp && !s.leaving && (isPop(code) || now.top == f.ra); n >= 2 && s.frames[n-2].slot < sp || !f.moved && f.slot < sp && !popped {
			s.frames = s.frames[:n-1]
			s.leaving = true
			continue
		}
		f.moved = f.moved || f.slot < sp || word(f.slot) != f.ra
		if f.pushed && n >= 2 {
			if below := &s.frames[n-2]; below.ra == f.ra && word(below.slot) != f.ra {
				below.slot, below.moved = f.slot, f.moved
				s.frames = s.frames[:n-1]
				f = below
			}
		}
		if now.top == f.ra && f.moved {
			f.slot, f.moved = sp, false
			return true
		}
		if sp == from.regs.Rsp-8 && isPush(code) && returnsTo(now.top) {
			s.frames = append(s.frames, shadowFrame{slot: sp, ra: now.top, cfa: sp + 8, regs: savedOf(&now.regs), from: from.regs.Rip, pushed: true})
		}
		return false
	}
	return false
}

// isPush reports whether code begins with a push of a register or of memory, isPop with a pop
// to one of these [AMD64 Architecture, volume 3, PUSH and POP]. A prefix REX.B comes first for
// r8 to r15.
func isPush(code uint64) bool {
	code = withoutREX(code)
	return code&0xf8 == 0x50 || code&0x38ff == 0x30ff
}

func isPop(code uint64) bool {
	code = withoutREX(code)
	return code&0xf8 == 0x58 || code&0x38ff == 0x8f
}

func withoutREX(code uint64) uint64 {
	if code&0xf0 == 0x40 {
		code >>= 8
	}
	return code
}

// top returns the innermost frame, or nil.
func (s *shadow) top() *shadowFrame {
	if len(s.frames) == 0 {
		return nil
	}
	return &s.frames[len(s.frames)-1]
}
