package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"strconv"
	"strings"

	engine "github.com/jitinject/jitinject/inject"
)

// inject does the main job and says what came of it.
func inject(ctx context.Context, o *options, stdout, stderr io.Writer) int {
	sum, err := engine.Run(ctx, engine.Options{
		Input:    o.input,
		Output:   o.output,
		Objects:  o.objects,
		DumpDirs: o.dumpDirs,
		Force:    o.force,
		Strict:   o.strict,
		DWARF:    o.dwarf,
		Jobs:     o.jobs,
		Log: func(level int, line string) {
			if level <= o.verbose {
				fmt.Fprintln(stderr, line)
			}
		},
	})
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "jitinject: interrupted; nothing was written")
		return exitFailed
	case err != nil:
		complain(stderr, err)
		return exitFailed
	}
	if o.summary == "json" {
		enc := json.NewEncoder(stdout)
		enc.SetIndent("", "  ")
		enc.Encode(sum)
	} else {
		for _, p := range sum.Problems {
			fmt.Fprintf(stderr, "jitinject: %s\n", p)
		}
		if !o.quiet {
			writeSummary(stderr, sum)
		}
	}
	if !sum.Complete() {
		return exitIncomplete
	}
	return exitOK
}

// writeSummary says in a few lines what was done.
func writeSummary(w io.Writer, s *engine.Summary) {
	if s.Markers == 0 {
		fmt.Fprintf(w, "%s: nothing to inject: no process in it mapped a jitdump (jit-PID.dump). The runtime has to be told to write one:\n"+
			"node --perf-prof, erl +JPperf true, php -d opcache.jit_debug=32, java with a jitdump agent, python -X perf_jit.\n"+
			"%s is a copy.\n", s.Input, s.Output)
		return
	}
	for i := range s.Dumps {
		d := &s.Dumps[i]
		fmt.Fprintf(w, "process %d: %s", d.PID, count(int64(d.Functions), "function"))
		if d.WithLines > 0 {
			fmt.Fprintf(w, ", %s with source lines", number(int64(d.WithLines)))
		}
		if d.Moved > 0 {
			fmt.Fprintf(w, ", %s", count(int64(d.Moved), "move"))
		}
		if d.Empty > 0 {
			fmt.Fprintf(w, ", %s without code", number(int64(d.Empty)))
		}
		fmt.Fprintf(w, "  (%s)\n", engine.Printable(d.Path))
		if d.Cut >= 0 {
			fmt.Fprintf(w, "  the dump ends inside a record, at %#x: its process was killed, or still writes\n", d.Cut)
		}
		for _, r := range d.Repairs {
			text := r.Text
			if r.Count == 1 {
				noun, rest, _ := strings.Cut(text, "s ")
				text = noun + " " + rest
			}
			fmt.Fprintf(w, "  repaired: %s %s\n", number(r.Count), text)
		}
	}
	fmt.Fprintf(w, "%s: %s, %s of objects", s.Output, count(int64(s.Mappings), "mapping"), size(s.ObjectBytes))
	if s.Unchanged > 0 {
		fmt.Fprintf(w, ", %s of %s already there", number(int64(s.Unchanged)), number(int64(s.Objects)))
	}
	fmt.Fprintln(w)
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

// version is the version that the program was built as.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
