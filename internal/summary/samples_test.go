package summary

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
)

// If samples are unresolved, the summary says how many are in which code.
func TestSummary_Unresolved(t *testing.T) {
	for want, c := range map[string]struct {
		early, left, resolved int64
		all                   bool
		kind                  string
	}{
		"": {0, 0, 990, false, ""},
		"unresolved: 40 samples in code that the log is certain to have only later":                                         {40, 0, 960, false, formats.V8Log},
		"unresolved: 1 sample in code that the dump does not describe":                                                      {0, 0, 999, true, ""},
		"unresolved: 40 samples in code that the dump does not describe":                                                    {0, 0, 960, false, ""},
		"unresolved: 40 samples in code that the dump describes only later":                                                 {40, 0, 960, false, ""},
		"unresolved: 40 samples where a function was that is gone":                                                          {0, 40, 960, false, ""},
		"unresolved: 40 samples, 30 in code that the dump describes only later, 10 in code that the dump does not describe": {30, 0, 960, false, ""},
		"unresolved: 40 samples, 8 where a function was that is gone, 32 in code that the dump does not describe":           {0, 8, 960, false, ""},
	} {
		d := &report.DumpSummary{Kind: c.kind, Samples: &report.JitSamples{InJIT: 1000, Resolved: c.resolved, Early: c.early, Left: c.left}}
		if got := unresolvedText(d, c.all); got != want {
			t.Errorf("for %+v: got %q; want %q", c, got, want)
		}
	}
}

// Samples in code that a process had removed are not in helpers of a runtime.
func TestSummary_RegisteredCodeRemoved(t *testing.T) {
	s := dumps(2)
	d := &s.Dumps[1]
	d.Kind, d.Samples = formats.GDBJIT, &report.JitSamples{InJIT: 100, Resolved: 50}
	var out bytes.Buffer
	Write(&out, s, Options{})
	if text, want := out.String(), "50 of its samples are in code that the process had removed, or did not register, when its memory was read"; !strings.Contains(text, want) || strings.Contains(text, "helpers") {
		t.Errorf("got %s; want %q", text, want)
	}
}

// If something is missing, functions that are missing may be in samples.
func TestSummary_CallersOfIncompleteDump(t *testing.T) {
	for _, d := range []report.DumpSummary{{Cut: 7, Samples: new(report.JitSamples)}, {Cut: -1, Samples: &report.JitSamples{InJIT: 3}}} {
		d.Functions = 1
		for with, want := range map[int64]string{0: "", 7: "its functions are callers in 7 of 9 stacks"} {
			d.Callers = &report.Callers{Stacks: 9, With: with}
			if got := callersText(&d); got != want {
				t.Errorf("for %+v: got %q; want %q", d, got, want)
			}
		}
	}
}

// Functions that are in no sample are callers, or nothing is known.
func TestSummary_Callers(t *testing.T) {
	idle := &report.Callers{Stacks: 9}
	for want, d := range map[string]report.DumpSummary{
		"none of its functions is in a sample, or in one of its 9 stacks; record with --call-graph dwarf, as a Python without frame pointers hides them from -g":     {Command: "python3", Callers: idle},
		"none of its functions is in a sample, or in one of its 9 stacks; PHP compiles files younger than two seconds only with -d opcache.file_update_protection=0": {Command: "php8.2", Callers: idle},
		"its functions are only callers: they are in 7 of 9 stacks, and in no sample themselves":                                                                     {Callers: &report.Callers{Stacks: 9, With: 7}},
		"none of its functions is in a sample, or in one of its 9 stacks":                                                                                            {Callers: &report.Callers{Stacks: 9}},
		"no sample is in its functions themselves; their addresses are in 8 of 9 copies of the stack, where perf finds callers":                                      {Callers: &report.Callers{Copies: 9, Words: 8}},
		"no sample is in its functions themselves; callers were not counted":                                                                                         {},
	} {
		d.Functions, d.Samples, d.Cut = 1, new(report.JitSamples), -1
		if got := callersText(&d); got != want {
			t.Errorf("for %+v: got %q; want %q", d, got, want)
		}
		d.Samples.Resolved = 1
		if got := callersText(&d); got != "" {
			t.Errorf("for a sample in a function: got %q; want nothing", got)
		}
	}
}
