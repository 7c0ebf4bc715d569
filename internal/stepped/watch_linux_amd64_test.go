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
	below shadowFrame // where frame.pushed, the one below it: it may be the true one still

	// The stack from the address low on. The return address lies in it, at frame.slot. Where
	// frame.moved, the code has taken it from there, but returns to it later.
	stack []uint64
	low   uint64
}

// word returns a word of the stack. ok is false for what was not read.
func (s *step) word(at uint64) (v uint64, ok bool) {
	n := (at - s.low) / 8
	if at < s.low || at%8 != s.low%8 || n >= uint64(len(s.stack)) {
		return 0, false
	}
	return s.stack[n], true
}

// A plan says how a thread is watched.
type plan struct {
	warm  time.Duration // let the program run before, for its compilers
	steps int           // stop watching after so many steps in jitted code
	burst int           // instructions of a burst, in any code
	pause time.Duration // between bursts
	limit time.Duration // stop watching after that time in any case

	// A pushed address of jitted code is a return address even where there is no call before
	// it. HotSpot's interpreter pushes such, and jumps (TemplateTable::prepare_invoke).
	pushesReturns bool
}

// A watch is what was seen of a thread.
type watch struct {
	steps   []step
	regions []region // of all bursts
	all     int      // instructions in any code
}

// watchThread watches a thread of a process. The thread runs on after that, untraced. The
// error is that of ptrace; a thread that ends is none.
func watchThread(pid, tid int, p plan) (*watch, error) {
	w := new(watch)
	t, err := attach(pid, tid)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	for err = t.stop(); err == nil; err = t.pause(p.pause) {
		if err = w.burst(t, &p); err != nil {
			break
		}
		if len(w.steps) >= p.steps || time.Since(begin) > p.limit {
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
	windowBelow = 24 // below the return address and with it: saved registers are there
	windowMoved = maxWords
)

// maxIdle is how many instructions of other code in a row end a burst.
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
	// Steps from here on have no return address at its place. Whether the innermost frame is
	// still theirs, shows a return, or the return address when it is back on the stack.
	pending, idle := len(w.steps), 0
	defer func() { w.steps = w.steps[:pending] }()
	for i := range p.burst {
		from, to := &moments[i%2], &moments[(i+1)%2]
		if err := t.step(); err != nil {
			return err
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
		if n := len(s.frames); f.pushed && n >= 2 {
			st.below = s.frames[n-2]
		}
		if regions[r].home != 0 {
			st.home = to.regs.Rip - regions[r].lo + regions[r].home
		}
		if !f.moved {
			w.steps = w.steps[:pending] // nothing shows whose the steps before are
			pending++
			st.low, st.stack = f.slot-8*(windowBelow-1), make([]uint64, windowBelow)
		} else {
			st.low, st.stack = min(f.slot, to.regs.Rsp), make([]uint64, windowMoved)
		}
		t.words(st.low, st.stack)
		w.steps = append(w.steps, st)
	}
	return nil
}
