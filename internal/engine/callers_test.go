package engine_test

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Functions that only call others are in no sample: the summary has the stacks that they are in.
func TestCallers_CountedInStacks(t *testing.T) {
	const base, file, kernel = 0x7f1200000000, 0x7f3300000000, 0xffffffff81000000
	w := newWorld(t)
	w.SampleType |= testrec.Callchain
	w.mark(100, 1000, "jit-100.dump")
	w.Mmap2(100, 1001, file, 0x1000, 0, "/usr/lib/libpython3.so")
	w.dump("jit-100.dump", x86(100), load(1500, 100, 0, base, "py::caller", code(64, 1)))
	sample := func(pid uint32, time, ip uint64, chain ...uint64) {
		misc := uint16(perfdata.MiscUser)
		if ip >= kernel {
			misc = 1
		}
		w.Touch(testrec.Touch{PID: pid, Time: time, IP: ip, Chain: chain, Misc: misc})
	}
	sample(100, 1400, file+8, perfdata.ContextUser, file+8, base+4)                         // before it was loaded
	sample(100, 2000, file+8, perfdata.ContextUser, file+8, base+4, base+8)                 // twice in one stack
	sample(100, 2001, file+8, perfdata.ContextUser, file+8, file+16)                        // not in it
	sample(100, 2002, kernel, perfdata.ContextKernel, base+4)                               // no stack of user space
	sample(100, 2003, kernel, perfdata.ContextKernel, kernel, perfdata.ContextUser, base+4) // a tracepoint
	sample(200, 2004, file+8, perfdata.ContextUser, base+4)                                 // another process
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	d := sum.Dumps[0]
	if want := (report.Callers{Stacks: 4, With: 2}); d.Callers == nil || *d.Callers != want || d.Samples.InJIT != 0 {
		t.Errorf("got %+v, %d samples in JIT memory; want %+v, none", d.Callers, d.Samples.InJIT, want)
	}
	passed := []report.HotFunction{{Name: "caller", Symbol: "py::caller", Tier: "interpreter", PID: 100, Command: "prog", Samples: 2, Share: 2. / 6}}
	if len(sum.Hottest.Functions) != 0 || !slices.Equal(sum.Hottest.Callers, passed) {
		t.Errorf("got %s; want no functions, callers %+v", asJSON(sum.Hottest), passed)
	}
}

// Copies of stacks are not unwound: those with an address in a function are counted. The number is that of
// the stacks in which perf finds such callers.
func TestCallers_WordsOfCopies(t *testing.T) {
	dir := testrec.Place(t, "python")
	sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data")})
	if err != nil {
		t.Fatal(err)
	}
	if want := (report.Callers{Copies: 34, Words: 30}); sum.Dumps[0].Callers == nil || *sum.Dumps[0].Callers != want {
		t.Errorf("got %+v; want %+v", sum.Dumps[0].Callers, want)
	}
}

// Code that has moved away is known: the summary does not say that the dump does not describe it.
func TestSampleCount_CodeThatMovedAway(t *testing.T) {
	const base = 0x7f1200000000
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.dump("jit-100.dump", x86(100), load(1500, 100, 0, base, "function", code(64, 1)), move(2000, 100, 0, base, base+0x1000, 64))
	w.expect(100, 1600, base+8, "function+0x8")
	w.expect(100, 2100, base+0x1008, "function+0x8")
	w.expect(100, 2101, base+8, "")
	w.expect(100, 2102, base+0x2000, "")
	sum := w.check()
	if s := sum.Dumps[0].Samples; s.Left != 1 || s.InJIT != 4 || s.Resolved != 2 || s.Early != 0 {
		t.Errorf("got %+v; want 4 samples, 2 in functions, 1 where one was", s)
	}
}
