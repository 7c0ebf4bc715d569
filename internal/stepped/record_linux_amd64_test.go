package stepped

import (
	"errors"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// A step is an instruction that was executed in jitted code.
type step struct {
	time  uint64 // CLOCK_MONOTONIC, of the burst that it is in
	regs  unix.PtraceRegs
	home  uint64 // another place of the same code, where the dump may have it; or 0
	frame shadowFrame
	below [window]uint64 // the words below the CFA: below[0] is at CFA-8
}

// window is how many words below the CFA are kept: saved registers are there.
const window = 16

// bursts are how a process is watched: so many times, so many instructions.
type bursts struct {
	count, steps int
	apart        time.Duration
}

// watched is what was seen of a process.
type watched struct {
	steps  []step
	copies []region // of code of files
}

// watch lets a thread run, and notes what it does in bursts.
func watch(pid int, b bursts) (*watched, error) {
	w := new(watched)
	err := w.watch(pid, b)
	return w, err
}

func (w *watched) watch(pid int, b bursts) error {
	t, err := attach(pid, busiest(pid))
	if err != nil {
		return err
	}
	if err := t.stop(); err != nil {
		return err
	}
	defer unix.PtraceDetach(t.tid)
	for range b.count {
		err := w.burst(t, b.steps)
		if err == nil {
			err = t.pause(b.apart)
		}
		if errors.Is(err, errEnded) || errors.Is(err, unix.ESRCH) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *watched) burst(t *tracer, n int) error {
	code, err := t.executable()
	if err != nil {
		return err
	}
	for _, r := range code {
		if r.home != 0 && !slices.Contains(w.copies, r) {
			w.copies = append(w.copies, r)
		}
	}
	now := monotonic()
	var s shadow
	var at [2]moment
	if err := t.see(&at[0]); err != nil {
		return err
	}
	word := func(at uint64) uint64 {
		var w [1]uint64
		t.words(at, w[:])
		return w[0]
	}
	for i := range n {
		was, is := &at[i%2], &at[(i+1)%2]
		if err := t.step(); err != nil {
			return err
		}
		if err := t.see(is); err != nil {
			return err
		}
		s.stepped(was, is)
		r := slices.IndexFunc(code, func(r region) bool { return is.regs.Rip >= r.lo && is.regs.Rip < r.hi })
		if r < 0 {
			continue
		}
		f, ok := s.top(is, word)
		if !ok {
			continue
		}
		st := step{time: now, regs: is.regs, frame: f}
		if code[r].home != 0 {
			st.home = is.regs.Rip - code[r].lo + code[r].home
		}
		t.words(f.slot-8*(window-1), st.below[:])
		slices.Reverse(st.below[:])
		w.steps = append(w.steps, st)
	}
	return nil
}

// see notes where the thread is.
func (t *tracer) see(m *moment) (err error) {
	if m.regs, err = t.regs(); err != nil {
		return err
	}
	var top [1]uint64
	t.words(m.regs.Rsp, top[:])
	m.top = top[0]
	return nil
}
