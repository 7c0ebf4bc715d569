package summary

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// writeAdvice says once what several dumps lack, and which option or flag adds it.
func writeAdvice(w io.Writer, s *report.Summary, opts Options) {
	wants := func(kind string) bool {
		return slices.ContainsFunc(s.Dumps, func(d report.DumpSummary) bool { return d.Kind == kind && wantsCode(d) })
	}
	if wants(formats.Mono) {
		fmt.Fprintln(w, "Mono's logs hold no code, so perf annotate shows none: see jitinject help mono for sources of code")
	}
	if wants(formats.J9) {
		fmt.Fprintln(w, "these captures hold no code, so perf annotate shows none: see jitinject help openj9 for sources of code")
	}
	if slices.ContainsFunc(s.Dumps, lacksPHPLines) {
		fmt.Fprintln(w, "PHP's JIT compiler writes no lines: perf annotate shows instructions only")
	}
	unlogged := 0
	for _, d := range s.Dumps {
		if d.Logs == nil {
			unlogged += d.Unlogged
		}
	}
	if unlogged > 0 {
		advice := cmp.Or(opts.Unlogged, "start the program with jitinject record, or V8's flags --log-code --log-source-code")
		if asksForLog(s.Cmdline) {
			advice = "the recorded command has V8's flags for it, but no isolate-*-PID-v8.log is used; name its directory with --dump-dir"
			if log := logFile(s.Cmdline); log != "" {
				advice = "the recorded command wrote it into " + quote.Printable(log) + ", a name that does not say which process it is of; name it: jitinject " + quote.ShellWord(log)
			}
		}
		fmt.Fprintf(w, "V8's log would add inlined calls and exact lines to %s: %s; see jitinject help v8log\n", words.Count(int64(unlogged), "function"), advice)
	}
}

// wantsCode reports whether samples are in functions with unknown code, because
// no option names its place.
func wantsCode(d report.DumpSummary) bool {
	return d.CodeFiles == 0 && d.WithoutCode > (d.Functions-d.Empty-d.InImages-d.Unreferenced)/2 && (d.Samples == nil || d.Samples.InJIT > 0)
}

// lacksPHPLines reports whether samples are in functions of PHP, which never have lines.
func lacksPHPLines(d report.DumpSummary) bool {
	return strings.HasPrefix(d.Command, "php") && d.Kind == formats.Jitdump && d.WithLines == 0 && samplesOf(&d).InJIT > 0
}

// asksForLog reports whether a command line has the flags with which V8 writes its log.
func asksForLog(cmdline []string) bool {
	has := func(flag string) bool {
		return slices.ContainsFunc(cmdline, func(word string) bool {
			_, after, ok := strings.Cut(strings.ReplaceAll(word, "_", "-"), flag)
			return ok && !strings.HasPrefix(after, "-")
		})
	}
	return has("--log-code") && has("--log-source-code")
}

// logFile returns the log that a command line names to V8, or "" if there is none or if its name is a
// pattern.
func logFile(cmdline []string) string {
	for _, word := range cmdline {
		if _, name, ok := strings.Cut(word, "--logfile="); ok && !strings.ContainsAny(name, "%,") {
			return name
		}
	}
	return ""
}
