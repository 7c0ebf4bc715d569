package engine_test

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A map has no code, and a recording with copies of stacks needs it: the summary names both sources
// of code, and no log.
func TestPerfMap_NoCodeForStacks(t *testing.T) {
	w := newMapWorld(t)
	w.SampleType |= testrec.StackUser
	w.mapped(mapPID, "7f1200000000 40 function")
	w.expect(mapPID, 2000, 0x7f1200000010, "function+0x10")
	frames := w.check().Dumps[0].Frames
	for _, want := range []string{"it has no code to derive unwind tables from: perf finds callers where its functions keep frame pointers; if stacks end in them, name a core dump with `Options.CodeFrom`", "`Options.Live = PID`"} {
		if !strings.Contains(frames, want) {
			t.Errorf("got %q; want %q", frames, want)
		}
	}
}
