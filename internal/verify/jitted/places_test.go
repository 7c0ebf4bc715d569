package jitted

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// TestPlaces: what lies under a function is what looking at all of them finds.
func TestPlaces(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var p Places
	var functions []Function
	there := make(map[int32]bool)
	for i := range int32(20000) {
		if old := rnd.Int32N(i + 1); i%5 == 0 && there[old] {
			p.Remove(&functions[old])
			delete(there, old)
		}
		f := Function{PID: rnd.Uint32N(3), Addr: 1 + rnd.Uint64N(5000), Size: rnd.Uint64N(40)}
		functions = append(functions, f)
		var want []int32
		for o := range there {
			if g := &functions[o]; f.Size > 0 && g.PID == f.PID && g.Addr < f.Addr+f.Size && f.Addr < g.Addr+g.Size {
				want = append(want, o)
			}
		}
		slices.SortFunc(want, func(a, b int32) int { return int(functions[a].Addr) - int(functions[b].Addr) })
		var got []int32
		p.Put(functions, i, func(o int32) { got = append(got, o) })
		if !slices.Equal(got, want) {
			t.Fatalf("under %+v lie %v, want %v", f, got, want)
		}
		for _, o := range got {
			delete(there, o)
		}
		if f.Size > 0 {
			there[i] = true
		}
	}
}

// TestPlacesCost: what a function costs does not grow with its size, nor with how many
// processes have code at its address.
func TestPlacesCost(t *testing.T) {
	const n = 200_000
	var p Places
	functions := make([]Function, n)
	start := time.Now()
	for i := range functions {
		functions[i] = Function{PID: uint32(i / 2), Addr: 0x1000, Size: 1 << 40}
		p.Put(functions, int32(i), func(int32) {})
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("%d functions take %v", n, d)
	}
}
