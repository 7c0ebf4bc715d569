package engine_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Other layouts of the plan: bundles, and only what is sampled. What a sample resolves
// to must not depend on them.

// A layout is a choice of options for them.
type layout struct {
	name            string
	bundle, sampled bool
}

var layouts = []layout{{"bundle", true, false}, {"sampled", false, true}, {"both", true, true}}

// TestLayouts_RandomProcesses makes processes that load, move and fork at random in little memory, so
// that addresses are used again and again. Where perf unwinds, neighbours share objects;
// names are those of the same processes without copies of stacks, where each function has
// an object of its own.
func TestLayouts_RandomProcesses(t *testing.T) {
	seeds := make([]uint64, 60)
	switch {
	case os.Getenv("JITINJECT_ALL") != "":
		seeds = make([]uint64, 150)
	case testing.Short():
		seeds = seeds[:20]
	}
	for i := range seeds {
		seeds[i] = uint64(i)
	}
	unplaced := 0
	for _, seed := range append(seeds, 267) { // in which bundles of two dumps overlap
		w := randomWorld(t, seed, seed%2 == 1)
		base, err := w.run()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range base.Dumps {
			if u := d.Unwind; u.Derived+u.Unplaced > d.Functions {
				t.Errorf("seed %d: %d functions have unwind tables, want %d at most: %+v", seed, u.Derived+u.Unplaced, d.Functions, u)
			} else if seed%10 == 1 || seed%10 == 5 {
				unplaced += u.Unplaced
			}
		}
		want := readMappings(t, w.opts.Output)
		if seed%2 == 1 {
			alone := randomWorld(t, seed, false)
			if _, err := alone.run(); err != nil {
				t.Fatal(err)
			}
			simple := readMappings(t, alone.opts.Output)
			if sameNames(t, fmt.Sprintf("seed %d, default", seed), w.wants, simple, want); t.Failed() {
				return
			}
			want = simple
		}
		named := int64(0)
		for _, s := range w.wants {
			if want.symbol(t, s) != "" {
				named++
			}
		}
		if s := base.Samples; s.Total != int64(len(w.wants)) || s.Resolved != named || s.InJIT < named {
			t.Errorf("seed %d: %d of %d samples are in functions; the summary says %+v", seed, named, len(w.wants), s)
		}
		for _, l := range layouts {
			opts := w.opts
			opts.Bundle, opts.Sampled, opts.Output, opts.Objects = l.bundle, l.sampled, w.path(l.name+".data"), w.path(l.name)
			sum, err := engine.Run(context.Background(), opts)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, l.name, err)
			}
			if seed%2 == 0 && l.bundle && !l.sampled && len(sum.Dumps) == 1 && 4*(sum.Objects+sum.Mappings) > 5*(base.Objects+base.Mappings) {
				t.Errorf("seed %d, %s: %d objects and %d mappings, and %d and %d without", seed, l.name, sum.Objects, sum.Mappings, base.Objects, base.Mappings)
			}
			if *sum.Samples != *base.Samples {
				t.Errorf("seed %d, %s: the summary says %+v of the samples, and %+v without", seed, l.name, sum.Samples, base.Samples)
			}
			if sameNames(t, fmt.Sprintf("seed %d, %s", seed, l.name), w.wants, want, readMappings(t, opts.Output)); t.Failed() {
				return
			}
			if seed%50 < 2 {
				sameScripts(t, w.dir, w.opts.Output, opts.Output)
			}
		}
	}
	if unplaced == 0 {
		t.Error("no function lacks a place for its unwind tables")
	}
}

// sameNames compares what samples resolve to in two results.
func sameNames(t *testing.T, what string, samples []want, want, got *mappings) {
	t.Helper()
	for _, s := range samples {
		if a, b := want.symbol(t, s), got.symbol(t, s); a != b {
			t.Errorf("%s: at %d, process %d, %#x is %q, and %q without", what, s.time, s.pid, s.ip, b, a)
		}
	}
}

// randomWorld is a family of processes with a dump or two, and samples everywhere. What
// happens in it does not depend on stacks.
func randomWorld(t *testing.T, seed uint64, stacks bool) *world {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(seed, 2))
	if stacks { // perf will unwind
		w.SampleType = testrec.IP | testrec.TID | testrec.Time | testrec.Period | testrec.StackUser
	}
	w.mark(100, 1000, "jit-100.dump")
	memory := uint64(0x800 << r.IntN(5))
	if seed%3 == 0 {
		w.Mmap2(100, 1001, 0x10000+memory/2, 0x100, 0, "/dev/shm/wall")
	}
	switch seed % 5 {
	case 0, 1: // there is no place for unwind tables, but directly after code
		w.Mmap2(100, 1001, 0x8000, 3<<30, 0, "/dev/shm/code-cache (deleted)")
	case 2: // nor is there, but in memory that is the runtime's
		w.Mmap2(100, 1001, 0x8000, 3<<30, 0, "//anon")
	}
	two := seed%7 < 2
	if two {
		w.Mmap2(100, 1002, 0x7f0000010000, 0x1000, 0, w.path("jit-101.dump"))
	}
	bytesOf := func(size int, index uint64) []byte {
		if seed%4 == 1 && r.IntN(4) == 0 {
			return nil // unknown
		}
		return code(size, byte(index))
	}
	loadOf := func(time uint64, pid uint32, index uint64, f memoryRange) timed {
		rec := load(time, pid, index, f.addr, fmt.Sprintf("func%d", index), bytesOf(int(f.size), index))
		rec.rec.(*jitdump.Load).CodeSize = f.size
		return rec
	}
	pids := []uint32{100}
	loaded := make(map[uint32]map[uint64]memoryRange) // by process, then index
	loaded[100] = make(map[uint64]memoryRange)
	execed := make(map[uint32]bool) // it, or an ancestor, is another program now and does not write the dump
	var recs []timed
	time, index := uint64(2000), uint64(0)
	sample := func() {
		// perf keeps functions at an exec, although the new program does not have them.
		if pid, ip := pids[r.IntN(len(pids))], 0x10000+r.Uint64N(memory+0x200); !execed[pid] {
			w.expect(pid, time, ip, "")
		}
	}
	for range 150 {
		time += 10 + r.Uint64N(50)
		pid := pids[r.IntN(len(pids))]
		switch n := r.IntN(20); {
		case n == 0 && len(pids) < 4:
			child := pids[len(pids)-1] + 1
			w.Fork(child, pid, time)
			execed[child] = execed[pid]
			pids = append(pids, child)
			loaded[child] = make(map[uint64]memoryRange)
			for i, f := range loaded[pid] {
				loaded[child][i] = f
			}
		case n == 1 && len(loaded[pid]) > 0:
			for i := uint64(0); i <= index; i++ { // the first in order, for the seed's sake
				f, ok := loaded[pid][i]
				if !ok || r.IntN(3) != 0 {
					continue
				}
				to := 0x10000 + 8*r.Uint64N(memory/8)
				recs = append(recs, move(time, pid, i, f.addr, to, int(f.size)))
				loaded[pid][i] = memoryRange{to, f.size}
				break
			}
		case n == 2 && pid != 100 && !execed[pid]: // becomes another program
			execed[pid] = true
			w.Comm(pid, time, "prog", true)
			loaded[pid] = make(map[uint64]memoryRange)
		case n < 10 && !execed[pid]:
			index++
			f := memoryRange{0x10000 + 8*r.Uint64N(memory/8), 8 * (1 + r.Uint64N(20))}
			if r.IntN(2) == 0 { // side by side, as most are
				f.addr = 0x10000 + index*96%memory
			}
			recs = append(recs, loadOf(time, pid, index, f))
			loaded[pid][index] = f
		default:
			sample()
		}
		time++
		sample()
	}
	if two {
		others := slices.DeleteFunc(slices.Clone(recs), func(r timed) bool { return indexOf(r)%2 == 0 })
		recs = slices.DeleteFunc(recs, func(r timed) bool { return indexOf(r)%2 == 1 })
		w.dump("jit-101.dump", x86(100), others...)
	}
	w.dump("jit-100.dump", x86(100), recs...)
	return w
}

// A memoryRange is where a function is.
type memoryRange struct{ addr, size uint64 }

// indexOf returns the index of the function that a record is about.
func indexOf(r timed) uint64 {
	if m, ok := r.rec.(*jitdump.Move); ok {
		return m.CodeIndex
	}
	return r.rec.(*jitdump.Load).CodeIndex
}

// sameScripts compares what every perf prints of two results.
func sameScripts(t *testing.T, dir, a, b string) {
	t.Helper()
	for version, perf := range testrec.Perfs(t) {
		script := func(file string) []string {
			return strings.Split(testrec.Run(t, dir, perf, "script", "--no-inline", "-F", "comm,tid,time,event,sym,symoff", "-i", file), "\n")
		}
		x, y := script(a), script(b)
		if len(x) != len(y) {
			t.Errorf("perf %s: %d lines of %s, %d of %s", version, len(x), a, len(y), b)
			continue
		}
		for i := range x {
			if x[i] != y[i] {
				t.Errorf("perf %s:\n%s\n%s", version, x[i], y[i])
				return
			}
		}
	}
}

// Bundles are the same whoever makes them, and a second run leaves them alone.
func TestBundle_AnyNumberOfWorkers(t *testing.T) {
	dir := testrec.Place(t, "erlang")
	read := func(objects string) (all []byte) {
		names, err := filepath.Glob(filepath.Join(objects, "*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(append(all, filepath.Base(name)...), b...)
		}
		return all
	}
	var first []byte
	for _, jobs := range []int{1, 2, 7} {
		opts := config.Options{
			Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"),
			Objects: filepath.Join(dir, fmt.Sprint("objects", jobs)), Bundle: true, Jobs: jobs,
		}
		sum, err := engine.Run(t.Context(), opts)
		if err != nil || !sum.Complete() {
			t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
		}
		all := read(opts.Objects)
		if first == nil {
			first = all
		}
		if !bytes.Equal(all, first) {
			t.Errorf("with %d jobs, the bundles differ", jobs)
		}
		again, err := engine.Run(t.Context(), opts)
		if err != nil || again.Unchanged != sum.Objects {
			t.Errorf("second run: %+v, %v", again, err)
		}
	}
}

// All layouts can share a directory: no result takes another's objects away.
func TestLayouts_OneDirectory(t *testing.T) {
	for _, name := range []string{"php-dwarf", "node-fp"} {
		dir := testrec.Place(t, name)
		all := append(slices.Clone(layouts), layouts[0])
		all[len(all)-1].name, all[len(all)-1].bundle = "default", false
		for round := range 2 {
			for _, l := range all {
				sum, err := engine.Run(t.Context(), config.Options{
					Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, l.name+".data"),
					Objects: filepath.Join(dir, "objects"), Bundle: l.bundle, Sampled: l.sampled,
				})
				if err != nil || sum.Replaced > 0 || round > 0 && sum.Unchanged != sum.Objects {
					t.Errorf("%s, %s, round %d: %+v, %v", name, l.name, round, sum, err)
				}
			}
		}
		for _, l := range layouts {
			if name == "node-fp" { // which takes perf long; its objects were found unchanged
				break
			}
			sameScripts(t, dir, filepath.Join(dir, "default.data"), filepath.Join(dir, l.name+".data"))
		}
	}
}
