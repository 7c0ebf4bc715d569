package stepped

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A step is an instruction that was about to be executed in jitted code.
type step struct {
	time  uint64 // of the burst's begin, in nanoseconds of CLOCK_MONOTONIC
	regs  unix.PtraceRegs
	home  uint64 // address of the instruction in the first mapping of its code; 0 if there is one only
	frame shadowFrame
	below shadowFrame // the one below it, if that is known: it may be the true one

	// The stack from the address low on. The return address lies in it, at frame.slot. If
	// frame.moved, the code has removed it, but returns to it later.
	stack []uint64
	low   uint64

	atFP [4]uint64 // the words from storedAt below rbp on
}

// word returns a word of the stack. ok is false outside of the copy.
func (s *step) word(at uint64) (v uint64, ok bool) {
	n := (at - s.low) / 8
	if at < s.low || at%8 != s.low%8 || n >= uint64(len(s.stack)) {
		return 0, false
	}
	return s.stack[n], true
}

// A plan has the parameters of a watch.
type plan struct {
	warm  time.Duration // let the program run before, for its compilers
	steps int           // stop watching after so many steps in jitted code
	burst int           // instructions in a burst, in any code
	pause time.Duration // between bursts
	least int           // watch so many bursts at least, as each sees a part of the program only
	limit time.Duration // stop watching after that time in any case

	// A pushed address of jitted code counts as a return address even without a call before
	// it. HotSpot's interpreter pushes such addresses, and jumps
	// (TemplateTable::prepare_invoke).
	pushesReturns bool
}

// A watch is the record of a thread's steps.
type watch struct {
	steps   []step
	regions []region // of all bursts
	all     int      // instructions in any code
}

// watchThread watches a thread of a process, which then runs on, untraced. It fails only
// with errors of ptrace; the end of the thread is no error.
func watchThread(pid, tid int, p plan) (*watch, error) {
	w := new(watch)
	t, err := attach(pid, tid)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	bursts := 0
	for err = t.stop(); err == nil; err = t.pause(p.pause) {
		if err = w.burst(t, &p); err != nil {
			break
		}
		bursts++
		if len(w.steps) >= p.steps && bursts >= p.least || time.Since(begin) > p.limit {
			return w, unix.PtraceDetach(t.tid)
		}
	}
	if errors.Is(err, errEnded) || errors.Is(err, unix.ESRCH) {
		return w, nil
	}
	return w, err
}

// Sizes of the copies of the stack, in words.
const (
	windowBelow = 24 // from the return address down: saved registers are there
	windowMoved = maxWords
)

// maxIdle: so many successive instructions of other code end a burst.
const maxIdle = 1000

// burst executes the instructions of a burst. Calls from jitted code to other code are not stepped through.
func (w *watch) burst(t *tracer, p *plan) error {
	regions, err := regionsOf(t.pid)
	if err != nil {
		return err
	}
	for _, r := range regions {
		if !slices.Contains(w.regions, r) {
			w.regions = append(w.regions, r)
		}
	}
	jitted := func(addr uint64) int {
		return slices.IndexFunc(regions, func(r region) bool { return addr >= r.lo && addr < r.hi })
	}
	returnsTo := func(addr uint64) bool {
		return jitted(addr) >= 0 && (p.pushesReturns || endsWithCall(t.word(addr-8)))
	}
	now := monotonic()
	var s shadow
	var moments [2]moment
	if err := t.read(&moments[0]); err != nil {
		return err
	}
	// Steps from here on lack the return address in its place. A return, or the return
	// address back on the stack, will show whether the innermost frame is still theirs.
	pending, idle := len(w.steps), 0
	defer func() { w.steps = w.steps[:pending] }()
	for i := range p.burst {
		from, to := &moments[i%2], &moments[(i+1)%2]
		signals := t.signals
		if err := t.step(); err != nil {
			return err
		}
		if t.signals != signals {
			// Its handler may continue elsewhere: HotSpot's does so at polls for safepoints,
			// and makes up a return address.
			return nil
		}
		if err := t.read(to); err != nil {
			return err
		}
		if err := t.hideStepping(from, to); err != nil {
			return err
		}
		w.all++
		depth, called := len(s.frames), isCall(from, to)
		returned := s.update(from, to)
		switch {
		case returned != nil:
			pending = len(w.steps)
		case called || len(s.frames) != depth:
			w.steps = w.steps[:pending]
		}
		if called && jitted(from.regs.Rip) >= 0 && jitted(to.regs.Rip) < 0 {
			f := *s.top()
			if err := t.runTo(f.ra, f.slot); err == errLate {
				return nil
			} else if err != nil {
				return err
			}
			if err := t.read(to); err != nil {
				return err
			}
			s.frames = s.frames[:len(s.frames)-1]
		}
		if s.follow(from, to, t.word, returnsTo) {
			pending = len(w.steps)
		}
		r, f := jitted(to.regs.Rip), s.top()
		if idle++; r >= 0 {
			idle = 0
		}
		if idle == maxIdle {
			return nil
		}
		if r < 0 || f == nil || s.leaving {
			continue
		}
		st := step{time: now, regs: to.regs, frame: *f}
		if n := len(s.frames); n >= 2 {
			st.below = s.frames[n-2]
		} else if f.pushed {
			continue // the frame below is unknown: the burst began in it
		}
		if regions[r].home != 0 {
			st.home = to.regs.Rip - regions[r].lo + regions[r].home
		}
		if !f.moved {
			w.steps = w.steps[:pending] // the frame of the pending steps is unknown
			pending++
			st.low, st.stack = f.slot-8*(windowBelow-1), make([]uint64, windowBelow)
		} else {
			st.low, st.stack = min(f.slot, to.regs.Rsp), make([]uint64, windowMoved)
		}
		t.words(st.low, st.stack)
		t.words(st.regs.Rbp-storedAt, st.atFP[:])
		w.steps = append(w.steps, st)
	}
	return nil
}
