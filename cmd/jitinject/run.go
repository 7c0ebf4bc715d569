package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/record"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/stdio"
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
	if len(args) > 1 && args[1] == completeCommand {
		return printText(stdout, console, offered(args[2:]).String())
	}
	if args = args[1:]; len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		switch named := findCommand(args[0]); {
		case named != nil:
			c, args = named, args[1:]
		case !isRecordingFile(args[0]) && !goesAlong(formats.Identify(args[0])) && !isDirectory(args[0]) && otherOfCapture(args[0]) == "": // else it is a file to inject
			return refuse(newFlagSet("inject"), console, notACommand(args))
		}
	}
	return c.run(args, stdin, stdout, console)
}

func runInject(args []string, stdin, stdout *os.File, stderr io.Writer) int {
	return new(options).run(args, stdin, stdout, stderr)
}

// addFiles adds the directory of dumps that jitinject record made with the recording: it is injected again.
func (o *options) addFiles() {
	if dir := record.FilesOf(o.Input); dir != "" && !slices.Contains(o.DumpDirs, dir) {
		o.DumpDirs = append(o.DumpDirs, dir)
	}
}

// run is runInject with values for what no option sets.
func (o *options) run(args []string, stdin, stdout *os.File, stderr io.Writer) int {
	flags := newFlags(o)
	if code, done := parse(flags, levels(args), stdout, stderr); done {
		return code
	}
	if err := o.takeRecording(flags); err != nil {
		return refuse(flags, stderr, err)
	}
	if err := o.streams(flags, stdin, stdout, stderr); err != nil {
		return failed(o, err, stdout, stderr)
	}
	if err := o.check(flags); errors.As(err, new(wrongFile)) {
		return failed(o, err, stdout, stderr)
	} else if err != nil {
		return refuse(flags, stderr, err)
	}
	if o.version {
		return printText(stdout, stderr, versionText())
	}
	o.addFiles()
	progress := new(report.Progress)
	what := func() (string, int) { return whatIsThere(o, progress) }
	ctx, stop := interruptible(signalled{stream: readsPipe(o, stdin), progress: progress, stderr: stderr, what: what}, syscall.SIGPIPE)
	defer stop()
	return inject(ctx, o, progress, stdin, stdout, stderr)
}

func readsPipe(o *options, stdin *os.File) bool {
	if o.Input == "-" {
		return isPipe(stdin)
	}
	st, err := sys.Stat(o.Input)
	return err == nil && st.Mode()&os.ModeNamedPipe != 0
}

// printText writes a text to standard output, and returns the exit code.
func printText(stdout, stderr io.Writer, text string) int {
	if !stdio.Print(stdout, stderr, text) {
		return exitFailed
	}
	return exitOK
}

// printPaged writes a text to standard output through a pager, and returns the exit code.
func printPaged(stdout *os.File, stderr io.Writer, text string) int {
	if !stdio.PrintPaged(stdout, stderr, text) {
		return exitFailed
	}
	return exitOK
}

// fail writes an error, and returns the exit code.
func fail(stderr io.Writer, err error) int {
	if errors.Is(err, context.Canceled) {
		err = errors.New("interrupted")
	}
	printError(stderr, err)
	return exitFailed
}

// printError writes an error, which may have several lines, each as a line of its own.
func printError(w io.Writer, err error) {
	for line := range strings.Lines(err.Error()) {
		fmt.Fprintf(w, "jitinject: %s\n", report.Once(strings.TrimSuffix(line, "\n"))) // each name once
	}
}
