package engine_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Processes that write into one dump number their functions each for itself; a
// move is of its own process's function.
func TestMove_ProcessesShareDump(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.Fork(101, 100, 1500)
	w.expect(100, 5000, 0x10008, "")
	w.expect(100, 5000, 0x40008, "parent+0x8")
	w.expect(101, 5000, 0x20008, "child+0x8")
	w.expect(101, 5000, 0x40008, "")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 7, 0x10000, "parent", code(64, 1)),
		load(2001, 101, 7, 0x20000, "child", code(64, 2)),
		move(3000, 100, 7, 0x10000, 0x40000, 64))
	w.check()
}

// A child moves what it was born with: its own copy, and not its parent's.
func TestMove_ChildMovesInherited(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.Fork(101, 100, 2500)
	w.Fork(102, 101, 2600)
	for _, pid := range []uint32{100, 101, 102} {
		w.expect(pid, 2900, 0x10008, "inherited+0x8")
	}
	w.expect(100, 5000, 0x10008, "inherited+0x8")
	w.expect(102, 5000, 0x10008, "inherited+0x8")
	w.expect(101, 5000, 0x10008, "")
	w.expect(101, 5000, 0x40008, "inherited+0x8")
	w.expect(100, 5000, 0x40008, "")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 7, 0x10000, "inherited", code(64, 1)),
		move(3000, 101, 7, 0x10000, 0x40000, 64))
	w.check()
}

// Records of a dump may be a little out of order: threads write them.
func TestMove_RecordTooEarly(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 5500, 0x10008, "between+0x8")
	w.expect(100, 6500, 0x10008, "between+0x8")
	w.expect(100, 6500, 0x20008, "first+0x8")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "first", code(64, 1)),
		move(6000, 100, 1, 0x10000, 0x20000, 64),
		load(5000, 100, 2, 0x10000, "between", code(64, 2)))
	w.check()
}

// The forks of a family may stand in any order in a round. All of its members'
// anonymous memory is jitted code's.
func TestFork_RecordsInAnyOrder(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.Fork(102, 101, 2600)
	w.Fork(101, 100, 2500)
	w.Mmap2(102, 2700, 0x10000, 0x1000, 0, "//anon")
	w.expect(102, 3000, 0x10008, "inherited+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 7, 0x10000, "inherited", code(64, 1)))
	if sum := w.check(); sum.Dropped != 2 {
		t.Errorf("%d records left out", sum.Dropped)
	}
}

// What perf record says of processes that were there before it is who their
// parents are, and not that they still have their parents' memory: perf report
// may know names in such a process's anonymous memory by other means.
func TestFork_BeforeTheRecording(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.Fork(101, 100, 0)
	w.Mmap2(101, 2700, 0x10000, 0x1000, 0, "//anon")
	w.expect(101, 3000, 0x10008, "")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 7, 0x10000, "parents", code(64, 1)))
	if sum := w.check(); sum.Dropped != 1 {
		t.Errorf("%d records left out", sum.Dropped)
	}
}

// A process that has another's number now has nothing to do with it.
func TestProcesses_NumberUsedAgain(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.Comm(7, 900, "shell", true)
	w.Fork(100, 7, 4000)
	w.Mmap2(100, 4100, 0x10000, 0x1000, 0, "//anon")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 7, 0x10000, "alpha", code(64, 1)))
	if sum := w.check(); sum.Dropped != 1 {
		t.Errorf("%d records left out", sum.Dropped)
	}
}

// A dump must not name code in a process that it has nothing to do with.
func TestProcesses_UnrelatedToDump(t *testing.T) {
	w := newWorld(t)
	w.Comm(200, 900, "victim", true)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x10008, "own+0x8")
	w.expect(200, 3000, 0x20008, "")
	w.expect(100, 3000, 0x20008, "")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "own", code(64, 1)),
		load(2000, 200, 2, 0x20000, "fake", code(64, 2)))
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	w.resolve(w.opts.Output)
	if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "1 functions are of a process 200, which neither mapped the dump nor was forked from process 100") {
		t.Errorf("problems %v", sum.Problems)
	}
}

// In a pid namespace a child's number says little. If there is only one that it
// can be, its functions go there, and otherwise nowhere: least of all to the parent.
func TestNamespace_ChildToldByElimination(t *testing.T) {
	for children := range uint32(3) {
		w := newWorld(t)
		w.mark(5000, 1000, "jit-1.dump")
		for i := range children {
			w.Fork(5001+i, 5000, 1500)
		}
		w.expect(5000, 3000, 0x20008, "parents+0x8")
		if children == 1 {
			w.expect(5001, 3000, 0x20008, "childs+0x8")
		}
		w.dump("jit-1.dump", x86(1),
			load(2000, 1, 1, 0x20000, "parents", code(64, 1)),
			load(2001, 7, 1, 0x20000, "childs", code(64, 2)))
		sum, err := w.run()
		if err != nil {
			t.Fatal(err)
		}
		w.resolve(w.opts.Output)
		if got := len(sum.Problems); got == 0 != (children == 1) {
			t.Errorf("%d children: problems %v", children, sum.Problems)
		}
	}
}

// perf report takes objects of one name for one object, in whatever directories.
func TestObjects_UniqueNames(t *testing.T) {
	w := newWorld(t)
	for _, dir := range []string{"one", "two"} {
		if err := os.Mkdir(w.path(dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	w.mark(5000, 1000, "one/jit-1.dump")
	w.mark(6000, 1000, "two/jit-1.dump")
	w.expect(5000, 3000, 0x10008, "alpha+0x8")
	w.expect(6000, 3000, 0x10008, "beta+0x8")
	w.dump("one/jit-1.dump", x86(1), load(2000, 1, 1, 0x10000, "alpha", code(64, 1)))
	w.dump("two/jit-1.dump", x86(1), load(2000, 1, 1, 0x10000, "beta", code(64, 1)))
	w.check()
	for version, perf := range testrec.Perfs(t) {
		out := testrec.Run(t, w.dir, perf, "report", "-i", w.opts.Output, "--stdio", "-s", "pid,sym", "-F", "sample,pid,sym")
		for _, name := range []string{"alpha", "beta"} {
			if strings.Count(out, name) != 1 {
				t.Errorf("perf %s report names %s %d times:\n%s", version, name, strings.Count(out, name), out)
			}
		}
	}
}

// A file that was written by another run of the program is not what it was.
func TestLocate_DumpOfAnotherRun(t *testing.T) {
	for name, write := range map[string]func(w *world){
		"says that it is of process 777": func(w *world) {
			w.dump("jit-100.dump", x86(777), load(2000, 777, 1, 0x10000, "alien", code(64, 1)))
		},
		"all its records are older than its mapping in process 100": func(w *world) {
			w.dump("jit-100.dump", x86(100), load(500, 100, 1, 0x70000, "stale", code(64, 1)))
		},
	} {
		w := newWorld(t)
		w.mark(100, 1000, "jit-100.dump")
		w.expect(100, 3000, 0x10008, "")
		write(w)
		w.Write(t, w.opts.Input)
		w.fails("jit-100.dump", name)
	}
}

// One file in the places of two: nobody knows whose it is.
func TestLocate_OneFileForTwoMarkers(t *testing.T) {
	w := newWorld(t)
	w.mark(5000, 1000, "one/jit-1.dump")
	w.mark(6000, 1000, "two/jit-1.dump")
	w.expect(5000, 3000, 0x10008, "")
	w.dump("jit-1.dump", x86(1), load(2000, 1, 1, 0x10000, "alpha", code(64, 1)))
	w.Write(t, w.opts.Input)
	w.fails("one/jit-1.dump", "two/jit-1.dump", "process 5000", "process 6000", "belongs to only one of them")
}

// A shell that forks a hundred thousand times costs no more than reading that.
func TestFork_HundredThousand(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	for i := range uint32(50000) {
		w.Fork(1000+i%30000, 999+i%30000, 1100+uint64(i))
		w.Comm(1000+i%30000, 1100+uint64(i), "x", true)
	}
	w.expect(100, 100000, 0x10008, "f0+0x8")
	var loads []timed
	for i := range uint64(200) {
		loads = append(loads, load(2000+i, 100, i, 0x10000+64*i, fmt.Sprint("f", i), code(64, byte(i))))
		loads = append(loads, load(2000+i, 25000, i, 0x10000+64*i, "alien", code(64, byte(i))))
	}
	w.dump("jit-100.dump", x86(100), loads...)
	if _, err := w.run(); err != nil { // what this guards against took minutes
		t.Fatal(err)
	}
	w.resolve(w.opts.Output)
}

// The markers of a family may come in any order.
func TestFork_ChildsMarkerFirst(t *testing.T) {
	w := newWorld(t)
	w.mark(101, 1000, "jit-100.dump")
	w.mark(100, 1001, "jit-100.dump")
	w.expect(100, 3000, 0x10008, "own+0x8")
	w.expect(100, 3000, 0x20008, "")
	w.expect(101, 3000, 0x20008, "childs+0x8")
	w.dump("jit-100.dump", x86(100),
		load(2000, 0, 1, 0x10000, "own", code(64, 1)), // without a pid: of the process whose dump it is
		load(2000, 101, 2, 0x20000, "childs", code(64, 2)))
	if sum := w.check(); sum.Dumps[0].PID != 100 {
		t.Errorf("taken for the dump of process %d", sum.Dumps[0].PID)
	}
}
