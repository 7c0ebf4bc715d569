package summary

import (
	"testing"

	"github.com/jitinject/jitinject/internal/report"
)

// If most copies of stacks are full, they are too small: the summary names a larger size.
func TestSummary_StacksTooSmall(t *testing.T) {
	for _, c := range []struct {
		s    report.StackSummary
		want string
	}{
		{report.StackSummary{Samples: 1240, Full: 1173, Room: 8192}, "1,173 of its 1,240 samples have full copies of the stack (8,192 bytes): if perf report lacks outer callers, record with --call-graph dwarf,32768"},
		{report.StackSummary{Samples: 40, Full: 21, Room: 32768}, "21 of its 40 samples have full copies of the stack (32,768 bytes): if perf report lacks outer callers, record with --call-graph dwarf,65528"},
		{report.StackSummary{Samples: 40, Full: 40, Room: 65208}, "40 of its 40 samples have full copies of the stack (65,208 bytes): outer callers may be missing, and copies cannot be larger"},
		{report.StackSummary{Samples: 40, Full: 20, Room: 8192}, ""},
		{report.StackSummary{Samples: 40, Full: 40, Room: 8192, Own: true}, ""}, // Erlang
		{report.StackSummary{Samples: 10, Full: 10, Room: 8192}, ""},
		{report.StackSummary{}, ""},
	} {
		if got := stackText(&c.s); got != c.want {
			t.Errorf("for %+v: got %q, want %q", c.s, got, c.want)
		}
	}
	if got := stackText(nil); got != "" {
		t.Errorf("without copies: %q", got)
	}
}
