package summary

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/report"
)

// What is said of traces, where there is nothing else.
func TestSummary_OnlyTraces(t *testing.T) {
	s := &report.Summary{Output: "out.data", Elapsed: 5e6, Traces: []report.TraceSummary{
		{PID: 7, Command: "prog", Path: "xray-log.prog", Event: "xray", Threads: 1, Calls: 8021, Traced: 6_600_000, Cut: 5500, TooDeep: 1, CutNotes: 2},
		{PID: 8, Command: "prog", Path: "xray-log.prog.2", Event: "xray", Threads: 2, Calls: 1000},
	}}
	var b strings.Builder
	writeTraces(&b, s)
	writeWhole(&b, s)
	for _, want := range []string{
		"7 prog: 8,021 calls in 1 thread, 6.6 ms of their own time (waiting included), in event xray, from xray-log.prog\n",
		"    5,500 callchains are longer than 127 calls: they have the 63 outermost and the innermost\n",
		"    2 notes are longer than fit, and lost their ends\n",
		"    1 time more than 65,536 calls of a thread were running, from deep recursion or exceptions in a loop: those in the middle of the stack ended then\n",
		"out.data: 9,021 calls\nread ",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}
