package inject_test

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

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Other layouts of the plan: bundles, and only what is sampled. What a sample resolves
// to must not depend on them.

// layouts are the options for them.
var layouts = []struct {
	name            string
	bundle, sampled bool
}{{"bundle", true, false}, {"sampled", false, true}, {"both", true, true}}

// TestLayoutsAgree makes processes that load, move and fork at random in little memory, so
// that addresses are used again and again.
func TestLayoutsAgree(t *testing.T) {
	seeds := uint64(150)
	if testing.Short() {
		seeds = 20
	}
	for seed := range seeds {
		w := randomWorld(t, seed)
		base, err := w.run()
		if err != nil {
			t.Fatal(err)
		}
		want := readMappings(t, w.opts.Output)
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
			sum, err := inject.Run(context.Background(), opts)
			if err != nil {
				t.Fatalf("seed %d, %s: %v", seed, l.name, err)
			}
			if seed%2 == 0 && l.bundle && !l.sampled && sum.Objects >= base.Objects && base.Objects > 20 {
				t.Errorf("seed %d, %s: %d objects, and %d without", seed, l.name, sum.Objects, base.Objects)
			}
			if *sum.Samples != *base.Samples {
				t.Errorf("seed %d, %s: the summary says %+v of the samples, and %+v without", seed, l.name, sum.Samples, base.Samples)
			}
			got := readMappings(t, opts.Output)
			for _, s := range w.wants {
				if a, b := want.symbol(t, s), got.symbol(t, s); a != b {
					t.Errorf("seed %d, %s: at %d, process %d, %#x is %q, and %q without", seed, l.name, s.time, s.pid, s.ip, b, a)
				}
			}
			if t.Failed() {
				return
			}
			if seed%50 < 2 {
				sameScripts(t, w.dir, w.opts.Output, opts.Output)
			}
		}
	}
}

// randomWorld is a family of processes with one dump, and samples everywhere.
func randomWorld(t *testing.T, seed uint64) *world {
	w := newWorld(t)
	r := rand.New(rand.NewPCG(seed, 2))
	if seed%2 == 1 { // perf will unwind
		w.SampleType = testrec.IP | testrec.TID | testrec.Time | testrec.Period | testrec.StackUser
	}
	w.mark(100, 1000, "jit-100.dump")
	memory := uint64(0x800 << r.IntN(5))
	if seed%3 == 0 {
		w.Mmap2(100, 1001, 0x10000+memory/2, 0x100, 0, "/usr/lib/libwall.so")
	}
	pids := []uint32{100}
	type at struct{ addr, size uint64 }
	loaded := make(map[uint32]map[uint64]at) // by process, then index
	loaded[100] = make(map[uint64]at)
	var recs []timed
	time, index := uint64(2000), uint64(0)
	sample := func() {
		w.expect(pids[r.IntN(len(pids))], time, 0x10000+r.Uint64N(memory+0x200), "")
	}
	for range 150 {
		time += 10 + r.Uint64N(50)
		pid := pids[r.IntN(len(pids))]
		switch n := r.IntN(20); {
		case n == 0 && len(pids) < 4:
			child := pids[len(pids)-1] + 1
			w.Fork(child, pid, time)
			pids = append(pids, child)
			loaded[child] = make(map[uint64]at)
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
				loaded[pid][i] = at{to, f.size}
				break
			}
		case n < 10:
			index++
			f := at{0x10000 + 8*r.Uint64N(memory/8), 8 * (1 + r.Uint64N(20))}
			if r.IntN(2) == 0 { // side by side, as most are
				f.addr = 0x10000 + index*96%memory
			}
			recs = append(recs, load(time, pid, index, f.addr, fmt.Sprintf("func%d", index), code(int(f.size), byte(index))))
			loaded[pid][index] = f
		default:
			sample()
		}
		time++
		sample()
	}
	w.dump("jit-100.dump", x86(100), recs...)
	return w
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

// On real recordings, every sample and every entry of its callchain has the same symbol
// and offset, inlined calls included, whatever the layout.
func TestLayoutsOfRecordings(t *testing.T) {
	for _, name := range testrec.Names {
		t.Run(name, func(t *testing.T) {
			dir := testrec.Place(t, name)
			opts := inject.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")}
			base, err := inject.Run(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range layouts {
				o := opts
				o.Bundle, o.Sampled, o.Output, o.Objects = l.bundle, l.sampled, filepath.Join(dir, l.name+".data"), filepath.Join(dir, l.name)
				sum, err := inject.Run(t.Context(), o)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s: %d objects, %d mappings; without: %d, %d", l.name, sum.Objects, sum.Mappings, base.Objects, base.Mappings)
				sameScripts(t, dir, opts.Output, o.Output)
			}
		})
	}
}

// Bundles are the same whoever makes them, and a second run leaves them alone.
func TestBundlesAreTheSame(t *testing.T) {
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
		opts := inject.Options{
			Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"),
			Objects: filepath.Join(dir, fmt.Sprint("objects", jobs)), Bundle: true, Jobs: jobs,
		}
		sum, err := inject.Run(t.Context(), opts)
		if err != nil || !sum.Complete() {
			t.Fatal(sum, err)
		}
		all := read(opts.Objects)
		if first == nil {
			first = all
		}
		if !bytes.Equal(all, first) {
			t.Errorf("with %d jobs, the bundles differ", jobs)
		}
		again, err := inject.Run(t.Context(), opts)
		if err != nil || again.Unchanged != sum.Objects {
			t.Errorf("second run: %+v, %v", again, err)
		}
	}
}

// All layouts can share a directory: no result takes another's objects away.
func TestLayoutsShareDirectory(t *testing.T) {
	for _, name := range []string{"node-dwarf", "node-fp"} {
		dir := testrec.Place(t, name)
		all := append(slices.Clone(layouts), layouts[0])
		all[len(all)-1].name, all[len(all)-1].bundle = "default", false
		for round := range 2 {
			for _, l := range all {
				sum, err := inject.Run(t.Context(), inject.Options{
					Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, l.name+".data"),
					Objects: filepath.Join(dir, "objects"), Bundle: l.bundle, Sampled: l.sampled,
				})
				if err != nil || sum.Replaced > 0 || round > 0 && sum.Unchanged != sum.Objects {
					t.Errorf("%s, %s, round %d: %+v, %v", name, l.name, round, sum, err)
				}
			}
		}
		for _, l := range layouts {
			sameScripts(t, dir, filepath.Join(dir, "default.data"), filepath.Join(dir, l.name+".data"))
		}
	}
}
