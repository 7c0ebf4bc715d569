package summary

import (
	"bytes"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/report"
)

// Objects that were replaced are told of without alarm: mostly they are of the same recording,
// which was injected before in another way.
func TestSummary_ReplacedObjects(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "1 object was replaced, as the contents differed; an earlier result", 1234: "1,234 objects were replaced, as the contents differed; an earlier result"} {
		var out bytes.Buffer
		s := dumps(1)
		s.Replaced = n
		Write(&out, s, Options{})
		if text := out.String(); !strings.Contains(text, want) || strings.Contains(text, "replaced") != (n > 0) {
			t.Errorf("%d replaced: got %s; want %q, and nothing of it without replaced objects", n, text, want)
		}
	}
}

// Samples may be in no function because objects could not be written: the process has a dump then.
func TestSummary_NothingInjectedOfOthers(t *testing.T) {
	s := dumps(1)
	s.Samples.WithoutDump = fewSamples
	var out bytes.Buffer
	Write(&out, s, Options{})
	if text, want := out.String(), "more samples are in JIT code of processes that got no functions\n"; !strings.Contains(text, want) {
		t.Errorf("got %s; want %q", text, want)
	}
}

// A command that failed at once has no hot functions: its summary is one line, unless -v is given.
func TestSummary_FailedCommand(t *testing.T) {
	for _, c := range []struct {
		inJIT, withoutDump int64
		all                bool
		want               string // "" for a whole summary
	}{
		{0, 0, false, "node ended with exit code 1, and no jitted code was recorded\n"},
		{1, 0, false, "node ended with exit code 1, and only 1 sample is in jitted code\n"},
		{2, fewSamples - 3, false, "node ended with exit code 1, and only 19 samples are in jitted code\n"},
		{fewSamples, 0, false, ""},
		{0, fewSamples, false, ""},
		{0, 0, true, ""},
	} {
		s := dumps(1)
		s.Dumps[0].Samples, s.Samples.WithoutDump = &report.JitSamples{InJIT: c.inJIT, Resolved: c.inJIT}, c.withoutDump
		var out bytes.Buffer
		Write(&out, s, Options{All: c.all, Failure: "node ended with exit code 1"})
		if text := out.String(); c.want != "" && text != c.want || c.want == "" && !strings.Contains(text, "mapping") {
			t.Errorf("got %q for %+v; want %q, or a whole summary for \"\"", text, c, c.want)
		}
	}
}

// A recording from a pipe has the name of the stream in messages.
func TestStreamName_ForInputAndOutput(t *testing.T) {
	for path, want := range map[string]string{"-": "standard input", "./-": "./-", "a\x1b.data": `a\x1b.data`} {
		if got := streamName(path, "standard input"); got != want {
			t.Errorf("got %s for %q; want %s", got, path, want)
		}
	}
}
