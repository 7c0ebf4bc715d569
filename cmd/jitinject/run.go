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
		fmt.Fprintf(stderr, "jitinject: %v; see jitinject help\n", err)
		return exitUsage
	}
	if o.version {
		fmt.Fprintf(stdout, "jitinject version %s\n", version())
		return exitOK
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	return inject(ctx, &o, stdin, stdout, stderr)
}

// complain writes an error, which may have several lines, each as a line of its own.
func complain(w io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(w, "jitinject: %s\n", strings.TrimSuffix(line, "\n"))
	}
}
