package summary

import (
	"bytes"
	"strings"
	"testing"
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

// A recording from a pipe has the name of the stream in messages.
func TestStreamName_ForInputAndOutput(t *testing.T) {
	for path, want := range map[string]string{"-": "standard input", "./-": "./-", "a\x1b.data": `a\x1b.data`} {
		if got := streamName(path, "standard input"); got != want {
			t.Errorf("got %s for %q; want %s", got, path, want)
		}
	}
}
