package engine_test

import (
	"fmt"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// unwound is a world whose stacks perf unwinds, with three functions side by side. The
// place of the second one is used again at 3000 by a function that is sampled in
// process 100 only.
func unwound(t *testing.T) *world {
	w := newWorld(t)
	w.SampleType |= testrec.StackUser
	w.mark(100, 10, "jit-100.dump")
	return w
}

func trio() []timed {
	return []timed{
		load(1000, 100, 1, 0x10000, "left", code(64, 1)), load(1001, 100, 2, 0x10040, "middle", code(64, 2)),
		load(1002, 100, 3, 0x10080, "right", code(64, 3)), load(3000, 100, 4, 0x10060, "newcomer", code(64, 4)),
	}
}

// When another image comes into force, what is still there is mapped from it, parts
// of functions included, and not what the process has no more.
func TestRegionMap_ImageSwitch(t *testing.T) {
	w := unwound(t)
	w.dump("jit-100.dump", x86(100), trio()...)
	for _, s := range []want{{0, 2000, 0x10008, "left+0x8"}, {0, 2000, 0x10068, "middle+0x28"}, {0, 2000, 0x10088, "right+0x8"},
		{0, 4000, 0x10008, "left+0x8"}, {0, 4001, 0x10048, "middle+0x8"}, {0, 4002, 0x10068, "newcomer+0x8"}, {0, 4003, 0x10088, "newcomer+0x28"}, {0, 4004, 0x100a8, "right+0x28"}} {
		w.expect(100, s.time, s.ip, s.sym)
	}
	sum := w.check()
	if sum.Objects != 2 || sum.Tables != 2 {
		t.Errorf("%d objects, %d mappings of tables; want 2, 2", sum.Objects, sum.Tables)
	}
	// left is whole in the second image, middle and right are not in it.
	last := make(map[string]string) // the latest object of a function
	for _, at := range []uint64{0x10008, 0x10048, 0x10068, 0x100a8} {
		m := readMappings(t, w.opts.Output)
		for i := range m.all {
			if mm := &m.all[i]; at-mm.Addr < mm.Len && mm.PID == 100 {
				last[m.symbol(t, want{100, 9999, at, ""})] = string(mm.Filename)
			}
		}
	}
	if a, b := last["left+0x8"], last["newcomer+0x8"]; a != b || a == "" || last["middle+0x8"] == b || last["right+0x28"] == b {
		t.Errorf("objects of functions: %v; want one for left and newcomer, another one for the others", last)
	}
}

// A child has what its parent had when it was forked, in the image in force then; what
// it does not replace itself stays.
func TestRegionMap_ForkInherits(t *testing.T) {
	w := unwound(t)
	w.Fork(101, 100, 2000)
	w.dump("jit-100.dump", x86(100), append(trio(), load(5000, 101, 5, 0x10060, "child", code(32, 5)))...)
	for _, s := range []want{{101, 4000, 0x10068, "middle+0x28"}, {101, 4001, 0x10088, "right+0x8"}, {100, 4002, 0x10088, "newcomer+0x28"},
		{101, 6000, 0x10068, "child+0x8"}, {101, 6001, 0x10088, "right+0x8"}, {101, 6002, 0x10008, "left+0x8"}, {101, 6003, 0x10048, "middle+0x8"},
		{100, 6004, 0x10068, "newcomer+0x8"}} {
		w.expect(s.pid, s.time, s.ip, s.sym)
	}
	w.check()
}

// An exec takes the code away, for the process and for children that come later. A
// grandchild that loads code of the same dump sees that, and nothing else.
func TestRegionMap_ExecForgets(t *testing.T) {
	for _, asked := range []bool{true, false} { // the process has code again before its child is forked
		t.Run(fmt.Sprint(asked), func(t *testing.T) {
			w := unwound(t)
			w.Fork(101, 100, 2000)
			w.Comm(101, 2100, "other", true)
			w.Fork(102, 101, 2200)
			recs := append(trio(), load(5000, 102, 6, 0x10060, "grandchild", code(32, 5)))
			if asked {
				recs = append(recs, load(2150, 101, 7, 0x10090, "again", code(16, 7)))
				w.expect(101, 2160, 0x10098, "again+0x8")
				w.expect(102, 2300, 0x10098, "again+0x8")
			}
			w.dump("jit-100.dump", x86(100), recs...)
			for _, s := range []want{{101, 2050, 0x10048, "middle+0x8"}, {101, 2400, 0x10048, ""}, {101, 2401, 0x10008, ""},
				{102, 6000, 0x10068, "grandchild+0x8"}, {102, 6001, 0x10008, ""}, {102, 6002, 0x10048, ""}, {102, 6003, 0x10084, ""},
				{100, 6004, 0x10008, "left+0x8"}} {
				w.expect(s.pid, s.time, s.ip, s.sym)
			}
			sum, err := w.run()
			if err != nil || !sum.Complete() {
				t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
			}
			// perf keeps mappings beyond an exec until others come, so the model is asked alone.
			m := readMappings(t, w.opts.Output)
			m.forgets = true
			for _, s := range w.wants {
				if got := m.symbol(t, s); got != s.sym {
					t.Errorf("process %d, time %d: %#x is %q, want %q", s.pid, s.time, s.ip, got, s.sym)
				}
			}
		})
	}
}

// Code that moves away and back is mapped again, though another image came in between.
func TestRegionMap_MovesBack(t *testing.T) {
	w := unwound(t)
	w.dump("jit-100.dump", x86(100),
		load(1000, 100, 1, 0x10000, "wanderer", code(64, 1)), load(1001, 100, 2, 0x10040, "neighbour", code(64, 2)),
		move(2000, 100, 1, 0x10000, 0x90000, 64), load(3000, 100, 3, 0x10000, "guest", code(64, 3)), move(4000, 100, 1, 0x90000, 0x10000, 64))
	for _, s := range []want{{0, 1500, 0x10008, "wanderer+0x8"}, {0, 2500, 0x10008, ""}, {0, 2501, 0x90008, "wanderer+0x8"}, {0, 3500, 0x10008, "guest+0x8"},
		{0, 3501, 0x10048, "neighbour+0x8"}, {0, 4500, 0x10008, "wanderer+0x8"}, {0, 4501, 0x90008, ""}, {0, 4502, 0x10048, "neighbour+0x8"}} {
		w.expect(100, s.time, s.ip, s.sym)
	}
	w.check()
}

// Functions whose bytes are known and others are parts of one image, in objects of
// their own; their tables are apart even where there is no place but after the code.
func TestRegions_CodeOfSome(t *testing.T) {
	for _, full := range []bool{false, true} {
		t.Run(fmt.Sprint(full), func(t *testing.T) {
			w := unwound(t)
			if full {
				w.Mmap2(100, 11, 0x8000, 3<<30, 0, "/dev/shm/code-cache (deleted)")
			}
			w.dump("jit-100.dump", x86(100),
				load(1000, 100, 1, 0x10000, "known1", code(64, 1)), stubBlock(1001, 0x10040, 64), load(1002, 100, 3, 0x10080, "known2", code(64, 3)))
			for i := range uint64(8) {
				w.expect(100, 2000+3*i, 0x10000+8*i, fmt.Sprintf("known1+%#x", 8*i))
				w.expect(100, 2001+3*i, 0x10040+8*i, fmt.Sprintf("stub ReportStubBlock<StubPrecode>+%#x", 8*i))
				w.expect(100, 2002+3*i, 0x10080+8*i, fmt.Sprintf("known2+%#x", 8*i))
			}
			sum := w.check()
			if sum.Objects != 3 || sum.Mappings != 3 || sum.Dumps[0].WithoutCode != 1 {
				t.Errorf("%d objects, %d mappings, %d functions without code; want 3, 3, 1", sum.Objects, sum.Mappings, sum.Dumps[0].WithoutCode)
			}
		})
	}
}
