package engine_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/addrs"
)

// A laidOut is a function of a process in which no address is used twice.
type laidOut struct {
	lo, hi, loaded uint64
	early          bool // something refers to it before it is loaded, when its neighbours are mapped
	gapAfter       bool // something refers to the gap after it
}

// refer records that a sample refers to an address. perf also looks up the byte before.
func refer(list []laidOut, mapped, time, addr uint64) {
	if time < mapped {
		return
	}
	for _, a := range []uint64{addr, addr - 1} {
		for i := range list {
			f := &list[i]
			switch {
			case a >= f.lo && a < f.hi && time < f.loaded:
				f.early = true
			case a >= f.hi && i+1 < len(list) && a < list[i+1].lo:
				f.gapAfter = true
			}
		}
	}
}

// pieces returns the memory that bundles should map: as much as possible at once, without referenced
// gaps and with functions alone that are referenced too early.
func pieces(list []laidOut) (all []addrs.Range) {
	for i, f := range list {
		if i == 0 || f.early || list[i-1].early || list[i-1].gapAfter {
			all = append(all, addrs.Range{Lo: f.lo})
		}
		all[len(all)-1].Hi = f.hi
	}
	return all
}

// Bundles map exactly the runs of functions between referenced gaps: no mapping more, and none
// covers more. Each run has an object of its own where functions are not close together.
func TestBundle_EndsAtReferencedGapsOnly(t *testing.T) {
	split, early := 0, 0
	for seed := range uint64(80) {
		w := newWorld(t)
		w.mark(100, 1000, "jit-100.dump")
		r := rand.New(rand.NewPCG(seed, 7))
		list := make([]laidOut, 2+r.IntN(60))
		// Between close functions, an object in parts may stand for several.
		wide := seed%2 == 0
		gaps := []uint64{0, 8, 64, 200, 4000, 900_000}
		if wide {
			gaps = gaps[3:]
		}
		at := uint64(0x10000000)
		for i := range list {
			at += gaps[r.IntN(len(gaps))]
			size := 8 * (1 + r.Uint64N(20))
			list[i] = laidOut{lo: at, hi: at + size}
			at += size
		}
		mapped := uint64(2000)
		var recs []timed
		for i, n := range r.Perm(len(list)) {
			f := &list[n]
			f.loaded = mapped + 100*uint64(i)
			recs = append(recs, load(f.loaded, 100, uint64(n), f.lo, fmt.Sprint("function", n), code(int(f.hi-f.lo), byte(n))))
		}
		w.dump("jit-100.dump", x86(100), recs...)
		for range r.IntN(40) {
			f := list[r.IntN(len(list))]
			addr := f.lo + r.Uint64N(f.hi-f.lo)
			if r.IntN(4) == 0 {
				addr = f.hi + r.Uint64N(300)
			}
			time := 1950 + 100*r.Uint64N(uint64(len(list))+20)
			w.Sample(100, time, addr)
			refer(list, mapped, time, addr)
		}
		w.opts.Bundle, w.opts.Objects = true, w.path("objects")
		sum, err := w.run()
		if err != nil {
			t.Fatal(err)
		}
		want := pieces(list)
		var got []addrs.Range
		for _, m := range readMappings(t, w.opts.Output).all {
			// A mapping of a file's beginning has no function.
			has := slices.ContainsFunc(list, func(f laidOut) bool { return f.lo < m.Addr+m.Len && m.Addr < f.hi })
			if has && strings.HasPrefix(string(m.Filename), w.path("objects/")) {
				got = append(got, addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len})
			}
		}
		slices.SortFunc(got, func(x, y addrs.Range) int { return int(int64(x.Lo - y.Lo)) })
		if !slices.Equal(got, want) || sum.Objects > len(want) || wide && sum.Objects < len(want) {
			t.Errorf("seed %d: got %d objects, mapped at %#x; want %#x", seed, sum.Objects, got, want)
		}
		for _, f := range list {
			if f.early {
				early++
			} else if f.gapAfter {
				split++
			}
		}
	}
	if split < 100 || early < 100 {
		t.Errorf("got %d referenced gaps, %d early functions; want 100 at least", split, early)
	}
}
