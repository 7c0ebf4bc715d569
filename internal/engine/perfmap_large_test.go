package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/report"
)

// Of a map with very many functions, only those that samples refer to get objects.
func TestPerfMap_ManyFunctions(t *testing.T) {
	w := newMapWorld(t)
	lines := make([]string, 1<<16-1)
	for i := range lines {
		lines[i] = fmt.Sprintf("%x 1 f%d_", 0x7f1200000000+i, i)
	}
	lines = append(lines, "7f120001ffff 1 last_", "559900000000 40 bytecode")
	w.mapped(mapPID, lines...)
	w.Mmap2(mapPID, 1001, 0x7f1200010000, 0x10000, 0, "//anon")
	w.expect(mapPID, 2000, 0x7f1200000010, "f16_+0x0")
	w.opts.Bundle = true // all of them, in a few objects
	run := func() *report.Summary {
		sum, err := w.run()
		if err != nil {
			t.Fatal(err)
		}
		w.resolve(w.opts.Output)
		return sum
	}
	if sum := run(); sum.Objects > 300 || sum.Dumps[0].Unreferenced != 0 || len(sum.Notes) != 0 {
		t.Errorf("got %d objects, %d left out, notes %q; want few, none and none", sum.Objects, sum.Dumps[0].Unreferenced, sum.Notes)
	}
	w.opts.Bundle = false
	w.mapFile(fmt.Sprintf("perf-%d.map", mapPID), append(lines, "7f1200010000 1 more_")...)
	w.expect(mapPID, 2001, 0x7f120001ffff, "last_+0x0")
	sum := run()
	if d := sum.Dumps[0]; sum.Objects != 3 || d.Unreferenced != 1<<16-2 || d.Functions != 1<<16+1 {
		t.Errorf("got %d objects, %d of %d functions left out; want 3, with that before a sampled address, and all others", sum.Objects, d.Unreferenced, d.Functions)
	}
	if len(sum.Notes) != 1 || !strings.Contains(sum.Notes[0], "it has 65537 functions; those that no sample refers to get no object") {
		t.Errorf("got notes %q; want one about %d functions", sum.Notes, 1<<16+1)
	}
}
