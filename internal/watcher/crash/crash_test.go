package crash

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// exited is the wait status of a process that Go's runtime has ended.
const exited = unix.WaitStatus(exitCodeOfRuntime << 8)

const exitCodeOfRuntime = 2

// What is short is told by the runtime's words, which are those of Go 1.26.
func TestCrashText_Explained(t *testing.T) {
	const trace = "\ngoroutine 1 gp=0x1 m=0 mp=0x2 [running]:\nruntime.newosproc(0x310e5d614808)\n\t/usr/local/go/src/runtime/os_linux.go:195 +0x48\n"
	for words, want := range map[string]string{
		"runtime: failed to create new OS thread (have 7 already; errno=11)\nruntime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc\n\nruntime stack:\nruntime.throw({0xa7f90d?, 0x310e5d627e58?})\n": "no more threads or processes can be started",
		"fatal error: failed to reserve page summary memory\n\nruntime stack:\n":                                                "there is too little memory",
		"runtime: out of memory: cannot allocate 4194304-byte block (0 in use)\nfatal error: out of memory\n\nruntime stack:\n": "there is too little memory",
		"fatal error: runtime: cannot allocate memory\n\nruntime stack:\n":                                                      "there is too little memory",
		"runtime: epollcreate failed with 24\nfatal error: runtime: netpollinit failed\n" + trace:                               "no more files can be opened",
		"runtime: eventfd failed with 24\nfatal error: runtime: eventfd failed\n" + trace:                                       "no more files can be opened",
		"panic: runtime error: index out of range [7] with length 3\n" + trace:                                                  "a fault in jitinject: panic: runtime error: index out of range [7] with length 3; report it",
		"panic: out of memory\n" + trace:                               "a fault in jitinject: panic: out of memory; report it",
		"fatal error: all goroutines are asleep - deadlock!\n" + trace: "a fault in jitinject: fatal error: all goroutines are asleep - deadlock!; report it",
		"SIGQUIT: quit\nPC=0x47f5c1 m=0 sigcode=0\n" + trace:           "it was ended by SIGQUIT",
		"": "a fault in jitinject: Go's runtime ended it without a message; report it",
	} {
		c := Of(exited, words, 0)
		if got := c.String(); !strings.HasPrefix(got, want) {
			t.Errorf("for %.60q: got %q; want %q", words, got, want)
		}
		if short := !strings.Contains(want, "fault") && !strings.Contains(want, "SIGQUIT"); (c.Lines() == "") != (short || words == "") {
			t.Errorf("for %.60q: got the trace %q; want one unless something is short", words, c.Lines())
		}
	}
	for status, want := range map[unix.WaitStatus]string{
		unix.WaitStatus(unix.SIGKILL): "it was killed, as the kernel does when memory runs out; see dmesg",
		unix.WaitStatus(unix.SIGSEGV): "a fault in jitinject: signal 11 (segmentation fault); report it",
	} {
		if got := Of(status, "", 0).String(); !strings.HasPrefix(got, want) {
			t.Errorf("for %v: got %q; want %q", status.Signal(), got, want)
		}
	}
}

// A limit is named with its value.
func TestCrashText_NamesLimit(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &before); err != nil {
		t.Fatal(err)
	}
	limit := unix.Rlimit{Cur: min(before.Max, 123456), Max: before.Max}
	if err := unix.Setrlimit(unix.RLIMIT_NPROC, &limit); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_NPROC, &before)
	want := "no more threads or processes can be started (ulimit -u is 123456); raise the limit of the user (ulimit -u)"
	if limit.Cur < 123456 {
		want = "(ulimit -u is "
	}
	if got := Of(exited, "fatal error: newosproc\n", 0).String(); !strings.Contains(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

// The kernel kills what reaches the hard limit of CPU time, as it does where memory runs out.
func TestCrashText_CPUTime(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_CPU, &before); err != nil {
		t.Fatal(err)
	}
	hard := min(before.Max, 1<<20)
	if err := unix.Setrlimit(unix.RLIMIT_CPU, &unix.Rlimit{Cur: hard, Max: hard}); err != nil {
		t.Fatal(err)
	}
	defer unix.Setrlimit(unix.RLIMIT_CPU, &before) // root may
	limit := time.Duration(hard) * time.Second
	for _, c := range []struct {
		signal unix.Signal
		cpu    time.Duration
		want   string
	}{
		{unix.SIGKILL, limit - time.Second, fmt.Sprintf("the CPU time is used up (ulimit -t is %d); raise the limit (ulimit -t)", hard)},
		{unix.SIGXCPU, limit / 2, fmt.Sprintf("the CPU time is used up (ulimit -t is %d); raise the limit (ulimit -t)", hard)},
		{unix.SIGKILL, limit / 2, fmt.Sprintf("it was killed, as the kernel does at the limit of CPU time (ulimit -t is %d) or when memory runs out; raise the limit, or see dmesg, and memory.max of its cgroup", hard)},
		{unix.SIGKILL, limit / 8, "it was killed, as the kernel does when memory runs out; see dmesg, and memory.max of its cgroup"},
	} {
		if got := Of(unix.WaitStatus(c.signal), "", c.cpu).String(); got != c.want {
			t.Errorf("for %v after %v: got %q; want %q", c.signal, c.cpu, got, c.want)
		}
	}
}

// Panics may have names from files in them.
func TestCrashText_TraceForTerminals(t *testing.T) {
	c := Of(exited, "panic: \x1b[2J\n\ngoroutine 1 [running]:\n\tmain.go:1\n", 0)
	if got := c.String() + c.Lines(); strings.ContainsAny(got, "\x1b\t") || !strings.Contains(got, `panic: \x1b[2J`) || !strings.Contains(got, "        main.go:1\n") {
		t.Errorf("got %q; want control characters escaped", got)
	}
}
