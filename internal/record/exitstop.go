package record

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/dumptail"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// exitStops traces processes up to their exit stop, and completes their dumps there.
type exitStops struct {
	done sync.WaitGroup

	mu        sync.Mutex
	held      map[int]bool
	delivered map[int]delivery // by pid
	refused   error            // why a process could not be traced
	failed    []error          // dumps that could not be completed
}

// A delivery is the latest signal that a traced process got.
type delivery struct {
	signal unix.Signal
	at     time.Time
}

func newExitStops() *exitStops {
	return &exitStops{held: make(map[int]bool), delivered: make(map[int]delivery)}
}

// hold traces the main thread of a process, unless it is traced already.
func (x *exitStops) hold(pid int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.held[pid] {
		return
	}
	x.held[pid] = true
	x.done.Add(1)
	go x.trace(pid)
}

// trace runs in a thread of its own: only the thread that seized a process may control it.
func (x *exitStops) trace(pid int) {
	defer x.done.Done()
	runtime.LockOSThread() // to the end: Go ends the thread with the goroutine
	defer func() {
		x.mu.Lock()
		delete(x.held, pid)
		x.mu.Unlock()
	}()
	if err := ptrace(unix.PTRACE_SEIZE, pid, unix.PTRACE_O_TRACEEXIT); err != nil {
		if !errors.Is(err, unix.ESRCH) {
			x.mu.Lock()
			x.refused = notTraced(pid, err)
			x.mu.Unlock()
		}
		return
	}
	for {
		var status unix.WaitStatus
		_, err := unix.Wait4(pid, &status, unix.WALL, nil)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || !status.Stopped() {
			return
		}
		request, signal := x.stopped(pid, status)
		if err := ptrace(request, pid, uintptr(signal)); err != nil && !errors.Is(err, unix.ESRCH) {
			return
		}
	}
}

// notTraced words why a process cannot be traced (ptrace(2), "Ptrace access mode checking").
func notTraced(pid int, err error) error {
	status, _ := sys.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if tracer := tracerLine.FindSubmatch(status); tracer != nil {
		return fmt.Errorf("process %d is traced by process %s already, a debugger or strace", pid, tracer[1])
	}
	if scope, _ := sys.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); len(scope) > 0 && scope[0] > '1' {
		return fmt.Errorf("process %d cannot be traced while kernel.yama.ptrace_scope is %c: %s", pid, scope[0], sudo("sysctl kernel.yama.ptrace_scope=1"))
	}
	return fmt.Errorf("process %d cannot be traced: %w", pid, err)
}

// tracerLine matches the tracer of a process that has one.
var tracerLine = regexp.MustCompile(`(?m)^TracerPid:\s+([1-9]\d*)$`)

// stopped handles a stop. It returns the request that continues the process, and its signal.
func (x *exitStops) stopped(pid int, status unix.WaitStatus) (request int, signal unix.Signal) {
	switch event := int(status) >> 16; event {
	case unix.PTRACE_EVENT_EXIT:
		x.complete(pid)
		return unix.PTRACE_CONT, 0
	case unix.PTRACE_EVENT_STOP:
		if status.StopSignal() == unix.SIGTRAP { // a SIGCONT ended a group stop
			return unix.PTRACE_CONT, 0
		}
		return unix.PTRACE_LISTEN, 0 // it stays stopped, as without a tracer
	case 0:
		x.mu.Lock()
		x.delivered[pid] = delivery{status.StopSignal(), time.Now()}
		x.mu.Unlock()
		return unix.PTRACE_CONT, status.StopSignal()
	}
	return unix.PTRACE_CONT, 0
}

// complete appends the unwritten ends of the dumps of a process whose main thread is at its exit stop.
// The other threads end, too, unless only the main thread ends (pthread_exit(3)).
func (x *exitStops) complete(pid int) {
	for until := time.Now().Add(lateThreads); hasOtherThreads(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			return
		}
	}
	dumps, err := dumptail.Dumps(uint32(pid))
	for i := range dumps {
		if _, aerr := dumps[i].Append(); aerr != nil && dumps[i].Info.Size() > 0 { // V8 leaves an empty file where it may not map it
			err = aerr
		}
	}
	if err != nil {
		x.mu.Lock()
		x.failed = append(x.failed, err)
		x.mu.Unlock()
	}
}

// lateThreads is how long threads may take to end after SIGKILL.
const lateThreads = 200 * time.Millisecond

// hasOtherThreads reports whether a process has threads besides the main one.
func hasOtherThreads(pid int) bool {
	threads, err := sys.ReadDir("/proc/" + strconv.Itoa(pid) + "/task")
	return err == nil && len(threads) > 1
}

// got reports whether a traced process got a signal since a time.
func (x *exitStops) got(pid int, signal unix.Signal, since time.Time) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	d := x.delivered[pid]
	return d.signal == signal && d.at.After(since)
}

func (x *exitStops) report(c *Collected) {
	x.mu.Lock()
	defer x.mu.Unlock()
	c.Refused = x.refused
	c.Failed = append(c.Failed, x.failed...)
}

// wait waits until all traced processes have ended, or for a time. A process that goes on stays
// traced until jitinject ends, which lets it run.
func (x *exitStops) wait(limit time.Duration) {
	ended := make(chan struct{})
	go func() {
		x.done.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-time.After(limit):
	}
}

// ptrace makes a request of ptrace(2). data is a signal or options.
func ptrace(request, pid int, data uintptr) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, uintptr(request), uintptr(pid), 0, data, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
