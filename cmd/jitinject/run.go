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

	"github.com/spf13/pflag"

	engine "github.com/jitinject/jitinject/inject"
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
	args = args[1:]
	if len(args) > 0 {
		switch args[0] {
		case "inject":
			args = args[1:]
		case "clean":
			return runClean(args[1:], stdout, stderr)
		case "version":
			fmt.Fprintf(stdout, "jitinject version %s\n", version())
			return exitOK
		case "help":
			fmt.Fprint(stdout, usage(newFlags(&options{})))
			return exitOK
		}
	}
	var o options
	flags := newFlags(&o)
	err := flags.Parse(levels(args))
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(stdout, usage(flags))
		return exitOK
	case err != nil:
		err = spellingError(flags, err)
	default:
		o.streams(flags, stdin, stdout)
		err = o.check(flags)
	}
	if err != nil {
		fmt.Fprintf(stderr, "jitinject: %s; see jitinject help\n", engine.Printable(err.Error()))
		return exitUsage
	}
	if o.version {
		fmt.Fprintf(stdout, "jitinject version %s\n", version())
		return exitOK
	}
	ctx, stop := interruptible(readsPipe(&o, stdin))
	defer stop()
	return inject(ctx, &o, stdin, stdout, stderr)
}

// interruptible returns a context that signals cancel. The next one ends the
// program at once. An interrupt from the keyboard goes to all of a pipeline; where
// the recording comes from a pipe, it makes that come to its end, and the first one
// is not for us.
func interruptible(stream bool) (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		for sig := range signals {
			if stream && sig == os.Interrupt {
				stream = false
				continue
			}
			signal.Stop(signals)
			cancel()
			return
		}
	}()
	return ctx, cancel
}

// readsPipe reports whether the recording comes from a pipe.
func readsPipe(o *options, stdin *os.File) bool {
	if o.input == "-" {
		return isPipe(stdin)
	}
	st, err := os.Stat(o.input)
	return err == nil && st.Mode()&os.ModeNamedPipe != 0
}

// complain writes an error, which may have several lines, each as a line of its own.
func complain(w io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(w, "jitinject: %s\n", strings.TrimSuffix(line, "\n"))
	}
}
