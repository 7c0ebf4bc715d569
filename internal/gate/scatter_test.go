package gate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// TestScatteredHeap_NoStackIsShorter compares recordings of code without frame pointers
// with the same recordings after Scatter. Unwind tables need addresses within 2 GiB of their
// code: where the heap is scattered, those between its parts.
func TestScatteredHeap_NoStackIsShorter(t *testing.T) {
	for _, name := range []string{"toyjit-dwarf", "llvm-orc"} {
		t.Run(name, func(t *testing.T) {
			plain, scattered := testrec.Place(t, name), testrec.Place(t, name)
			if err := testrec.Scatter(scattered, firstCode(t, scattered)); err != nil {
				t.Fatal(err)
			}
			for version, perf := range testrec.Perfs(t) {
				want, got := samplesOf(t, perf, plain), samplesOf(t, perf, scattered)
				t.Logf("%s: %v; scattered: %v", version, judge.CountOf(want), judge.CountOf(got))
				report(t, version+": a scattered heap beside none", judge.Real(judge.Compare(want, got)))
				if len(got) != len(want) {
					t.Errorf("%s: %d samples, want %d", version, len(got), len(want))
				}
			}
		})
	}
}

// samplesOf injects a recording and returns what a perf shows of it.
func samplesOf(t *testing.T, perf, dir string) []judge.Sample {
	t.Helper()
	out := filepath.Join(dir, "out.data")
	if _, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: filepath.Join(dir, "objects")}); err != nil {
		t.Fatal(err)
	}
	samples, err := judge.Script(t.Context(), perf, out)
	if err != nil {
		t.Fatal(err)
	}
	return samples
}

// firstCode returns the address of the first function of the dump in a directory.
func firstCode(t *testing.T, dir string) uint64 {
	t.Helper()
	f, err := os.Open(testrec.Dumps(t, dir)[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := jitdump.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if load, err := rec.Load(); err == nil {
			return load.CodeAddr
		}
	}
}
