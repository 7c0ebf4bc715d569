package main

import (
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	engine "github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/journal"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/watcher"
	"github.com/jitinject/jitinject/internal/watcher/crash"
)

// A run that crashes, or that does not end after a signal, leaves files. The journal says which.
// They are removed by another process, if a watcher starts one, or else by this one before it
// exits.

// lateNotice is how long removing files may take before the user is told.
const lateNotice = 500 * time.Millisecond

// abandon ends the process, which does not end by itself after a signal.
func abandon(command []string) {
	journal.Abandon(grace / 4)
	if watcher.Started() == watcher.Watched {
		os.Exit(watcher.ExitAbandoned)
	}
	signal.Reset() // another signal ends this
	signal.Ignore(syscall.SIGPIPE)
	os.Exit(endOf(command, nil, true, os.Stdout, newConsole(os.Args[0], os.Stderr)))
}

// afterCrash is the program in a process that the watcher starts after the end of another one.
func afterCrash(args []string, stdout *os.File, stderr *os.File) int {
	console := newConsole(args[0], stderr)
	if status := watcher.Status(); !status.Exited() || status.ExitStatus() != watcher.ExitAbandoned {
		words, _ := watcher.LastWords()
		return endOf(args[1:], crash.Of(status, words, watcher.CPU()), false, stdout, console)
	}
	return endOf(args[1:], nil, false, stdout, console)
}

// endOf removes what a run of a command has left, says how it has ended, and returns the exit code.
// c is nil after a signal. own says that the run is of this process.
func endOf(args []string, c *crash.Crash, own bool, stdout *os.File, stderr *console) int {
	log := journal.Read(watcher.Memory())
	why, removing := "interrupted", "interrupted"
	if c != nil {
		why, removing = c.String(), "the run has crashed"
	}
	tell := tellLate(stderr, removing+"; removing the files that it made; please wait: another signal leaves the rest of them\n")
	files := objstore.Recover(log, own)
	tell()
	name := "inject"
	if len(args) > 0 && findCommand(args[0]) != nil {
		name = args[0]
		args = args[1:]
	}
	var o options
	code := exitFailed
	switch name {
	case "inject":
		flags := newFlags(&o)
		parse(flags, levels(args), nil, io.Discard)
		what := "nothing was written"
		if files.Complete && o.cache != "" {
			files.Left = strings.TrimPrefix(files.Left+"; some objects may be missing in the build-id cache: inject again", "; ")
		}
		switch {
		case files.Complete && files.Left != "":
			what, code = "the result is complete, but "+files.Left, exitIncomplete
		case files.Complete:
			what, code = "the result is complete", exitIncomplete
		case log.Stream:
			what = strings.TrimSuffix("what was written is not complete; "+files.Left, "; ")
		case files.Unknown:
			what = files.Left
		case files.Left != "":
			what = "there is no result, but " + files.Left
		}
		why += "; " + what
	case "clean":
		why += "; the other objects are still there"
		if c == nil {
			code = exitIncomplete
		}
	case "fetch":
		why += "; the objects that are there already stay: fetch again"
		if c == nil {
			code = exitIncomplete
		}
	case "verify":
		why += "; not everything was checked"
	}
	if name != "inject" && files.Left != "" {
		why += "; " + files.Left
	}
	if isWritable(stderr.w) {
		if terminal := stderr.terminal(); terminal != nil {
			io.WriteString(terminal, "\r\x1b[J") // a bar
		}
		fmt.Fprintf(stderr, "jitinject: %s\n", why)
		if c != nil {
			io.WriteString(stderr, c.Lines())
		}
	}
	if c != nil && o.summary == "json" && !files.Complete {
		writeJSON(stdout, stderr, failedRun{engine.SummaryVersion, o.input, o.output, why})
	}
	return code
}

// tellLate writes a message after some time. stop ends that, and waits until the message is written
// if it is being written.
func tellLate(stderr *console, message string) (stop func()) {
	var mu sync.Mutex
	over := false
	timer := time.AfterFunc(lateNotice, func() {
		mu.Lock()
		defer mu.Unlock()
		if !over && isWritable(stderr.w) {
			io.WriteString(stderr, "jitinject: "+message)
		}
	})
	return func() {
		timer.Stop()
		mu.Lock()
		over = true
		mu.Unlock()
	}
}

// isWritable reports whether messages can be written soon: they may have no reader.
func isWritable(stderr io.Writer) bool {
	f, ok := stderr.(*os.File)
	if !ok {
		return true
	}
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, int((100 * time.Millisecond).Milliseconds()))
	return n > 0 || err != nil
}
