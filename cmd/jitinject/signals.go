package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	engine "github.com/jitinject/jitinject/inject"
)

const (
	// grace is how long a run may take to end after a signal. It is abandoned then.
	grace = 500 * time.Millisecond
	// undoStall is how long removing files may stand still. The run is abandoned then, too.
	undoStall = 10 * grace
	// sameSignal is how long a repeated signal counts as the same one. timeout(1) sends one to its
	// child and to their group, and the watcher passes on another.
	sameSignal = 200 * time.Millisecond
)

// A signalled is a run that signals end.
type signalled struct {
	// stream says that the recording comes from a pipe. An interrupt from the keyboard goes to
	// all of a pipeline, and makes the recording come to its end. So the first one is ignored.
	stream bool
	// progress says whether the run removes what it made, which may take longer than grace. It
	// is nil for runs that make nothing.
	progress *engine.Progress
	// stderr gets a message if that takes longer. The next signal ends the process.
	stderr io.Writer
	// abandon ends the process.
	abandon func()
}

// interruptible returns a context that signals cancel. A run that does not end soon after that is
// abandoned. stop ends this. Extra signals are treated as those of endingSignals.
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
				case s.stream && sig == os.Interrupt:
					s.stream = false
					continue
				}
				cancel()
				if sig == syscall.SIGXCPU {
					fmt.Fprintln(s.stderr, "jitinject: the limit of CPU time is reached; raise it (ulimit -t)")
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

// await abandons the run, unless it ends by itself or is removing files.
func (s *signalled) await(signals <-chan os.Signal, stopped <-chan struct{}) {
	var said, moved time.Time
	done := int64(-1)
	for tick := time.Tick(grace); ; {
		select {
		case <-stopped:
			return
		case sig := <-signals:
			if sig != syscall.SIGXCPU && !said.IsZero() && time.Since(said) > sameSignal {
				signal.Reset(sig)
				syscall.Kill(os.Getpid(), sig.(syscall.Signal))
			}
		case <-tick:
			now := time.Now() // a tick has the time when it was due; the process may have been stopped
			if s.progress == nil {
				s.abandon()
			}
			state := s.progress.State()
			if state.Done != done {
				done, moved = state.Done, now
			}
			if state.Phase != engine.PhaseUndo || now.Sub(moved) > undoStall {
				s.abandon()
			}
			if said.IsZero() {
				said = now
				fmt.Fprintln(s.stderr, "jitinject: removing the files of this run; another signal ends this at once and leaves the rest")
			}
		}
	}
}

// endingSignals are the signals that end the program. One that is ignored when it starts
// stays so: nohup, and shells that put it into the background, say with that whom a
// hangup or the keyboard is not to end. SIGXCPU comes each second from the soft limit of CPU time
// on. At the hard limit the kernel kills.
func endingSignals() []os.Signal {
	signals := []os.Signal{syscall.SIGTERM}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP, syscall.SIGXCPU} {
		if !signal.Ignored(sig) {
			signals = append(signals, sig)
		}
	}
	return signals
}
