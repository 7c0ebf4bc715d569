package inject_test

import (
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
)

// A process with a dump that is gone has the functions of its map. The dump stays a problem.
func TestPerfMap_InsteadOfAMissingDump(t *testing.T) {
	w := newMapWorld(t)
	w.mark(mapPID, 950, "jit-1.dump")
	w.mapped(mapPID, "7f1200000000 40 function")
	w.expect(mapPID, 2000, 0x7f1200000010, "function+0x10")
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "is gone") || len(sum.Dumps) != 1 || sum.Dumps[0].Kind != inject.KindPerfMap {
		t.Fatalf("got %s, %v; want the map, and a problem about the dump", asJSON(sum), err)
	}
	w.resolve(w.opts.Output)
}
