package v8

import (
	"math/rand/v2"
	"testing"
)

// Random moves and deaths of functions have the results that a map has.
func TestIdentities_RandomMoves(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	var list functionList
	m := newIdentities(&list)
	want := make(map[uint64]int32)
	addr := func() uint64 { return 0x3a5e00000000 + uint64(rnd.IntN(20_000))*8 }
	for range 200_000 {
		switch a, b := addr(), addr(); rnd.IntN(3) {
		case 0:
			fn := list.add(function{})
			m.set(a, fn)
			want[a] = fn
		case 1:
			fn, ok := want[a]
			if a == b {
				continue
			}
			delete(want, a)
			if delete(want, b); ok {
				want[b] = fn
			}
			m.move(a, b)
		default:
			fn, ok := m.find(a)
			if w, known := want[a]; ok != known || ok && fn != w {
				t.Fatalf("%#x: got %d, %v; want %d, %v", a, fn, ok, w, known)
			}
		}
	}
	if n := len(m.slots); n > 1<<16 {
		t.Errorf("got %d slots for 20,000 addresses; want at most %d", n, 1<<16)
	}
}
