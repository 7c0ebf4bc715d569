package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"unicode"
	"unicode/utf16"

	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/summary"
	"github.com/jitinject/jitinject/internal/words"
)

// inject does the main job and says what came of it.
func inject(ctx context.Context, o *options, progress *report.Progress, stdin, stdout *os.File, stderr io.Writer) int {
	mode := o.progress
	if o.quiet && mode == "auto" {
		mode = "never"
	}
	stopProgress := showProgress(stderr, mode, o.Input == "-" && isPipe(stdin) || o.Output == "-", progress)
	settings := o.Options
	settings.Progress, settings.Stdin, settings.Stdout = progress, stdin, stdout
	settings.SideFiles = slices.Concat(o.SideFiles, o.alone)
	settings.ShortNames = o.monoNames == "short"
	settings.Live = o.livePIDs()
	settings.NoCount = !o.count
	settings.Proposal = o.again
	settings.Log = func(level int, line string) {
		if level <= o.verbose && !o.quiet {
			fmt.Fprintln(stderr, line)
		}
	}
	sum, err := engine.Run(ctx, settings)
	stopProgress()
	switch {
	case errors.Is(err, context.Canceled):
		what := cmp.Or(partInPipe(o), o.partial, "nothing was written")
		if left := leftBy(err); left != "" {
			what = "there is no result, but " + left
		}
		fmt.Fprintf(stderr, "jitinject: interrupted; %s\n", what)
		return exitFailed
	case err != nil:
		return failed(o, err, stdout, stderr)
	}
	nameOnce(sum)
	if !o.quiet {
		for _, note := range slices.Concat(o.idle, sum.Notes) {
			fmt.Fprintf(stderr, "jitinject: note: %s\n", note)
		}
	}
	for i, p := range sum.Problems {
		if next := i + 1; next < len(sum.Problems) && sum.Problems[next].File == p.File && sum.Problems[next].Advice == p.Advice {
			p.Advice = "" // once is enough
		}
		fmt.Fprintf(stderr, "jitinject: %s\n", p)
	}
	switch {
	case o.summary == "json":
		if !writeJSON(stdout, stderr, sum) {
			return exitIncomplete
		}
	case !o.quiet:
		summary.Write(stderr, sum, summary.Options{Sources: o.Sources, All: o.verbose > 0, Failure: o.failure, Unlogged: o.unlogged})
		writeSlowness(stderr, sum.MostMappings, o)
	}
	if !sum.Complete() {
		return exitIncomplete
	}
	return exitOK
}

// partInPipe says that the beginning of a result is in a pipe or a device, or is "" for files.
func partInPipe(o *options) string {
	if st, err := sys.Stat(o.Output); o.Output == "-" || err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return "what was written is not complete"
	}
	return ""
}

// failed reports an error of a run without output and returns its exit code.
func failed(o *options, err error, stdout, stderr io.Writer) int {
	text := report.Once(err.Error())
	printError(stderr, errors.New(text))
	if left := leftBy(err); left != "" {
		fmt.Fprintf(stderr, "jitinject: %s\n", left)
	}
	if o.summary == "json" {
		writeJSON(stdout, stderr, failedRun{report.SummaryVersion, o.Input, o.Output, text})
	}
	return exitFailed
}

// leftBy returns what a run that failed could not remove, or "".
func leftBy(err error) string {
	var left *objstore.LeftError
	if errors.As(err, &left) {
		return left.Left
	}
	return ""
}

// slowMappings is the least number of mappings of one process that a perf takes seconds to read.
// The time of perf 6.12 grows with the square of the number, and that of perf 7.2 nearly so. perf
// 6.1 is fast (make bench).
const slowMappings = 5000

// writeSlowness advises an option if perf takes long to read a result with n mappings in one process.
func writeSlowness(w io.Writer, n int, o *options) {
	option := "--bundle"
	if o.Bundle {
		option = "--sampled"
	}
	if n >= slowMappings && !(o.Bundle && o.Sampled) {
		fmt.Fprintf(w, "perf 6.12 and 7.2 take long to read %s mappings of one process: inject with %s\n", words.Number(int64(n)), option)
	}
}

// A failedRun is the JSON summary of a run without output.
type failedRun struct {
	Version int    `json:"version"`
	Input   string `json:"input"`
	Output  string `json:"output"` // not written
	Error   string `json:"error"`
}

// writeJSON writes a summary and reports whether that went well.
func writeJSON(stdout, stderr io.Writer, v any) bool {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = stdout.Write(forTerminals(b.Bytes()))
	}
	if err != nil {
		fmt.Fprintf(stderr, "jitinject: the summary could not be written: %v\n", err)
		return false
	}
	return true
}

// forTerminals escapes the characters of a JSON document that a terminal might obey.
// They can be only inside strings, where JSON allows escapes. Package json leaves those
// beyond ASCII as they are.
func forTerminals(document []byte) []byte {
	plain := func(r rune) bool { return r == '\n' || unicode.IsPrint(r) }
	if bytes.IndexFunc(document, func(r rune) bool { return !plain(r) }) < 0 {
		return document
	}
	var b bytes.Buffer
	for _, r := range string(document) {
		if plain(r) {
			b.WriteRune(r)
			continue
		}
		for _, unit := range utf16.AppendRune(nil, r) {
			fmt.Fprintf(&b, `\u%04x`, unit)
		}
	}
	return b.Bytes()
}
