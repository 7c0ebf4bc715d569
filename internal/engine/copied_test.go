package engine_test

import (
	"fmt"
	"os"
	"testing"
)

// A child copies its parent's dump, with the header, and goes on in the copy: the copy is the child's.
func TestLocate_DumpCopiedByChild(t *testing.T) {
	w := newWorld(t)
	w.mark(5000, 1000, "jit-5000.dump")
	w.Mmap2(5000, 1001, 0x10000000, 0x10000, 0, "//anon")
	w.Fork(6000, 5000, 2000)
	w.Marker(6000, 2100, w.path("jit-6000.dump"))
	alpha := load(1100, 5000, 1, 0x10000000, "alpha", code(64, 1))
	w.dump("jit-5000.dump", x86(5000), alpha, load(2300, 5000, 2, 0x10001000, "parents", code(64, 2)))
	w.dump("jit-6000.dump", x86(5000), alpha, load(2300, 6000, 2, 0x10001000, "childs", code(64, 3)))
	w.expect(5000, 3000, 0x10000008, "alpha+0x8")
	w.expect(6000, 3001, 0x10000008, "alpha+0x8")
	w.expect(5000, 3002, 0x10001008, "parents+0x8")
	w.expect(6000, 3003, 0x10001008, "childs+0x8")
	w.check()
}

// A file that is mapped as a dump is one if it begins as one, whatever its name is.
func TestLocate_DumpOfAnyName(t *testing.T) {
	w := newWorld(t)
	w.Comm(5000, 999, "prog", true)
	w.FileMmap2(5000, 1000, 0x7f0000000000, 0x1000, 0, w.path("code.bin"), 7)
	w.FileMmap2(5000, 1000, 0x7f0000001000, 0x1000, 0, w.path("lib.so"), 8)
	w.Mmap2(5000, 1001, 0x10000000, 0x10000, 0, "//anon")
	w.dump("code.bin", x86(5000), load(2000, 5000, 1, 0x10000000, "alpha", code(64, 1)))
	if err := os.WriteFile(w.path("lib.so"), []byte("no dump"), 0o644); err != nil {
		t.Fatal(err)
	}
	w.expect(5000, 3000, 0x10000008, "alpha+0x8")
	if sum := w.check(); sum.Markers != 1 {
		t.Errorf("got %d markers; want 1", sum.Markers)
	}
}

// A map completes a dump where the dump was cut, or where samples are in what it leaves out.
func TestPerfMap_CompletesADump(t *testing.T) {
	for _, sampled := range []bool{false, true} {
		w := newMapWorld(t)
		w.mark(mapPID, 950, "jit-1.dump")
		w.Mmap2(mapPID, 1000, 0x7f1200000000, 0x10000, 0, "//anon")
		w.mapFile(fmt.Sprintf("perf-%d.map", mapPID), "7f1200000000 80 right", "7f1200000020 100 left")
		w.dump("jit-1.dump", x86(mapPID), load(1500, mapPID, 1, 0x7f1200000000, "right", code(64, 1)))
		w.expect(mapPID, 2000, 0x7f1200000030, "right+0x30")
		want := 1
		if sampled {
			want = 2
			w.expect(mapPID, 2001, 0x7f1200000050, "left+0x10")
		}
		if sum := w.check(); len(sum.Dumps) != want {
			t.Errorf("sampled %v: got %d dumps; want %d", sampled, len(sum.Dumps), want)
		}
	}
}
