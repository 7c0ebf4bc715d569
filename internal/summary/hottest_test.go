package summary

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/report"
)

// tableOf returns the lines of the table of hottest functions.
func tableOf(h *report.Hottest) string {
	var out bytes.Buffer
	writeHottest(&out, &report.Summary{Output: "out.data", Hottest: h})
	return out.String()
}

// The table is straight, and has a column only if it has content.
func TestHottest_Table(t *testing.T) {
	hot := report.HotFunction{Name: "hot", Tier: "optimized", PID: 7, Command: "node", Share: 0.781, File: "/a/app.js", Line: 1, HotFile: "/a/app.js", HotLine: 3, HotShare: 0.61}
	longer := report.HotFunction{Name: "größer", PID: 7, Command: "node", Share: 0.0504, File: "/a/app.js", Line: 10, HotFile: "/a/lib.js", HotLine: 12, HotShare: 0.35}
	stub := report.HotFunction{Name: "MathSqrt\x1b[2J", Tier: "stub", PID: 7, Command: "node", Share: 0.01}
	other := report.HotFunction{Name: strings.Repeat("ä", maxName+1), PID: 8, Command: "php", Share: 0.01}
	cold := report.HotFunction{Name: "cold", PID: 7, Command: "node", Share: 0.0049}
	for _, c := range []struct {
		h    *report.Hottest
		want string
	}{
		{nil, ""},
		{&report.Hottest{}, ""},
		{&report.Hottest{Functions: []report.HotFunction{cold}}, ""},
		{&report.Hottest{Functions: []report.HotFunction{hot, longer, stub, cold}}, `hottest functions (share of samples)
  78.1 %  hot              optimized  app.js:1   mostly line 3 (61 %)
   5.0 %  größer                      app.js:10  most in lib.js:12 (35 %)
   1.0 %  MathSqrt\x1b[2J  stub
`},
		{&report.Hottest{Event: "cycles:u", Functions: []report.HotFunction{longer, other}}, `hottest functions (share of samples of cycles:u)
  5.0 %  größer                                                        7 node  app.js:10  most in lib.js:12 (35 %)
  1.0 %  ` + strings.Repeat("ä", maxName-3) + `...  8 php
`},
		{&report.Hottest{Functions: []report.HotFunction{cold}, Callers: []report.HotFunction{{Name: "f", Tier: "interpreter", Share: 1, File: "/a/app.py"}}}, `functions that most samples pass through (share of samples)
  100.0 %  f  interpreter  app.py
`},
	} {
		if got := tableOf(c.h); got != c.want {
			t.Errorf("got\n%swant\n%s", got, c.want)
		}
	}
}

// The last lines are the commands that show more, as a shell reads them, if there is anything to show. They
// name the file unless the commands read it by default.
func TestSummary_NextCommand(t *testing.T) {
	functions := &report.Hottest{Functions: []report.HotFunction{{Name: "f", Share: 0.001}}}
	for _, c := range []struct {
		output  string
		hottest *report.Hottest
		want    string
	}{
		{"perf.jit.data", functions, "next: jitinject report\n      jitinject view\n"},
		{"it's.data", functions, "next: jitinject report -i 'it'\\''s.data'\n      jitinject view 'it'\\''s.data'\n"},
		{"a", &report.Hottest{Callers: functions.Functions}, "next: jitinject report -i a\n      jitinject view a\n"},
		{"-", functions, ""},
		{"a", &report.Hottest{}, ""},
		{"a", nil, ""},
	} {
		s := dumps(1)
		s.Output, s.Hottest = c.output, c.hottest
		var out bytes.Buffer
		Write(&out, s, Options{})
		if text := out.String(); !strings.HasSuffix(text, c.want) || strings.Contains(text, "next:") != (c.want != "") {
			t.Errorf("got\n%swant %q at the end", text, c.want)
		}
	}
}

// Repairs are one line, which says how many faults there were; with -v there is one for each kind.
func TestSummary_Repairs(t *testing.T) {
	d := report.DumpSummary{Command: "node", Cut: -1, Fixes: []report.Fix{{Name: "skewed-lines", Count: 3, Text: "lines moved"}, {Name: "absurd-tids", Count: 1225, Text: "tids replaced"}}}
	for _, c := range []struct {
		command string
		fixes   []report.Fix
		all     bool
		want    string
	}{
		{"node", d.Fixes, false, "repaired 1,228 faults of node's dump (-v explains)"},
		{"no\x1bde", d.Fixes[:1], false, `repaired 3 faults of no\x1bde's dump (-v explains)`},
		{"", []report.Fix{{Count: 1}}, false, "repaired 1 fault of the dump (-v explains)"},
		{"node", d.Fixes, true, "repaired 3: lines moved (skewed-lines)\nrepaired 1,225: tids replaced (absurd-tids)"},
		{"node", nil, false, ""},
	} {
		d.Command, d.Fixes = c.command, c.fixes
		if got := strings.Join(dumpNotes(&d, Options{All: c.all}), "\n"); got != c.want {
			t.Errorf("got %q; want %q", got, c.want)
		}
	}
}
