package stepped

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A tracer controls one thread of another process by ptrace. All calls must come from one
// OS thread.
type tracer struct {
	pid, tid int
	signals  int // delivered in steps
}

// errEnded is the error for a thread that has ended.
var errEnded = errors.New("the thread has ended")

// attach seizes a thread, which keeps running.
func attach(pid, tid int) (*tracer, error) {
	if err := unix.PtraceSeize(tid); err != nil {
		return nil, fmt.Errorf("ptrace of thread %d: %w", tid, err)
	}
	return &tracer{pid: pid, tid: tid}, nil
}

// stop stops the running thread.
func (t *tracer) stop() error {
	if err := unix.PtraceInterrupt(t.tid); err != nil {
		return err
	}
	for {
		signal, err := t.wait()
		if err != nil || signal == 0 {
			return err
		}
		// It was stopped by a signal before the interrupt: deliver that first.
		if err := unix.PtraceCont(t.tid, int(signal)); err != nil {
			return err
		}
	}
}

// wait waits until the thread stops, and returns the signal to deliver to it, or 0.
func (t *tracer) wait() (unix.Signal, error) {
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(t.tid, &status, unix.WALL, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return 0, err
		}
		break
	}
	if !status.Stopped() {
		return 0, errEnded
	}
	if s := status.StopSignal(); s != unix.SIGTRAP && status.TrapCause() <= 0 {
		return s, nil
	}
	return 0, nil
}

// step executes one instruction. Signals that arrive are delivered, and counted.
func (t *tracer) step() error {
	signal := unix.Signal(0)
	for {
		if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_SINGLESTEP, uintptr(t.tid), 0, uintptr(signal), 0, 0); errno != 0 {
			return errno
		}
		var err error
		if signal, err = t.wait(); err != nil || signal == 0 {
			return err
		}
		t.signals++
	}
}

// Debug registers of the thread, in its struct user [sys/user.h: u_debugreg]: an address,
// and the one that enables it as a breakpoint [AMD64 Architecture, volume 2, 13.1.1].
const (
	debugAddress = 848
	debugControl = debugAddress + 7*8
)

// errLate is the error for a thread that misses a breakpoint in time.
var errLate = errors.New("the breakpoint was not reached")

// maxRun bounds the time of runTo.
const maxRun = 10 * time.Millisecond

// runTo lets the stopped thread run until it is at an address with the stack pointer above
// another one. The code is not changed, so it may move meanwhile. After errLate the thread
// is stopped elsewhere.
func (t *tracer) runTo(addr, above uint64) error {
	if err := t.poke(debugAddress, addr); err != nil {
		return err
	}
	if err := t.poke(debugControl, 1); err != nil {
		return err
	}
	// Programs ignore this signal, but it stops a traced thread.
	late := time.AfterFunc(maxRun, func() { unix.Tgkill(t.pid, t.tid, unix.SIGURG) })
	defer late.Stop()
	begin, signal := time.Now(), unix.Signal(0)
	for {
		if err := unix.PtraceCont(t.tid, int(signal)); err != nil {
			return err
		}
		var err error
		if signal, err = t.wait(); err != nil {
			return err
		}
		var regs unix.PtraceRegs
		if err := unix.PtraceGetRegs(t.tid, &regs); err != nil {
			return err
		}
		arrived := signal == 0 && regs.Rip == addr && regs.Rsp > above
		if !arrived && time.Since(begin) < maxRun {
			continue
		}
		if err := t.poke(debugControl, 0); err != nil {
			return err
		}
		if arrived {
			return nil
		}
		return errLate
	}
}

// trapFlag is the flag that the kernel sets for stepping.
const trapFlag = 1 << 8

// hideStepping removes the trap flag from the flags that the instruction before now pushed,
// if it was pushf: popf would set it again later. [AMD64 Architecture, volume 3, PUSHFx]
func (t *tracer) hideStepping(from, now *moment) error {
	const pushf = 0x9c
	if now.regs.Rsp != from.regs.Rsp-8 || now.regs.Rip != from.regs.Rip+1 || now.top&trapFlag == 0 || byte(t.word(from.regs.Rip)) != pushf {
		return nil
	}
	now.top &^= trapFlag
	_, err := unix.PtracePokeData(t.tid, uintptr(now.regs.Rsp), binary.LittleEndian.AppendUint64(nil, now.top))
	return err
}

func (t *tracer) poke(at uintptr, v uint64) error {
	_, err := unix.PtracePokeUser(t.tid, at, binary.LittleEndian.AppendUint64(nil, v))
	return err
}

// pause lets the thread run for a time on a processor, and stops it. On a busy machine it
// waits longer for that, but not for ever: the thread may be asleep.
func (t *tracer) pause(d time.Duration) error {
	ran := t.ran()
	if err := unix.PtraceCont(t.tid, 0); err != nil {
		return err
	}
	time.Sleep(d)
	for range maxPauses {
		if now := t.ran(); now == 0 || now-ran >= d {
			break
		}
		time.Sleep(d)
	}
	return t.stop()
}

// maxPauses bounds a pause, in multiples of its length.
const maxPauses = 50

// ran returns how long the thread has run on processors, or 0 if that is unknown
// [Documentation/scheduler/sched-stats.rst].
func (t *tracer) ran() time.Duration {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", t.pid, t.tid))
	if err != nil {
		return 0
	}
	ran, _, _ := strings.Cut(string(text), " ")
	n, _ := strconv.ParseInt(ran, 10, 64)
	return time.Duration(n)
}

// read returns the registers of the stopped thread and the word at its stack pointer.
func (t *tracer) read(m *moment) error {
	if err := unix.PtraceGetRegs(t.tid, &m.regs); err != nil {
		return err
	}
	if m.regs.Eflags&trapFlag != 0 {
		// The kernel hides the flag, except after stepping over popf. Then it treats the flag
		// as the program's, and would leave it set.
		m.regs.Eflags &^= trapFlag
		if err := unix.PtraceSetRegs(t.tid, &m.regs); err != nil {
			return err
		}
	}
	m.top = t.word(m.regs.Rsp)
	return nil
}

// maxWords bounds the words of one read.
const maxWords = 64

// words reads memory of the process from an address on. Unreadable words are zero.
func (t *tracer) words(at uint64, to []uint64) {
	var b [maxWords * 8]byte
	n := 8 * len(to)
	local := []unix.Iovec{{Base: &b[0], Len: uint64(n)}}
	remote := []unix.RemoteIovec{{Base: uintptr(at), Len: n}}
	unix.ProcessVMReadv(t.pid, local, remote, 0)
	for i := range to {
		to[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

func (t *tracer) word(at uint64) uint64 {
	var w [1]uint64
	t.words(at, w[:])
	return w[0]
}

// threadNamed returns the thread with a name, as the kernel has it, in a process. ok is
// false if there is none.
func threadNamed(pid int, name string) (tid int, ok bool) {
	paths, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", pid))
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil || strings.TrimSpace(string(text)) != name {
			continue
		}
		if n, _ := fmt.Sscan(filepath.Base(filepath.Dir(path)), &tid); n == 1 {
			return tid, true
		}
	}
	return 0, false
}

// monotonic returns the time of CLOCK_MONOTONIC in nanoseconds, as dumps have it.
func monotonic() uint64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return uint64(ts.Nano())
}
