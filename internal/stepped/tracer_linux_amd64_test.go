package stepped

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A tracer drives one thread of another process. All calls come from one OS thread.
type tracer struct {
	pid, tid int
}

// attach stops a thread and takes control of it.
func attach(pid, tid int) (*tracer, error) {
	if err := unix.PtraceSeize(tid); err != nil {
		return nil, err
	}
	return &tracer{pid, tid}, nil
}

// stop stops the thread, which runs.
func (t *tracer) stop() error {
	if err := unix.PtraceInterrupt(t.tid); err != nil {
		return err
	}
	_, err := t.wait()
	return err
}

// wait waits for the thread to stop, and returns the signal that is to be delivered.
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

var errEnded = fmt.Errorf("the thread has ended")

// step executes one instruction. Signals that come in between are delivered.
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
	}
}

func (t *tracer) resume() error { return unix.PtraceCont(t.tid, 0) }

func (t *tracer) regs() (r unix.PtraceRegs, err error) {
	err = unix.PtraceGetRegs(t.tid, &r)
	return r, err
}

// words reads memory of the process. What cannot be read is zero.
func (t *tracer) words(at uint64, to []uint64) {
	var b [32 * 8]byte
	n := 8 * len(to)
	clear(b[:n])
	local := []unix.Iovec{{Base: &b[0], Len: uint64(n)}}
	remote := []unix.RemoteIovec{{Base: uintptr(at), Len: n}}
	unix.ProcessVMReadv(t.pid, local, remote, 0)
	for i := range to {
		to[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
}

// A region is memory from lo up to hi that code may have been made in, or a copy of code
// of a file that is mapped elsewhere, too: home is what lo is there, or 0.
type region struct{ lo, hi, home uint64 }

// executable returns the memory of the process that jitted code may be in.
func (t *tracer) executable() (list []region, err error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", t.pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	type mapped struct {
		region
		off  uint64
		name string
	}
	var files []mapped
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		var m mapped
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &m.lo, &m.hi); err != nil || !strings.Contains(fields[1], "x") {
			continue
		}
		fmt.Sscanf(fields[2], "%x", &m.off)
		m.name = strings.Join(fields[5:], " ")
		if m.name == "" || strings.HasPrefix(m.name, "/dev/zero") || strings.HasPrefix(m.name, "[anon") ||
			strings.HasPrefix(m.name, "/memfd") || strings.HasSuffix(m.name, "(deleted)") {
			list = append(list, m.region)
			continue
		}
		// V8 maps a part of its program again, far above it.
		for _, o := range files {
			if o.name == m.name && o.off <= m.off && m.off-o.off < o.hi-o.lo {
				m.home = o.lo + m.off - o.off
				list = append(list, m.region)
			}
		}
		files = append(files, m)
	}
	return list, nil
}

// busiest returns the thread of a process that has used most time of a processor.
func busiest(pid int) int {
	tid, most := pid, uint64(0)
	stats, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, path := range stats {
		text, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var user, system uint64
		fields := strings.Fields(string(text[strings.LastIndexByte(string(text), ')')+1:]))
		fmt.Sscan(fields[11], &user)
		fmt.Sscan(fields[12], &system)
		if user+system > most {
			most = user + system
			fmt.Sscan(filepath.Base(filepath.Dir(path)), &tid)
		}
	}
	return tid
}

// monotonic returns the time that dumps have.
func monotonic() uint64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return uint64(ts.Nano())
}

// pause lets the thread run for a while.
func (t *tracer) pause(d time.Duration) error {
	if err := t.resume(); err != nil {
		return err
	}
	time.Sleep(d)
	return t.stop()
}
