package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/formats"
)

// A process with a dump that is gone has the functions of its map. The dump stays a problem.
func TestPerfMap_InsteadOfAMissingDump(t *testing.T) {
	w := newMapWorld(t)
	w.mark(mapPID, 950, "jit-1.dump")
	w.mapped(mapPID, "7f1200000000 40 function")
	w.expect(mapPID, 2000, 0x7f1200000010, "function+0x10")
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "is gone") || len(sum.Dumps) != 1 || sum.Dumps[0].Kind != formats.PerfMap {
		t.Fatalf("got %s, %v; want the map, and a problem about the dump", asJSON(sum), err)
	}
	w.resolve(w.opts.Output)
}

// A dump without a function is no better than none: perf would have named the functions by the map. If the
// map names all samples, nothing is missing but what cannot be used.
func TestPerfMap_InsteadOfADamagedDump(t *testing.T) {
	header := dumpBytes(t, x86(mapPID))
	whole := dumpBytes(t, x86(mapPID), load(1500, mapPID, 1, 0x7f1200000000, "jitted", code(64, 1)))
	for _, c := range []struct {
		name     string
		dump     []byte
		problems int
	}{
		{"only a header", header, 0},
		{"cut in its first record", whole[:len(whole)-32], 0},
		{"cut in its header", header[:20], 1},
		{"something else", []byte("this is no jitdump, and is long enough to have a header of one"), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newMapWorld(t)
			w.mark(mapPID, 950, "jit-1.dump")
			put(t, w.path("jit-1.dump"), c.dump)
			w.mapped(mapPID, "7f1200000000 40 function")
			w.expect(mapPID, 2000, 0x7f1200000010, "function+0x10")
			sum, err := w.run()
			if err != nil || len(sum.Problems) != c.problems || len(sum.Dumps) != 2-c.problems {
				t.Fatalf("got %s, %v; want the map, and %d problems", asJSON(sum), err, c.problems)
			}
			w.resolve(w.opts.Output)
		})
	}
}

// A process that was forked from one with a missing dump may have a map of its own.
func TestPerfMap_ChildOfAProcessWithoutItsDump(t *testing.T) {
	for _, missing := range []bool{true, false} {
		w := newMapWorld(t)
		w.mark(mapPID, 950, "jit-1.dump")
		if !missing {
			w.dump("jit-1.dump", x86(mapPID), load(960, mapPID, 1, 0x7f1300000000, "jitted", code(64, 1)))
		}
		w.Mmap2(mapPID, 955, 0x7f1300000000, 0x10000, 0, "//anon")
		w.Fork(mapPID+1, mapPID, 1000)
		w.Mmap2(mapPID+1, 1100, 0x7f1200000000, 0x10000, 0, "//anon")
		w.mapFile(fmt.Sprintf("perf-%d.map", mapPID+1), "7f1200000000 40 function")
		want := ""
		if missing {
			want = "function+0x10"
		}
		w.expect(mapPID+1, 2000, 0x7f1200000010, want)
		sum, err := w.run()
		if err != nil || len(sum.Dumps) != 1 || sum.Complete() == missing {
			t.Fatalf("got %s, %v; want one dump, and a problem: %v", asJSON(sum), err, missing)
		}
		w.resolve(w.opts.Output)
	}
}
