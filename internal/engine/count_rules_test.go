package engine_test

import (
	"testing"

	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// TestSampleCount_RulesOfPerf has the lives of processes in which it matters which mappings perf forgets.
func TestSampleCount_RulesOfPerf(t *testing.T) {
	const base = 0x7f1200000000
	for name, make := range map[string]func(w *world){
		"loaded before the exec": func(w *world) {
			w.Comm(100, 1000*ms, "prog", true)
			w.Marker(100, 1001*ms, w.path("jit-100.dump"))
			w.dump("jit-100.dump", x86(100), load(990*ms, 100, 0, base, "function", code(64, 1)))
			w.Mmap2(100, 1000*ms+1, base, 0x1000, 0, "//anon")
			w.Sample(100, 995*ms, base)
			w.Sample(100, 1010*ms, base)
		},
		"an exec after it": func(w *world) {
			w.mark(100, 1000*ms, "jit-100.dump")
			w.dump("jit-100.dump", x86(100), load(1001*ms, 100, 0, base, "function", code(64, 1)))
			w.Sample(100, 1010*ms, base)
			w.Comm(100, 1020*ms, "other", true)
			w.Sample(100, 1030*ms, base)
			w.Mmap2(100, 1040*ms, base, 0x1000, 0, "//anon")
			w.Sample(100, 1050*ms, base)
		},
		"loaded before the fork": func(w *world) {
			w.Comm(90, 900*ms, "shell", true)
			w.Fork(100, 90, 1000*ms)
			w.mark(100, 1001*ms, "jit-100.dump")
			w.dump("jit-100.dump", x86(100), load(990*ms, 100, 0, base, "function", code(64, 1)))
			w.Sample(100, 1010*ms, base)
		},
		"an inherited function after an exec": func(w *world) {
			w.mark(100, 1000*ms, "jit-100.dump")
			w.dump("jit-100.dump", x86(100), load(1001*ms, 100, 0, base, "function", code(64, 1)))
			w.Fork(101, 100, 1010*ms)
			w.Sample(101, 1011*ms, base)
			w.Comm(101, 1020*ms, "other", true)
			w.Sample(101, 1030*ms, base)
			w.Fork(102, 101, 1040*ms)
			w.Sample(102, 1050*ms, base)
		},
		"a pid that is used again": func(w *world) {
			w.mark(100, 1000*ms, "jit-100.dump")
			w.dump("jit-100.dump", x86(100), load(1001*ms, 100, 0, base, "function", code(64, 1)))
			w.Sample(100, 1010*ms, base)
			w.Exit(100, 100, 1015*ms)
			w.Fork(100, 90, 1020*ms)
			w.Sample(100, 1030*ms, base)
		},
		"a program after it, with anonymous memory": func(w *world) {
			w.mark(100, 1000*ms, "jit-100.dump")
			w.dump("jit-100.dump", x86(100), load(1001*ms, 100, 0, base, "function", code(64, 1)))
			w.Comm(100, 1020*ms, "other", true)
			w.Mmap2(100, 1030*ms, base, 0x1000, 0, "/usr/lib/libc.so.6")
			w.Sample(100, 1040*ms, base)
			w.Sample(100, 1040*ms, base+0x2000)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			make(w)
			w.Write(t, w.opts.Input)
			sum, err := engine.Run(t.Context(), w.opts)
			if err != nil {
				t.Fatal(err)
			}
			for version, perf := range testrec.Perfs(t) {
				shown := int64(0)
				for _, s := range shownByPerf(t, w.dir, perf, "out.data") {
					shown += s.Resolved
				}
				if sum.Samples.Resolved != shown {
					t.Errorf("got %d samples in functions in the summary; want %d, as perf %s shows", sum.Samples.Resolved, shown, version)
				}
			}
		})
	}
}
