package cfi

import (
	"github.com/jitinject/jitinject/internal/ehframe"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// maxCode, maxOps and maxTargets bound functions: in bytes, in ops, and in jump targets. Larger
// functions get no rows, because they would take more memory than anything else here.
const (
	maxCode    = 4 << 20
	maxOps     = 1 << 19
	maxTargets = 1 << 18
	maxRows    = 1 << 15
)

// An Entry is the frame in which a function starts, if it is not entered by a call. Traces of PHP's
// JIT run in the interpreter frame, and have no other.
type Entry struct {
	Row jitcode.FrameRow // the CFA counts from the stack pointer or the frame pointer

	// Shared means that the function has no frame of its own. Code without any jump to it starts in
	// the entry's frame, too.
	Shared bool
}

// A Result is the result for a function.
type Result struct {
	Rows []jitcode.FrameRow // none, if nothing is known anywhere

	// Returns: the code reaches a return with the stack as at the entry, so it is called. Jumps: it
	// leaves by a jump. Code that only does the latter may also be entered by a jump. Then Rows are
	// wrong from the first one on, unless the caller passes the right Entry.
	Returns, Jumps bool

	// Odd: it reaches a return that removes more than the return address from the stack, finds no
	// return address there, or leaves the caller another frame pointer.
	Odd bool

	// Unsure: it reaches a return for which the stack pointer is unknown.
	Unsure bool

	// Moved has the sorted ranges of code in which the word below the CFA has no return address: it
	// was popped, or overwritten. There are no rows for them.
	Moved []ehframe.Span

	// Popped is the maximum distance in bytes that the stack pointer rises above its place with
	// only a return address. If it is not 0, the code was not entered as the Entry describes, or
	// changes its return address.
	Popped uint64
}

// A Synthesizer derives frames from code. The zero Synthesizer is ready for use by one goroutine.
// Results are valid until the next call.
type Synthesizer struct {
	// Callee returns the effect of the function at an offset from the start of the code. The offset
	// is outside of the code. If Callee is nil, all effects are unknown.
	Callee func(offset int64) Callee

	// Strict means that functions may remove arguments from their caller's stack, so the effect of
	// each call needs a proof.
	Strict bool

	// Leaves means that no call of a CalleeOther returns, unless functions may remove arguments.
	Leaves bool

	m     *machine
	entry state
	limit int32 // distance from the return address up to the CFA
	code  []byte

	// Discovery: the starts of instructions, and their ops.
	mark    []uint8
	pending []uint32
	behind  []uint32 // ends of code in gaps
	later   bool     // this is not the first part
	runs    []run
	ops     []op
	sorted  []op
	targets []uint32

	// Flow: the states that lead to targets, by their index.
	in, weak []state
	distrust []bool   // the call before the target does not return
	first    []int    // first op of each target
	slot     []uint32 // index of a target, by place
	stale    bitset   // targets with a state that was reduced and not propagated yet
	budget   int      // ops that may still be visited
	now      state    // current state of flow

	// Signs of the place of the prologue. setsFP: it is here, because the function writes the frame
	// pointer. made: it is in the first function called, as in code of V8's baseline compiler.
	// inherited: it is in the function that jumps to this one.
	setsFP, made, inherited bool

	// Signs that it is elsewhere, if calls are trusted. The function leaves by a jump without
	// removing its frame, and uses a frame pointer that it has not set.
	unbalanced, usesFP bool

	// It leaves so without any call before: the effects of calls do not matter.
	pushedOut bool

	strict, prologue, inFrame bool // assumptions

	proving  bool   // mark anchors
	anchored []bool // by target: its code leads to an anchor

	indirect, frames state // states at indirect jumps, and in classic frames
	gaps, calls      []uint32
	gap              state // state at the start of gaps
	cuts             []piece
	left             []leftAt
	bad              []bool // targets with code that leads to a place it does not fit
	gapRuns          []gapRun
	shared           bool // the function has no frame of its own
	mixed            bool // there are frames that are not classic

	// A return shows that the stack pointer is unknown after calls, or everywhere.
	doubtCalled, doubtAll bool

	result Result
	arena  []jitcode.SavedReg
	pieces []piece
}

// Synthesize derives the frame of a function from its code. entry is nil for called functions. The
// result is empty for unsupported machines, and for code that cannot be decoded.
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
		// V8's InterpreterEnterAtBytecode pushes a return address for the handler that it jumps to.
		// It is entered by jumps, in the interpreter's frame. But a called function might do the
		// same.
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
	s.shared = entry != nil && entry.Shared
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

// enter sets the state at the entry. It returns false if the Entry is unusable.
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

// part finds the code that is reachable from s.gaps, propagates first through it, and keeps the
// states. It returns false if instructions overlap, and if the code exceeds the limits.
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
