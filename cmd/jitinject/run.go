package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	engine "github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// Exit codes, those of perf where it has them.
const (
	exitOK         = 0   // all that there was to inject was injected
	exitIncomplete = 1   // output was written, but something is missing in it
	exitUsage      = 129 // the command line could not be understood
	exitFailed     = 255 // no output was written
)

// run is the whole program; main only passes on its exit code.
func run(args []string, stdin, stdout *os.File, stderr io.Writer) int {
	console := newConsole(args[0], stderr)
	c := &commands()[0]
	if args = args[1:]; len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		switch named := findCommand(args[0]); {
		case named != nil:
			c, args = named, args[1:]
		case !isRecordingFile(args[0]) && !goesAlong(engine.Identify(args[0])) && !isDirectory(args[0]) && otherOfCapture(args[0]) == "": // else it is a file to inject
			return refuse(newFlagSet("inject"), console, notACommand(args[0]))
		}
	}
	return c.run(args, stdin, stdout, console)
}

// runInject is the command inject.
func runInject(args []string, stdin, stdout *os.File, stderr io.Writer) int {
	var o options
	flags := newFlags(&o)
	if code, done := parse(flags, levels(args), stdout, stderr); done {
		return code
	}
	if err := o.takeRecording(flags); err != nil {
		return refuse(flags, stderr, err)
	}
	o.streams(flags, stdin, stdout, stderr)
	if err := o.check(flags); errors.As(err, new(wrongFile)) {
		return failed(&o, err, stdout, stderr)
	} else if err != nil {
		return refuse(flags, stderr, err)
	}
	if o.version {
		fmt.Fprint(stdout, versionText())
		return exitOK
	}
	progress := new(engine.Progress)
	ctx, stop := interruptible(readsPipe(&o, stdin), func() bool {
		if !progress.Writes() {
			return false
		}
		fmt.Fprintln(stderr, "jitinject: what was made is being taken back; once more ends this at once and leaves the rest of it behind")
		return true
	})
	defer stop()
	return inject(ctx, &o, progress, stdin, stdout, stderr)
}

// interruptible returns a context that signals cancel. The next one ends the program at
// once, unless wait is there and says, once, that something has to be waited for. An interrupt from the keyboard goes to all of a pipeline; where
// the recording comes from a pipe, it makes that come to its end, and the first one
// is not for us.
func interruptible(stream bool, wait func() bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, endingSignals()...)
	go func() {
		for sig := range signals {
			switch {
			case stream && sig == os.Interrupt:
				stream = false
				continue
			case ctx.Err() == nil:
				cancel()
				if wait != nil {
					continue
				}
			case wait():
			default: // nothing is there yet that would stay
				signal.Stop(signals)
				syscall.Kill(os.Getpid(), sig.(syscall.Signal))
				return
			}
			signal.Stop(signals)
			return
		}
	}()
	return ctx, cancel
}

// endingSignals are the signals that end the program. One that is ignored when it starts
// stays so: nohup, and shells that put it into the background, say with that whom a
// hangup or the keyboard is not to end.
func endingSignals() []os.Signal {
	signals := []os.Signal{syscall.SIGTERM}
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signals = append(signals, sig)
		}
	}
	return signals
}

// readsPipe reports whether the recording comes from a pipe.
func readsPipe(o *options, stdin *os.File) bool {
	if o.input == "-" {
		return isPipe(stdin)
	}
	st, err := sys.Stat(o.input)
	return err == nil && st.Mode()&os.ModeNamedPipe != 0
}

// printError writes an error, which may have several lines, each as a line of its own.
func printError(w io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(w, "jitinject: %s\n", strings.TrimSuffix(line, "\n"))
	}
}
