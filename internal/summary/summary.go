package summary

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// Options are what the text depends on beside the results.
type Options struct {
	// Sources is the directory that source files were put into, or "" if they were not.
	Sources string

	// All prints everything in full: a line for each dump, and notes that matter to few.
	All bool

	// Failure says how the recorded command failed, or is "". If hardly any jitted code ran then, nothing
	// else is printed, unless All is set.
	Failure string

	Unlogged string // how functions get V8's log, or "" if that is not known
}

// Write writes a summary as text. Lines end with a newline. Untrusted names in it are printed so that
// a terminal executes none of their characters. Errors of w are ignored. s is not changed.
func Write(w io.Writer, s *report.Summary, opts Options) {
	if n := samplesInJIT(s); n < fewSamples && opts.Failure != "" && !opts.All {
		writeFailure(w, opts.Failure, n)
		return
	}
	if s.Markers == 0 && len(s.Traces) == 0 {
		fmt.Fprintf(w, "%s: nothing to inject; %s is a copy.\n", streamName(s.Input, "standard input"), streamName(s.Output, "standard output"))
		writeReasons(w, s)
		return
	}
	writeDumps(w, s, opts)
	writeHottest(w, s)
	if s.Samples != nil && s.Samples.WithoutDump >= fewSamples {
		fmt.Fprintf(w, "%s are in JIT code of processes that got no functions\n", words.Count(s.Samples.WithoutDump, "more sample"))
	}
	writeAdvice(w, s, opts)
	writeTraces(w, s)
	writeReasons(w, s)
	writeWhole(w, s)
	writeNext(w, s)
}

// writeFailure says that a command failed before much of its code was jitted. n is the number of samples
// in that.
func writeFailure(w io.Writer, failure string, n int64) {
	if n == 0 {
		fmt.Fprintf(w, "%s, and no jitted code was recorded\n", failure)
		return
	}
	fmt.Fprintf(w, "%s, and only %s in jitted code\n", failure, words.Plural(int(n), "sample is", "samples are"))
}

func writeWhole(w io.Writer, s *report.Summary) {
	output := streamName(s.Output, "standard output")
	if calls := callsOf(s); calls > 0 && s.Mappings == 0 {
		fmt.Fprintf(w, "%s: %s", output, words.Count(calls, "call"))
	} else {
		fmt.Fprintf(w, "%s: %s, %s of objects", output, words.Count(int64(s.Mappings), "mapping"), words.Size(s.ObjectBytes))
	}
	var dirs []string
	for i := range s.Dumps {
		if dir := quote.Printable(s.Dumps[i].Objects); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	switch {
	case len(dirs) > 3:
		fmt.Fprintf(w, " in %s and %d more directories", dirs[0], len(dirs)-1)
	case len(dirs) > 0:
		fmt.Fprintf(w, " in %s", strings.Join(dirs, ", "))
	}
	if s.Unchanged > 0 {
		fmt.Fprintf(w, ", %s of %s already there", words.Number(int64(s.Unchanged)), words.Number(int64(s.Objects)))
	}
	fmt.Fprintf(w, "\nread %s, wrote %s in %s\n", words.Size(s.BytesRead), words.Size(s.BytesWritten), words.Duration(s.Elapsed))
	if s.Cached > 0 {
		fmt.Fprintf(w, "%s in the build-id cache as well\n", words.Plural(s.Cached, "object is", "objects are"))
	}
	if s.Replaced > 0 {
		fmt.Fprintf(w, "%s replaced, as the contents differed; an earlier result that needs the old contents now shows fewer functions\n", words.Plural(s.Replaced, "object was", "objects were"))
	}
}

// streamName returns a path for messages, or the name of the stream that - stands for.
func streamName(path, stream string) string {
	if path == "-" {
		return stream
	}
	return quote.Printable(path)
}

// writeReasons says why there was nothing to inject.
func writeReasons(w io.Writer, s *report.Summary) {
	for _, r := range s.Reasons {
		fmt.Fprintln(w, r.Text)
		if r.Advice != "" {
			fmt.Fprintf(w, "    %s\n", r.Advice)
		}
	}
}
