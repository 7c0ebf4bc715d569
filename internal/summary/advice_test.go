package summary

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
)

// Where code is missing, it is said once, and not that a core is needed where there was one.
func TestSummary_CodeMissing(t *testing.T) {
	for _, x := range []struct {
		change func(d *report.DumpSummary)
		want   string
		no     string
		times  int
	}{
		{func(d *report.DumpSummary) {}, "Mono's logs hold no code", "in no file of", 1},
		{func(d *report.DumpSummary) { d.Samples.InJIT = 0 }, "", "code", 0}, // nobody looks for any
		{func(d *report.DumpSummary) { d.CodeFiles = 1 }, "the code of 900 of its functions is in no file of --code-from; the memory of others was reused", "hold no code", 3},
		{func(d *report.DumpSummary) { d.CodeFiles, d.Late = 1, 800 }, "in no file of --code-from; 800 functions were loaded after the core dump was made: make the core dump later", "hold no code", 3},
		{func(d *report.DumpSummary) { d.CodeFiles, d.WithoutCode, d.Late = 1, 100, 80 }, "", "code", 0}, // said with -v
		{func(d *report.DumpSummary) { d.Kind, d.WithoutCode = formats.J9, 1 }, "its captures have no code of 1 of its functions", "hold no code", 3},
		{func(d *report.DumpSummary) { d.Kind, d.WithoutCode = formats.J9, 0 }, "", "no code", 0},
	} {
		s := dumps(3)
		for i := range s.Dumps {
			d := &s.Dumps[i]
			d.Samples = &report.JitSamples{InJIT: 100, Resolved: 100}
			d.Kind, d.Functions, d.WithoutCode = formats.Mono, 1000, 900
			x.change(d)
		}
		var out bytes.Buffer
		Write(&out, s, Options{})
		if text := out.String(); x.times > 0 && strings.Count(text, x.want) != x.times || strings.Contains(text, x.no) {
			t.Errorf("not %d times %q, or %q in\n%s", x.times, x.want, x.no, text)
		}
	}
}

// One line says that PHP has no lines, if somebody may look for them.
func TestSummary_PHPWithoutLines(t *testing.T) {
	const about = "PHP's JIT compiler writes no lines"
	for _, c := range []struct {
		command, kind string
		lines         int
		samples       int64
		want          int
	}{
		{"php", formats.Jitdump, 0, 7, 1},
		{"php8.2", formats.Jitdump, 0, 7, 1},
		{"php", formats.Jitdump, 0, 0, 0},
		{"php", formats.Jitdump, 3, 7, 0}, // of a later version
		{"php", formats.PerfMap, 0, 7, 0}, // no map has lines
		{"node", formats.Jitdump, 0, 7, 0},
	} {
		s := dumps(3)
		for i := range s.Dumps {
			d := &s.Dumps[i]
			d.Command, d.Kind, d.WithLines, d.Samples = c.command, c.kind, c.lines, &report.JitSamples{InJIT: c.samples, Resolved: c.samples}
		}
		var out bytes.Buffer
		Write(&out, s, Options{})
		if got := strings.Count(out.String(), about); got != c.want {
			t.Errorf("got %d lines about it for %+v; want %d in\n%s", got, c, c.want, &out)
		}
	}
}

// One line says how much a log of V8 would add to several dumps.
func TestSummary_Unlogged(t *testing.T) {
	const about = "V8's log would add"
	for unlogged, want := range map[int]string{
		0:   "",
		400: about + " inlined calls and exact lines to 1,200 functions: start the program with jitinject record, or V8's flags --log-code --log-source-code; see jitinject help v8log\n",
	} {
		s := dumps(3)
		for i := range s.Dumps {
			s.Dumps[i].Unlogged = unlogged
		}
		var out bytes.Buffer
		Write(&out, s, Options{})
		if text := out.String(); strings.Count(text, about) != min(unlogged, 1) || !strings.Contains(text, want) {
			t.Errorf("%d functions a dump: got %q; want %q once", unlogged, text, want)
		}
		out.Reset()
		Write(&out, s, Options{Unlogged: "record without --no-inlines"})
		if text := out.String(); unlogged > 0 && (!strings.Contains(text, "functions: record without --no-inlines; see") || strings.Contains(text, "start the program")) {
			t.Errorf("got %q; want the caller's advice alone", text)
		}
	}
}

// A log whose name has no process is named by the user.
func TestSummary_UnloggedInNamedFile(t *testing.T) {
	s := dumps(1)
	s.Dumps[0].Unlogged, s.Cmdline = 4, strings.Fields("perf record node --perf-prof --log-code --log-source-code --logfile=v8.log app.js")
	var out bytes.Buffer
	Write(&out, s, Options{})
	if text := out.String(); !strings.Contains(text, "; name it: jitinject v8.log;") {
		t.Errorf("got %q; want the name of the log", text)
	}
}

// If the recorded command asks for V8's log, that was not found.
func TestSummary_UnloggedAsked(t *testing.T) {
	for line, asked := range map[string]bool{
		"node --perf-prof --log-code --log-source-code app.js":           true,
		"deno run --v8-flags=--perf_prof,--log_code,--log-source-code a": true,
		"node --perf-prof --log-code app.js":                             false,
		"node --perf-prof --log-source-code app.js":                      false,
		"node --log-code-disassemble --log-source-code app.js":           false,
	} {
		s := dumps(1)
		s.Dumps[0].Unlogged, s.Cmdline = 4, strings.Fields("perf record "+line)
		var out bytes.Buffer
		Write(&out, s, Options{})
		if text := out.String(); strings.Contains(text, "no isolate-*-PID-v8.log is used; name its directory with --dump-dir") != asked || strings.Contains(text, "start the program") == asked {
			t.Errorf("%s: got %q; want the flags only if they are missing", line, text)
		}
	}
}
