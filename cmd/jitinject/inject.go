package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	engine "github.com/jitinject/jitinject/inject"
)

// inject does the main job and says what came of it.
func inject(ctx context.Context, o *options, stdin, stdout *os.File, stderr io.Writer) int {
	mode := o.progress
	if o.quiet && mode == "auto" {
		mode = "never"
	}
	progress := new(engine.Progress)
	stopProgress := showProgress(stderr, mode, o.input == "-" && isPipe(stdin) || o.output == "-", progress)
	sum, err := runUntil(ctx, engine.Options{
		Progress:     progress,
		Input:        o.input,
		Stdin:        stdin,
		Stdout:       stdout,
		Output:       o.output,
		Objects:      o.objects,
		Sampled:      o.sampled,
		Bundle:       o.bundle,
		Sources:      o.sources,
		BuildIDCache: o.cache,
		EmbedSources: o.embed,
		CFI:          o.frames,
		DumpDirs:     o.dumpDirs,
		Clock:        o.clock,
		Dumps:        o.named,
		Force:        o.force,
		Strict:       o.strict,
		DWARF:        o.dwarf,
		Jobs:         o.jobs,
		Compress:     o.compress,
		Log: func(level int, line string) {
			if level <= o.verbose && !o.quiet {
				fmt.Fprintln(stderr, line)
			}
		},
	})
	stopProgress()
	switch {
	case errors.Is(err, context.Canceled):
		what := "nothing was written"
		if o.output == "-" {
			what = "what was written is not complete"
		}
		fmt.Fprintf(stderr, "jitinject: interrupted; %s\n", what)
		return exitFailed
	case err != nil:
		complain(stderr, err)
		if o.summary == "json" {
			writeJSON(stdout, stderr, failedRun{o.input, o.output, err.Error()})
		}
		return exitFailed
	}
	if !o.quiet {
		for _, note := range sum.Notes {
			fmt.Fprintf(stderr, "jitinject: note: %s\n", note)
		}
	}
	for _, p := range sum.Problems {
		fmt.Fprintf(stderr, "jitinject: %s\n", p)
	}
	switch {
	case o.summary == "json":
		if !writeJSON(stdout, stderr, sum) {
			return exitIncomplete
		}
	case !o.quiet:
		writeSummary(stderr, sum, o.sources)
	}
	if !sum.Complete() {
		return exitIncomplete
	}
	return exitOK
}

// runUntil runs the engine. When ctx is cancelled, the engine may be waiting for
// someone to open, fill or empty a pipe, and is left alone after a moment.
func runUntil(ctx context.Context, opts engine.Options) (*engine.Summary, error) {
	type result struct {
		sum *engine.Summary
		err error
	}
	done := make(chan result, 1)
	go func() {
		sum, err := engine.Run(ctx, opts)
		done <- result{sum, err}
	}()
	select {
	case r := <-done:
		return r.sum, r.err
	case <-ctx.Done():
	}
	select {
	case r := <-done:
		return r.sum, r.err
	case <-time.After(patience):
		return nil, ctx.Err()
	}
}

// patience is how long the engine may take to clean up.
const patience = 3 * time.Second

// A failedRun is the JSON summary of a run without output.
type failedRun struct {
	Input  string `json:"input"`
	Output string `json:"output"` // not written
	Error  string `json:"error"`
}

// writeJSON writes a summary and reports whether that went well.
func writeJSON(stdout, stderr io.Writer, v any) bool {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
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

// writeSummary says in a few lines what was done. sources is where source files went.
func writeSummary(w io.Writer, s *engine.Summary, sources string) {
	switch {
	case s.Markers == 0 && s.AlreadyInjected > 0:
		fmt.Fprintf(w, "%s: %s been injected already; %s is a copy. To inject again, take the recording that perf record wrote.\n",
			engine.Printable(s.Input), were(s.AlreadyInjected, "mapping has", "mappings have"), engine.Printable(s.Output))
		return
	case s.Markers == 0:
		fmt.Fprintf(w, "%s: nothing to inject; %s is a copy.\n"+
			"No process in it mapped a jitdump (jit-PID.dump). The runtime has to be told to write one:\n"+
			"  node --perf-prof, erl +JPperf true, php -d opcache.jit_debug=32, java with a jitdump agent, python -X perf_jit\n",
			engine.Printable(s.Input), engine.Printable(s.Output))
		return
	}
	for i := range s.Dumps {
		d := &s.Dumps[i]
		fmt.Fprintf(w, "process %d: %s", d.PID, count(int64(d.Functions), "function"))
		if d.Untouched > 0 {
			fmt.Fprintf(w, ", %s left out that nothing in the recording touches", number(int64(d.Untouched)))
		}
		if d.WithLines > 0 {
			fmt.Fprintf(w, ", %s with source lines", number(int64(d.WithLines)))
		}
		if d.Inlining > 0 {
			fmt.Fprintf(w, ", %s with inlined calls", number(int64(d.Inlining)))
		}
		if d.Moved > 0 {
			fmt.Fprintf(w, ", %s", count(int64(d.Moved), "move"))
		}
		if d.Empty > 0 {
			fmt.Fprintf(w, ", %s without code", number(int64(d.Empty)))
		}
		fmt.Fprintf(w, "  (%s)\n", engine.Printable(d.Path))
		if text := clockText(d.Clock); text != "" && d.Functions > 0 {
			fmt.Fprintf(w, "  %s\n", text)
		}
		if d.Sources > 0 && sources == "" {
			fmt.Fprintf(w, "  it brings along %s; --sources DIR puts the text where perf annotate finds it (and the objects are made again)\n", count(int64(d.Sources), "source file"))
		} else if d.Sources > 0 {
			fmt.Fprintf(w, "  %s put into %s\n", were(d.Sources, "source file was", "source files were"), engine.Printable(sources))
		}
		if d.Frames != "" {
			fmt.Fprintf(w, "  %s\n", d.Frames)
		}
		if d.Note != "" {
			fmt.Fprintf(w, "  %s\n", d.Note)
		}
		if d.Cut >= 0 {
			fmt.Fprintf(w, "  the dump ends inside a record, at %#x: its process was killed, or still writes; functions that were to come are missing\n", d.Cut)
		}
		for _, r := range d.Repairs {
			fmt.Fprintf(w, "  repaired %s: %s\n", number(r.Count), r.Text)
		}
	}
	fmt.Fprintf(w, "%s: %s, %s of objects", engine.Printable(s.Output), count(int64(s.Mappings), "mapping"), size(s.ObjectBytes))
	var dirs []string
	for i := range s.Dumps {
		if dir := engine.Printable(s.Dumps[i].Objects); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	if len(dirs) > 0 {
		fmt.Fprintf(w, " in %s", strings.Join(dirs, ", "))
	}
	if s.Unchanged > 0 {
		fmt.Fprintf(w, ", %s of %s already there", number(int64(s.Unchanged)), number(int64(s.Objects)))
	}
	fmt.Fprintln(w)
	if s.Cached > 0 {
		fmt.Fprintf(w, "%s in the build-id cache as well\n", were(s.Cached, "object is", "objects are"))
	}
	if s.Replaced > 0 {
		fmt.Fprintf(w, "%s there with other contents, and %s been replaced: results of earlier runs have lost these functions.\n",
			were(s.Replaced, "object was", "objects were"), map[bool]string{true: "has", false: "have"}[s.Replaced == 1])
	}
}

// clockText says how a dump's times were matched, if that was not a matter of course.
func clockText(c engine.Clock) string {
	offset := fmt.Sprintf("%+.6f s", float64(c.Offset)/1e9)
	switch c.Kind {
	case engine.ClockEstimated:
		if c.Error < 0 {
			return "its times are estimated to be " + offset + " off; functions may be there too early; record with -k mono to have them exact"
		}
		return fmt.Sprintf("its times are estimated to be %s off; functions may be there up to %.1f ms too early; record with -k mono to have them exact", offset, float64(c.Error)/1e6)
	case engine.ClockGiven:
		return offset + " were added to its times, as --clock says"
	case engine.ClockNone:
		return "its times cannot be matched; its functions are there from the start"
	}
	return ""
}

// were is a number with what goes with one and with many.
func were(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(int64(n)) + " " + many
}

// count is a number with its noun.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

// number writes thousands apart.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func size(n int64) string {
	switch {
	case n >= 10<<20:
		return number(n>>20) + " MB"
	case n >= 10<<10:
		return number(n>>10) + " kB"
	}
	return number(n) + " bytes"
}
