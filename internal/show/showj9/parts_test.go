package showj9_test

import (
	"math/rand/v2"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta/j9gen"
	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
)

// Maps of nothing, with which very old VMs filled ranges, are in no call and in no method: their zeros
// are not the first site.
func TestOpenJ9Gaps(t *testing.T) {
	t.Chdir(t.TempDir())
	gaps := 0
	for seed := range uint64(20) {
		b := j9gen.Random(rand.New(rand.NewPCG(seed, 5)), j9gen.Options{GapMaps: j9gen.Always, InternalPointers: j9gen.Never, Sites: 3})
		blob, err := j9gen.Encode(b)
		if err != nil {
			t.Fatal(err)
		}
		putCapture(t, "gaps", b, blob, nil, nil, nil)
		for _, o := range objects(t, showtest.Whole(t, "gaps.bin", show.Options{JSON: true})) {
			for _, row := range append(o.list("stack_maps"), o.list("ranges")...) {
				if row["kind"] != "gap" {
					continue
				}
				gaps++
				for _, field := range []string{"callerIndex", "byteCodeIndex", "stack", "vm_stack"} {
					if row[field] != nil {
						t.Errorf("seed %d: a gap has %s: %v", seed, field, row)
					}
				}
			}
		}
		anyName := show.Filter{Names: []show.Name{{Match: func([]byte) bool { return true }}}}
		for _, o := range objects(t, showtest.Shown(t, "gaps.bin", show.Options{JSON: true, Filter: anyName})) {
			for _, row := range append(o.list("stack_maps"), o.list("ranges")...) {
				if row["kind"] == "gap" {
					t.Errorf("seed %d: a gap has a name: %v", seed, row)
				}
			}
		}
	}
	if gaps == 0 {
		t.Error("no gap was shown")
	}
}
