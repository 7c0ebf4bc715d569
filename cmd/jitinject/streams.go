package main

import (
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
// result goes into a pipe, as perf inject's does. It fails if the system cannot tell the kinds.
func (o *options) streams(fs *pflag.FlagSet, stdin, stdout *os.File, stderr io.Writer) error {
	if !fs.Changed("input") {
		is, err := stdio.HasRecording(stdin, stderr)
		if err != nil {
			return fmt.Errorf("cannot examine standard input: %w; name the recording with -i", err)
		}
		if is {
			o.input = "-"
		}
	}
	if !fs.Changed("output") && o.summary != "json" {
		kind, err := stdio.KindOf(stdout)
		if err != nil {
			return fmt.Errorf("cannot examine standard output: %w; name the result with -o", err)
		}
		if o.input == "-" && kind.IsStream() || fs.Changed("input") && kind == stdio.FIFO {
			o.output = "-"
		}
	}
	o.defaultInput, o.defaultOutput = !fs.Changed("input"), !fs.Changed("output")
	return nil
}

// isPipe reports whether another program is at the other end of f, as far as the system says.
func isPipe(f *os.File) bool {
	kind, err := stdio.KindOf(f)
	return err == nil && kind.IsPipe()
}
