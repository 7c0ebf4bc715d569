package terminal

import (
	"os"
	"testing"
)

func TestColour_FirstSeverityOfLine(t *testing.T) {
	for text, want := range map[string]string{
		"jitinject: x.data: it is empty\n":      "jitinject: x.data: it is empty\n",
		"jitinject: note: a\n":                  "jitinject: " + cyan + "note:" + reset + " a\n",
		"f: offset 0x1: error: warning: a\nb\n": "f: offset 0x1: " + red + "error:" + reset + " warning: a\nb\n",
		"warning: a: error: b\n":                magenta + "warning:" + reset + " a: error: b\n",
		"terror: a\n":                           "terror: a\n",
		"no end of line: error: a":              "no end of line: " + red + "error:" + reset + " a",
		"":                                      "",
	} {
		if got := string(Colour([]byte(text))); got != want {
			t.Errorf("for %q: got %q; want %q", text, got, want)
		}
	}
}

// What is not a terminal gets no colours, and neither does a terminal that asks for none.
func TestHasColour_TerminalsAndNoColor(t *testing.T) {
	if null, err := os.Open(os.DevNull); err != nil || HasColour(null) {
		t.Errorf("got colours for %s, or %v; want none", os.DevNull, err)
	}
	tty := openTerminal(t)
	for _, c := range []struct {
		noColor, term string
		want          bool
	}{{"", "xterm", true}, {"1", "xterm", false}, {"", "dumb", false}, {"", "", false}} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		if got := HasColour(tty); got != c.want {
			t.Errorf("for NO_COLOR=%s TERM=%s: got %v; want %v", c.noColor, c.term, got, c.want)
		}
	}
	if HasColour(nil) {
		t.Error("got colours without a file; want none")
	}
}
