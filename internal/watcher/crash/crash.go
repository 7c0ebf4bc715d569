package crash

import (
	"fmt"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/quote"
)

// A Crash is how Go's runtime, or the kernel, has ended a run.
type Crash struct {
	What   string // what was short, or what happened
	Advice string
	Trace  []string // what the runtime wrote, for faults of the program
}

// shortages are the resources without which Go's runtime ends the process. A resource is known by
// words in what the runtime writes before the first trace. The first one that fits counts.
var shortages = []struct {
	words  []string
	what   string
	limit  int // resource of getrlimit(2)
	name   string
	unit   uint64 // of ulimit, in bytes, or 1
	advice string
}{
	{[]string{"OS thread", "newosproc", "pthread_create"}, "no more threads or processes can be started", unix.RLIMIT_NPROC, "-u", 1,
		"raise the limit of the user (ulimit -u) or of the cgroup (pids.max), or end other programs"},
	{[]string{"epoll", "eventfd", "netpoll", "pipe failed"}, "no more files can be opened", unix.RLIMIT_NOFILE, "-n", 1,
		"raise the limit (ulimit -n), or close other programs"},
	{[]string{"out of memory", "cannot allocate", "failed to reserve", "failed to allocate", "failed to commit", "cannot map pages", "mmap", "errno=12"}, "there is too little memory", unix.RLIMIT_AS, "-v", 1024,
		"raise the limit (ulimit -v, memory.max of the cgroup), or end other programs"},
}

// issues is where users report faults of the program.
const issues = "https://github.com/jitinject/jitinject/issues"

// Of explains the end of a process by its wait status, by the output of the runtime, and by the CPU
// time of the process. The limits of this process are those of that one.
func Of(status unix.WaitStatus, words string, cpu time.Duration) *Crash {
	limit, share := ofCPU(cpu)
	killed := status.Signaled() && status.Signal() == unix.SIGKILL
	switch {
	case status.Signaled() && status.Signal() == unix.SIGXCPU, killed && share >= 0.9:
		return &Crash{What: "the CPU time is used up" + limit, Advice: "raise the limit (ulimit -t)"}
	case killed && share >= 0.25:
		return &Crash{What: "it was killed, as the kernel does at the limit of CPU time" + limit + " or when memory runs out", Advice: "raise the limit, or see dmesg, and memory.max of its cgroup"}
	case killed:
		return &Crash{What: "it was killed, as the kernel does when memory runs out", Advice: "see dmesg, and memory.max of its cgroup"}
	}
	// Traces have names of functions, which may be like the words.
	head, _, _ := strings.Cut(words, "\ngoroutine ")
	head, _, _ = strings.Cut(head, "\nruntime stack:")
	for _, s := range shortages {
		for _, word := range s.words {
			if !strings.Contains(head, word) || strings.HasPrefix(head, "panic:") {
				continue
			}
			c := &Crash{What: s.what, Advice: s.advice}
			var limit unix.Rlimit
			if unix.Getrlimit(s.limit, &limit) == nil && limit.Cur != unix.RLIM_INFINITY {
				c.What += fmt.Sprintf(" (ulimit %s is %d)", s.name, limit.Cur/s.unit)
			}
			return c
		}
	}
	first, _, _ := strings.Cut(words, "\n")
	switch {
	case strings.HasPrefix(first, "SIGQUIT"):
		return &Crash{What: "it was ended by SIGQUIT", Trace: strings.Split(words, "\n")}
	case first == "" && status.Signaled():
		first = fmt.Sprintf("signal %d (%s)", int(status.Signal()), status.Signal())
	case first == "":
		first = "Go's runtime ended it without a message"
	}
	return &Crash{What: "a fault in jitinject: " + quote.Printable(first), Advice: "report it with all of this at " + issues, Trace: strings.Split(words, "\n")}
}

// ofCPU names the limit of CPU time, if there is one, and returns the used share of it. The kernel
// kills a process that reaches the hard limit. It counts in ticks, and the CPU time is exact: on a
// busy machine the two differ by half and more in the first seconds.
func ofCPU(cpu time.Duration) (name string, share float64) {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CPU, &limit) != nil || limit.Max == unix.RLIM_INFINITY {
		return "", 0
	}
	return fmt.Sprintf(" (ulimit -t is %d)", limit.Max), cpu.Seconds() / float64(limit.Max)
}

// String returns the sentence for users.
func (c *Crash) String() string {
	if c.Advice == "" {
		return c.What
	}
	return c.What + "; " + c.Advice
}

// Lines returns the trace, as a terminal may show it.
func (c *Crash) Lines() string {
	var b strings.Builder
	for _, line := range c.Trace {
		if line != "" {
			fmt.Fprintf(&b, "    %s\n", quote.Printable(strings.ReplaceAll(line, "\t", "    ")))
		}
	}
	return b.String()
}
