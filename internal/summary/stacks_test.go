package summary

import (
	"testing"

	"github.com/jitinject/jitinject/internal/report"
)

// The summary names a larger size if most copies of stacks are full, and a smaller one that holds them all.
func TestSummary_SizeOfStacks(t *testing.T) {
	for _, c := range []struct {
		s    report.StackSummary
		want string
	}{
		{report.StackSummary{Samples: 1240, Full: 1173, Room: 8192, Used: 8192}, "1,173 of its 1,240 samples have full copies of the stack (8,192 bytes): if perf report lacks outer callers, record with --call-graph dwarf,32768"},
		{report.StackSummary{Samples: 40, Full: 21, Room: 32768, Used: 32768}, "21 of its 40 samples have full copies of the stack (32,768 bytes): if perf report lacks outer callers, record with --call-graph dwarf,65528"},
		{report.StackSummary{Samples: 40, Full: 40, Room: 65208, Used: 65208}, "40 of its 40 samples have full copies of the stack (65,208 bytes): outer callers may be missing, and copies cannot be larger"},
		{report.StackSummary{Samples: 40, Full: 20, Room: 8192, Used: 8192}, ""},
		{report.StackSummary{Samples: 40, Room: 16384, Used: 8192}, "its copies of stacks have at most 8,192 of 16,384 bytes: --call-graph dwarf,8192 makes a smaller recording"},
		{report.StackSummary{Samples: 40, Room: 65528, Used: 8200}, "its copies of stacks have at most 8,200 of 65,528 bytes: --call-graph dwarf,16384 makes a smaller recording"},
		{report.StackSummary{Samples: 40, Room: 16384, Used: 8200}, ""},
		{report.StackSummary{Samples: 40, Room: 8192, Used: 2000}, ""},
		{report.StackSummary{Samples: 40, Full: 40, Room: 8192, Used: 8192, Own: true}, ""}, // Erlang
		{report.StackSummary{Samples: 10, Full: 10, Room: 8192, Used: 8192}, ""},
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
