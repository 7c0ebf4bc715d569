package engine_test

import (
	"fmt"
	"os"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// What is beside jitted code: it is seen as it would be without bundles. (check tries all
// layouts.)

// withAndWithoutStacks runs a test with and without copies of stacks, which bundles depend on.
func withAndWithoutStacks(t *testing.T, test func(w *world)) {
	for _, stacks := range []bool{false, true} {
		t.Run(fmt.Sprint(stacks), func(t *testing.T) {
			w := newWorld(t)
			if stacks {
				w.SampleType |= testrec.StackUser
			}
			test(w)
		})
	}
}

// A child with a dump of its own keeps what it has from its parent, between its own.
func TestBundle_InheritedBesideOwn(t *testing.T) {
	withAndWithoutStacks(t, func(w *world) {
		w.mark(100, 1000, "jit-100.dump")
		w.dump("jit-100.dump", x86(100),
			load(2000, 100, 1, 0x10000, "parent1", code(64, 1)), load(2001, 100, 2, 0x11000, "parent2", code(64, 2)), load(2001, 100, 3, 0x12000, "parent3", code(64, 2)))
		w.Fork(101, 100, 3000)
		w.Marker(101, 3100, w.path("jit-101.dump"))
		w.dump("jit-101.dump", x86(101),
			load(4000, 101, 1, 0x10800, "child1", code(64, 3)), load(4001, 101, 2, 0x11800, "child2", code(64, 4)))
		for _, time := range []uint64{3500, 5000} {
			for i := range uint64(3) {
				w.expect(101, time, 0x10004+i*0x1000, fmt.Sprintf("parent%d+0x4", i+1))
			}
		}
		w.expect(101, 5000, 0x10804, "child1+0x4")
		w.expect(101, 5000, 0x11804, "child2+0x4")
		w.check()
	})
}

// A file that is mapped over a bundle later, and code that is loaded there even later.
func TestBundle_FileMappedBetweenLoads(t *testing.T) {
	for _, name := range []string{"/dev/shm/code-cache (deleted)", "/dev/shm/code-cache"} {
		withAndWithoutStacks(t, func(w *world) {
			w.mark(100, 1000, "jit-100.dump")
			w.Mmap2(100, 1001, 0x10000, 0x1000, 0, name)
			w.dump("jit-100.dump", x86(100),
				load(2000, 100, 1, 0x10f80, "first", code(64, 1)), load(4000, 100, 2, 0x11000, "second", code(64, 2)), load(4001, 100, 3, 0x11040, "third", code(64, 2)))
			w.Mmap2(100, 3000, 0x11000, 0x1000, 0x1000, name)
			w.expect(100, 2500, 0x10f84, "first+0x4")
			w.expect(100, 5000, 0x10f84, "first+0x4")
			w.expect(100, 5001, 0x11004, "second+0x4")
			w.expect(100, 5002, 0x11044, "third+0x4")
			w.check()
		})
	}
}

// Functions of two dumps between each other, and over each other.
func TestBundle_InterleavedDumps(t *testing.T) {
	withAndWithoutStacks(t, func(w *world) {
		w.mark(100, 1000, "jit-100.dump")
		w.Mmap2(100, 1002, 0x7f0000010000, 0x1000, 0, w.path("jit-101.dump"))
		w.dump("jit-100.dump", x86(100),
			load(3000, 100, 1, 0x10000, "left1", code(64, 1)), load(3001, 100, 2, 0x10080, "left2", code(64, 2)), load(3002, 100, 3, 0x10100, "left3", code(64, 1)))
		w.dump("jit-101.dump", x86(100),
			load(2000, 100, 1, 0x10040, "right1", code(64, 3)), load(2001, 100, 2, 0x100c0, "right2", code(64, 4)), load(3500, 100, 3, 0x10120, "right3", code(64, 4)))
		w.expect(100, 2500, 0x10044, "right1+0x4")
		w.expect(100, 3400, 0x10124, "left3+0x24")
		for ip, sym := range map[uint64]string{0x10004: "left1+0x4", 0x10044: "right1+0x4", 0x10084: "left2+0x4", 0x100c4: "right2+0x4", 0x10104: "left3+0x4", 0x10124: "right3+0x4"} {
			w.expect(100, 4000+ip, ip, sym)
		}
		w.check()
	})
}

// Where nobody knows what is touched, no function is to be seen before its time.
func TestBundle_ReferencesUnknown(t *testing.T) {
	for what, spoil := range map[string]func(w *world){
		"trace": func(w *world) {
			w.Raw(70, 0, append([]byte{1}, make([]byte, 15+8*20)...)) // AUXTRACE_INFO
			w.Raw(71, 0, make([]byte, 40))
		},
		"field": func(w *world) { w.SampleType |= 1 << 25 },
	} {
		w := newWorld(t)
		w.newer = true
		spoil(w)
		w.mark(100, 1000, "jit-100.dump")
		w.dump("jit-100.dump", x86(100),
			load(2000, 100, 1, 0x10000, "first", code(64, 1)), load(4000, 100, 2, 0x10040, "later", code(64, 2)))
		w.expect(100, 2500, 0x10004, "first+0x4")
		w.expect(100, 2600, 0x10044, "")
		w.expect(100, 5000, 0x10044, "later+0x4")
		w.opts.Bundle = true
		sum, err := w.run()
		if err != nil || len(sum.Notes) != 1 || sum.Objects != 1 || sum.Mappings != 2 {
			t.Errorf("%s: got %s, %v; want no error, 1 note, Objects = 1, Mappings = 2", what, asJSON(sum), err)
		}
		w.resolve(w.opts.Output)
	}
}

// What a process had before an exec does not come back with the next dump.
func TestBundle_AfterExec(t *testing.T) {
	withAndWithoutStacks(t, func(w *world) {
		w.mark(100, 1000, "jit-100.dump")
		w.dump("jit-100.dump", x86(100),
			load(2000, 100, 1, 0x10100, "old1", code(64, 1)), load(2100, 100, 2, 0x10100, "old2", code(64, 2)), load(2101, 100, 3, 0x10200, "old3", code(64, 2)))
		w.expect(100, 2500, 0x10104, "old2+0x4")
		w.Comm(100, 3000, "second", true)
		if err := os.Mkdir(w.path("b"), 0o755); err != nil {
			w.t.Fatal(err)
		}
		w.Mmap2(100, 3001, 0x7f0000010000, 0x1000, 0, w.path("b/jit-100.dump"))
		w.dump("b/jit-100.dump", x86(100),
			load(4000, 100, 1, 0x10000, "new1", code(64, 1)), load(4100, 100, 2, 0x10180, "new2", code(64, 2)), load(4600, 100, 3, 0x10208, "new3", code(64, 2)))
		w.expect(100, 4500, 0x10004, "new1+0x4")
		w.expect(100, 4502, 0x10184, "new2+0x4")
		w.expect(100, 4704, 0x1020c, "new3+0x4")
		w.check()
	})
}

// A child that runs a program of its own has no memory of its parent's functions: they
// tear no holes into its bundles.
func TestBundle_SpawnedProgram(t *testing.T) {
	withAndWithoutStacks(t, func(w *world) {
		for i, pid := range []uint32{100, 101} {
			if i > 0 {
				w.Fork(pid, 100, 1500)
			}
			began := uint64(1000 + 1000*i)
			name := fmt.Sprintf("jit-%d.dump", pid)
			w.mark(pid, began, name)
			var recs []timed
			for f := range uint64(20) {
				addr := 0x10000 + 64*f
				recs = append(recs, load(began+100+f, pid, f, addr, fmt.Sprintf("own%d_%d", i, f), code(64, byte(f))))
				w.expect(pid, 9000+f, addr+4, fmt.Sprintf("own%d_%d+0x4", i, f))
			}
			w.dump(name, x86(pid), recs...)
		}
		w.check()
		w.opts.Bundle = true
		if sum, err := w.run(); err != nil || sum.Objects != 2 {
			t.Errorf("got %s, %v; want no error, Objects = 2", asJSON(sum), err)
		}
	})
}
