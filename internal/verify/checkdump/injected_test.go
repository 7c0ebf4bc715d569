package checkdump_test

import (
	"testing"

	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

// injectedDump returns a dump beside the recording that it was injected into.
func injectedDump(t *testing.T, dir string, addr uint64, code []byte) (string, verify.Options) {
	w := verifytest.NewWorld(t, dir, nil)
	w.MapObject(200)
	w.Sample(dumpPID, 6_000_000, a+8)
	opts := verify.Options{Recording: write(t, dir, "perf.data", w.Bytes())}
	d := newDump().loadIndex(0, addr, "f", code)
	return write(t, dir, "jit-4711.dump", d.b), opts
}

// TestInjectedDump: the code is as it should be, or not mapped at all.
func TestInjectedDump(t *testing.T) {
	for _, addr := range []uint64{a, a + 0x1000} {
		path, opts := injectedDump(t, t.TempDir(), addr, code())
		if rules, all := verified(t, path, opts); len(rules) > 0 {
			t.Errorf("%v: %+v", rules, all)
		}
	}
}

// unmapped is a dump beside a recording with a sample in its code, of which the mapping
// comes late, or elsewhere.
func unmapped(time, addr uint64) breach {
	return breach{Rule: "dump/not-mapped", Make: func(t *testing.T, dir string) (string, verify.Options) {
		w := verifytest.NewWorld(t, dir, nil)
		w.Comm(dumpPID, 1_000_000, "program", true)
		verifytest.MapObject(w.Recording, time, addr, 0x30, 0x80, w.Path, w.BuildID)
		w.Sample(dumpPID, 6_000_000, a+8)
		opts := verify.Options{Recording: write(t, dir, "perf.data", w.Bytes())}
		return write(t, dir, "jit-4711.dump", newDump().loadIndex(0, a, "f", code()).b), opts
	}}
}

var injectedBreaches = []breach{
	unmapped(7_000_000, a),
	unmapped(900_000, a), // before the program
	unmapped(5_000_100, a+0x100000),
	{Rule: "dump/injected-code", Make: func(t *testing.T, dir string) (string, verify.Options) {
		other := code()
		other[9]++
		return injectedDump(t, dir, a, other)
	}},
}
