package record

import (
	"slices"
	"strings"
	"testing"
)

// Options that were typed are not added, and come last.
func TestPerfOptions_OnlyWhatIsMissing(t *testing.T) {
	s := &Syntax{names: map[string]bool{"k": true, "clockid": true, "g": false, "call-graph": true, "F": true, "freq": true, "e": true, "a": false}}
	for typed, want := range map[string]string{
		"":                        "-q -k mono -g",
		"-F 99":                   "-q -k mono -g -F 99",
		"-k CLOCK_MONOTONIC_RAW":  "-q -g -k CLOCK_MONOTONIC_RAW",
		"--clockid=boottime -e x": "-q -g --clockid=boottime -e x",
		"--call-graph dwarf -a":   "-q -k mono --call-graph dwarf -a",
		"--call dwarf":            "-q -k mono --call dwarf",
		"-ag":                     "-q -k mono -ag",
		"-gF99 -k mono":           "-q -gF99 -k mono",
	} {
		options, _, err := s.Split(strings.Fields(typed))
		if err != nil {
			t.Fatal(err)
		}
		if got := PerfOptions(options, []string{"true"}, true); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%q: got %q; want %q", typed, got, want)
		}
	}
	if got := PerfOptions(nil, nil, false); !slices.Equal(got, []string{"-k", "mono", "-g"}) {
		t.Errorf("got %q for a process that runs already", got)
	}
}
