package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"

	"github.com/jitinject/jitinject/internal/stdio"
)

// Input and output of a command line without -i or -o.

// streams completes the options by the kinds of standard input and output. A bare jitinject is part
// of a pipeline if a recording comes from standard input. Otherwise it is for files: scripts, ssh
// and cron start programs with pipes that bring no recording. With an input that was named, the
// result goes into a pipe, as perf inject's does, but not into one that has the messages, too. It fails if the system cannot tell the kinds.
func (o *options) streams(fs *pflag.FlagSet, stdin, stdout *os.File, stderr io.Writer) error {
	if !fs.Changed("input") {
		is, err := stdio.HasRecording(stdin, stderr)
		if err != nil {
			return fmt.Errorf("cannot examine standard input: %w; name the recording with -i", err)
		}
		if is {
			o.Input = "-"
		}
	}
	if !fs.Changed("output") && o.summary != "json" {
		kind, err := stdio.KindOf(stdout)
		if err != nil {
			return fmt.Errorf("cannot examine standard output: %w; name the result with -o", err)
		}
		if o.Input == "-" && kind.IsStream() || fs.Changed("input") && kind == stdio.FIFO {
			if o.Output, err = o.streamOr(o.Output, kind, stdout, stderr); err != nil {
				return fmt.Errorf("cannot examine standard output: %w; name the result with -o", err)
			}
		}
	}
	if o.Output == "-" && stdio.WasClosed(stdout) {
		return errClosed
	}
	o.DefaultInput, o.DefaultOutput = !fs.Changed("input"), !fs.Changed("output")
	return nil
}

// errClosed is the error of writing a result to standard output if that is closed.
var errClosed = errors.New("-o -: standard output is closed; name a file with -o")

// streamOr returns -, for standard output, and says so if that is a pipe. It returns file if messages go to
// the same place: nothing could read a recording with messages in it.
func (o *options) streamOr(file string, kind stdio.Kind, stdout *os.File, stderr io.Writer) (string, error) {
	if c, ok := stderr.(*console); ok {
		stderr = c.w
	}
	if f, ok := stderr.(*os.File); ok {
		same, err := stdio.IsSame(stdout, f)
		if err != nil {
			return "", err
		}
		if same {
			o.say(stderr, "messages go to standard output, too (2>&1), so the result goes to "+file)
			return file, nil
		}
	}
	if kind.IsPipe() {
		o.say(stderr, "the result goes to standard output, which is a pipe; for a file: -o "+file)
	}
	return "-", nil
}

// say prints a note, unless -q is given.
func (o *options) say(stderr io.Writer, note string) {
	if !o.quiet {
		fmt.Fprintf(stderr, "jitinject: note: %s\n", note)
	}
}

// isPipe reports whether another program is at the other end of f, as far as the system says.
func isPipe(f *os.File) bool {
	kind, err := stdio.KindOf(f)
	return err == nil && kind.IsPipe()
}
