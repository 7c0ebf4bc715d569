package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile"
)

const (
	// grace is how long a run may take to end after a signal. After that, one that has made no
	// files is ended, and one that has says that it removes them.
	grace = 500 * time.Millisecond
	// stall is how long removing files may stand still. The run is ended then, too.
	stall = 10 * grace
	// sameSignal is how long a repeated signal counts as the same one. timeout(1) sends one to its
	// child and to their group.
	sameSignal = 200 * time.Millisecond
)

// A signalled is a run that signals end.
type signalled struct {
	// stream says that the recording comes from a pipe. An interrupt from the keyboard goes to
	// all of a pipeline, and makes the recording come to its end. So the first one is ignored
	// until the recording is there.
	stream bool
	// progress says whether the run has made files, and removes them. It is nil for runs that
	// make none.
	progress *report.Progress
	// stderr gets messages.
	stderr io.Writer
	// what says what there is when the run ends in the middle, and code is its exit code then.
	what func() (text string, code int)
}

// interruptible returns a context that signals cancel. A run that does not end by itself after that
// is ended. stop ends this. Extra signals are treated as those of endingSignals.
func interruptible(s signalled, extra ...os.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals, stopped := make(chan os.Signal, 4), make(chan struct{})
	signal.Notify(signals, append(endingSignals(), extra...)...)
	go func() {
		last := time.Time{}
		for {
			select {
			case sig := <-signals:
				same := time.Since(last) < sameSignal
				last = time.Now()
				switch {
				case same:
					continue
				case s.stream && sig == os.Interrupt && s.progress.State().Phase.IsInput():
					s.stream = false
					continue
				}
				cancel()
				if sig == syscall.SIGXCPU {
					s.say("the limit of CPU time is reached; raise it (ulimit -t)")
				}
				s.await(signals, stopped)
				return
			case <-stopped:
				return
			}
		}
	}()
	return ctx, func() {
		close(stopped)
		cancel()
	}
}

// await ends the process, unless the run ends by itself or is removing files.
func (s *signalled) await(signals <-chan os.Signal, stopped <-chan struct{}) {
	var said, moved time.Time
	var was report.ProgressState
	for tick := time.Tick(grace); ; {
		select {
		case <-stopped:
			return
		case sig := <-signals:
			if sig != syscall.SIGXCPU && !said.IsZero() && time.Since(said) > sameSignal {
				s.end()
			}
		case <-tick:
			now := time.Now() // a tick has the time when it was due; the process may have been stopped
			if s.progress == nil || !s.progress.Writes() || s.progress.Finished() {
				s.end()
			}
			if state := s.progress.State(); state != was || moved.IsZero() {
				was, moved = state, now
			}
			// Waiting for the disk cannot be cut short.
			if was.Phase != report.PhaseSync && now.Sub(moved) > stall {
				s.end()
			}
			if said.IsZero() {
				said = now
				s.say("removing the files of this run; another signal ends this at once and leaves the rest")
			}
		}
	}
}

// end ends the process. Objects that the run has made are complete, and stay.
func (s *signalled) end() {
	signal.Reset() // another signal ends this
	signal.Ignore(syscall.SIGPIPE)
	safefile.RemovePartials()
	text, code := s.what()
	s.say("interrupted; " + text)
	os.Exit(code)
}

// say writes a message, unless messages have no reader: that would wait for ever.
func (s *signalled) say(text string) {
	if c, ok := s.stderr.(*console); ok {
		if f, ok := c.w.(*os.File); ok && !isWritable(f) {
			return
		}
	}
	fmt.Fprintf(s.stderr, "jitinject: %s\n", text)
}

// isWritable reports whether something can be written soon.
func isWritable(f *os.File) bool {
	fds := []unix.PollFd{{Fd: int32(f.Fd()), Events: unix.POLLOUT}}
	n, err := unix.Poll(fds, int((100 * time.Millisecond).Milliseconds()))
	return n > 0 || err != nil
}

// ending returns a function that always returns the same.
func ending(text string, code int) func() (string, int) {
	return func() (string, int) { return text, code }
}

// whatIsThere says what there is of a result that a run was making, and returns the exit code.
func whatIsThere(o *options, progress *report.Progress) (text string, code int) {
	switch {
	case progress.Finished() && o.BuildIDCache != "":
		return "the result is complete, but some objects may be missing in the build-id cache: inject again", exitIncomplete
	case progress.Finished():
		return "the result is complete", exitIncomplete
	case !progress.Writes():
		return cmp.Or(o.partial, "nothing was written"), exitFailed
	}
	stay := "objects of it may stay, and the next run with the same dumps uses them"
	return cmp.Or(partInPipe(o), "there is no result") + "; " + stay, exitFailed
}

// endingSignals are the signals that end the program. One that is ignored when it starts
// stays so: nohup, and shells that put it into the background, say with that whom a
// hangup or the keyboard is not to end. SIGXCPU comes each second from the soft limit of CPU time
// on. At the hard limit the kernel kills.
func endingSignals() []os.Signal {
	// The second line are signals of faults. They come here only if another program sends them.
	signals := []os.Signal{syscall.SIGTERM, syscall.SIGQUIT,
		syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSTKFLT, syscall.SIGSYS, syscall.SIGTRAP}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP, syscall.SIGXCPU} {
		if !signal.Ignored(sig) {
			signals = append(signals, sig)
		}
	}
	return signals
}
