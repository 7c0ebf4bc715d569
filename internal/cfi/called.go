package cfi

// Code in gaps that a call may have entered, so that it does not run in the function's frame.
//
// HotSpot puts stubs after a method that its calls of interpreted methods are patched to lead to.
// They load the method and jump to the interpreter, or to themselves before the first patch
// (emit_to_interp_stub of compiledIC_x86.cpp and compiledIC_aarch64.cpp). On arm64 there are also
// trampolines for calls over long distances (emit_trampoline_stub of macroAssembler_aarch64.cpp).
// The return address of the call is on top of the stack, or in its register. Other stubs of HotSpot
// leave by a jump, too, but run in the method's frame. So code that leaves the function needs a
// sign of that. Each of these is one:
//
//   - It uses the frame pointer, or leads to known code that has the frame.
//   - It pops more than it has pushed, or overwrites the word that would be the return address.
//   - It jumps to a function that changes the stack of its caller.
//   - It is nothing but a jump: a call would lead to the target instead. C2's handler of exceptions
//     is one (emit_exception_handler of x86.ad and aarch64.ad).
//   - It calls something, and the function does not call it: the function makes all its calls in
//     its frame. C1's handler of exceptions calls (emit_exception_handler of c1_LIRAssembler_x86.cpp).
//     To push an address and jump is to call: C1's handler of deoptimization does so
//     (emit_deopt_handler there, and in c1_LIRAssembler_aarch64.cpp with the link register).
//
// Without a sign, code that leaves the function, or only jumps to itself, has no row. Code that the
// function calls has none, either: GHASH of HotSpot's stubs has such subroutines after its end
// (generate_ghash_processBlocks of stubGenerator_x86_64_ghash.cpp).
//
// C1 compiles a second entry into a method that is called while the interpreter is in one of its
// loops (osr_entry of c1_LIRAssembler_x86.cpp). Other stubs have jumps before their entry
// (generate_generic_copy of stubGenerator_x86_64_arraycopy.cpp). The prologue there shows that a
// call enters it.

// mayBeCalled reports whether a call may have entered the i-th run.
func (s *Synthesizer) mayBeCalled(i int) bool {
	has := func(signs sign) bool { return s.gapRuns[s.groupOf(i)].signs&signs != 0 }
	switch {
	case !s.gapRuns[i].code || has(signFrame):
		return false
	case has(signCalled):
		return true
	}
	return !has(signCalls) && (has(signLeaves) || !has(signEnds))
}

// cutCalled adds the code of gaps that a call may have entered to s.cuts. frame is the function's.
func (s *Synthesizer) cutCalled(frame *state) {
	s.findSigns(frame)
	for i, r := range s.runs {
		switch {
		case s.mayBeCalled(i):
			end := r.end
			if i+1 < len(s.runs) && s.only(end, s.runs[i+1].start) {
				end = s.runs[i+1].start
			}
			s.cuts = append(s.cuts, piece{r.start, end, state{}})
		case s.gapRuns[i].code && !s.gapRuns[i].targeted:
			s.cutPrologue(r, frame)
		}
	}
}

// cutPrologue adds a prologue at the start of a run to s.cuts, if there is one.
func (s *Synthesizer) cutPrologue(r run, frame *state) {
	now, at, known := s.asCalled(), r.start, len(s.cuts)
	for j := range s.ops[r.ops:r.upTo] {
		o := &s.ops[r.ops+j]
		if o.kind >= opCall {
			break
		}
		was := now
		if s.m.apply(&now, o); now == was {
			continue
		}
		if o.end > at {
			s.cuts = append(s.cuts, piece{at, o.end, was})
			at = o.end
		}
		if now.classic() && now.fp == frame.fp {
			return
		}
	}
	s.cuts = s.cuts[:known]
}

// dropCalled marks the targets in gaps that a call may have entered as bad. Functions without a
// frame of their own leave by jumps everywhere, and are not HotSpot's. If gaps have only the return
// address on the stack, as Erlang's do, a call that enters them changes nothing.
func (s *Synthesizer) dropCalled() {
	if s.shared || s.gap.spOK && s.gap.sp == s.limit {
		return
	}
	s.findSigns(&s.gap)
	for i, at := range s.targets {
		if run, ok := s.runAt(at); ok && s.mayBeCalled(run) {
			s.bad[i] = true
		}
	}
}
