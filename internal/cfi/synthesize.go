package cfi

import (
	"github.com/jitinject/jitinject/internal/ehframe"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// Functions that are larger, in bytes, in instructions that do something, or in places
// that jumps lead to, get no rows: they would take more memory than anything else here.
const (
	maxCode    = 4 << 20
	maxOps     = 1 << 19
	maxTargets = 1 << 18
)

// An Entry says in which frame a function starts, where that is not the one behind
// a call: traces of PHP's JIT run in the frame of its interpreter, and have no other.
type Entry struct {
	Row jitcode.FrameRow // the CFA counts from the stack pointer or the frame pointer

	// The function has no frame of its own: code that nothing in it leads to starts
	// in that frame, too.
	Shared bool
}

// A Result is what was found out about a function.
type Result struct {
	Rows []jitcode.FrameRow // none, if nothing is known anywhere

	// What the code shows of how it is entered. Returns: it comes to a return with the
	// stack as at the entry, so it is called. Jumps: it leaves by a jump. Code that
	// only does the latter may be entered by a jump, too, and Rows be wrong from the
	// first one on, unless the caller knows better.
	Returns, Jumps bool

	// Odd: it reaches a return that takes more than the return address off the stack, finds
	// no return address there, or leaves the caller another frame pointer.
	Odd bool

	// Unsure: it reaches a return for which the stack pointer is unknown.
	Unsure bool

	// Moved is the code, in order, in which the word below the CFA has no return address: it
	// was popped, or overwritten. There are no rows for it.
	Moved []ehframe.Span

	// Popped is how many bytes the stack pointer gets above where it was when there
	// was only a return address, at most. If it is not 0, the code was not entered as
	// Entry has it, or does things to its return address.
	Popped uint64
}

// A Synthesizer derives frames from code. The zero Synthesizer is ready to be used,
// by one goroutine; results are valid until the next call.
type Synthesizer struct {
	// Callee returns the effect of the function at an offset from the start of the code,
	// outside of it. It may be nil: all are unknown.
	Callee func(offset int64) Callee

	// Strict means that functions may take arguments off their caller's stack, so the effect
	// of each call needs a proof.
	Strict bool

	m     *machine
	entry state
	limit int32 // the return address is so much below the CFA
	code  []byte

	// Discovery: which bytes instructions start at, and what they do.
	mark    []uint8
	pending []uint32
	behind  []uint32 // where code of gaps ended
	later   bool     // this is not the first part
	runs    []run
	ops     []op
	sorted  []op
	targets []uint32

	// Flow: the states that lead to targets, by their index.
	in, weak []state
	distrust []bool   // do not believe that the call in front of the target returns
	first    []int    // op behind each target
	slot     []uint32 // of places that are targets, their index
	stale    bitset   // targets where less holds than what was passed on
	budget   int      // ops that may still be looked at
	now      state    // where flow is

	// Evidence about the prologue. setsFP: it is here, as the function writes to the frame
	// pointer. made: it is in the first function called, as in code of V8's baseline
	// compiler. inherited: it is in the function that jumps to this one.
	setsFP, made, inherited bool

	// Evidence that it is elsewhere, if calls are believed. The function leaves by a jump
	// without removing its frame, and counts from a frame pointer that it has not set.
	unbalanced, usesFP bool

	// It leaves so without any call before: the effects of calls do not matter.
	pushedOut bool

	strict, prologue, inFrame bool // assume these

	proving  bool   // mark anchors
	anchored []bool // by target: its code leads to an anchor

	indirect, frames state // what holds at indirect jumps, and in classic frames
	gaps, calls      []uint32
	gap              state // what holds where gaps begin
	cuts             []piece
	left             []leftAt
	bad              []bool // targets from which code goes where it does not fit
	mixed            bool   // there are frames that are not classic

	// There is a return that shows that the stack pointer is not known behind calls, or
	// nowhere.
	doubtCalled, doubtAll bool

	result Result
	arena  []jitcode.SavedReg
	pieces []piece
}

// Synthesize derives the frame of a function from its code. entry is nil for
// functions that are called. For machines that are not understood, and for code that
// cannot be, the result is empty.
func (s *Synthesizer) Synthesize(t jitcode.Target, code []byte, entry *Entry) Result {
	s.strict, s.prologue, s.inFrame = s.Strict, false, false
	r := s.synthesize(t, code, entry)
	if entry == nil && !s.strict && s.unbalanced && s.usesFP {
		s.strict = true
		r = s.synthesize(t, code, nil)
	}
	if entry == nil && !s.setsFP && (s.made || s.inherited) {
		s.inFrame = s.inherited
		s.prologue = !s.inFrame
		r = s.synthesize(t, code, nil)
	}
	if entry == nil && s.Strict && !s.inFrame && !s.prologue && s.pushedOut && s.usesFP && !s.setsFP {
		// V8's InterpreterEnterAtBytecode pushes a return address for the handler that it
		// jumps to. It is entered by jumps, in the interpreter's frame. But a function that
		// is called might do the same.
		r.Rows = r.Rows[:0]
	}
	return r
}

func (s *Synthesizer) synthesize(t jitcode.Target, code []byte, entry *Entry) Result {
	s.m = machineOf(t)
	if s.m == nil || len(code) == 0 || len(code) > maxCode {
		return Result{}
	}
	s.code, s.limit = code, s.m.entrySP()
	s.result = Result{Rows: s.result.Rows[:0], Moved: s.result.Moved[:0]}
	s.arena, s.pieces, s.gaps = s.arena[:0], s.pieces[:0], s.gaps[:0]
	s.indirect, s.frames = state{}, state{}
	s.calls, s.mixed, s.doubtCalled, s.doubtAll = s.calls[:0], false, false, false
	s.setsFP, s.made, s.inherited, s.unbalanced, s.usesFP, s.pushedOut = false, false, false, false, false, false
	if !s.enter(entry) {
		return Result{}
	}
	if cap(s.mark) < len(code) {
		s.mark, s.slot = make([]uint8, len(code)), make([]uint32, len(code))
	}
	s.mark, s.slot = s.mark[:len(code)], s.slot[:len(code)]
	clear(s.mark)

	s.later, s.gaps = false, append(s.gaps, 0)
	if !s.part(&s.entry) {
		return Result{}
	}
	s.fillGaps(entry)
	s.rows()
	return s.result
}

// enter makes the state at the entry.
func (s *Synthesizer) enter(entry *Entry) bool {
	s.entry = state{live: true, fresh: true, spOK: true, sp: s.limit, intact: 1<<len(s.m.regs) - 1}
	if s.inFrame {
		s.m.enterFrame(&s.entry)
		return true
	}
	if entry == nil {
		return true
	}
	row := entry.Row
	if !row.Known || row.CFA.Offset < int64(s.limit) || row.CFA.Offset > maxFrame {
		return false
	}
	switch row.CFA.Reg {
	case s.m.sp:
		s.entry.sp = int32(row.CFA.Offset)
	case s.m.regs[fp]:
		s.entry.loseSP()
		s.entry.fpOK, s.entry.fp = true, int32(row.CFA.Offset)
	default:
		return false
	}
	for _, r := range row.Saved {
		i, ok := s.m.index(r.Reg)
		switch {
		case !ok:
		case r.Lost:
			s.entry.intact &^= 1 << i
		case r.Offset < 0 && -r.Offset <= maxFrame:
			s.entry.saved[i] = int32(-r.Offset)
			s.entry.intact &^= 1 << i
		}
	}
	return true
}

// part finds the code that s.gaps leads to, lets first flow through it, and keeps
// what holds where. It gives up on code in which instructions lie in each other, and on
// what is too much.
func (s *Synthesizer) part(first *state) bool {
	if !s.discover() {
		return false
	}
	if !s.flow(first) {
		return false
	}
	if s.strict && s.prove() && !s.flow(first) {
		return false
	}
	if s.later {
		s.judge()
	}
	s.keep()
	return true
}
