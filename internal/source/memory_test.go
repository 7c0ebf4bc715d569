package source

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// TestReplaced_LikeAllPairs compares with going through all pairs, for functions that seldom share
// addresses and for such that all do.
func TestReplaced_LikeAllPairs(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, room := range []uint64{40, 400, 40000} {
		for range 200 {
			n := 1 + r.IntN(60)
			events := make([]jitcode.Event, n)
			for i := range events {
				events[i] = jitcode.Event{Function: r.Int32N(int32(n)), Time: r.Uint64N(20), Addr: 0x1000 + r.Uint64N(room)}
				events[i].Size = (events[i].Addr*7 + uint64(events[i].Function)) % 30 // the same for a function at a place
			}
			got := replaced(events, n)
			// What is there in the end, byte by byte.
			type place struct {
				function int32
				addr     uint64
			}
			final := make(map[uint64]place)
			when := make(map[uint64][2]uint64)
			for i, e := range events {
				for a := e.Addr; a < e.Addr+e.Size; a++ {
					if w, ok := when[a]; !ok || e.Time > w[0] || e.Time == w[0] && uint64(i) > w[1] {
						final[a], when[a] = place{e.Function, e.Addr}, [2]uint64{e.Time, uint64(i)}
					}
				}
			}
			for i, e := range events {
				whole := true
				for a := e.Addr; a < e.Addr+e.Size; a++ {
					whole = whole && final[a] == place{e.Function, e.Addr}
				}
				if !whole && !got[e.Function] {
					t.Fatalf("event %d, %+v, is not said to be replaced; all: %+v", i, e, events)
				}
			}
			whole := make([]bool, n) // of functions, all events
			for i := range whole {
				whole[i] = true
			}
			for _, e := range events {
				for a := e.Addr; a < e.Addr+e.Size; a++ {
					whole[e.Function] = whole[e.Function] && final[a] == place{e.Function, e.Addr}
				}
			}
			for f, gone := range got {
				if gone && whole[f] {
					t.Fatalf("function %d is said to be replaced; events %+v", f, events)
				}
			}
		}
	}
}

type testMemory map[uint64][]byte

func (m testMemory) ReadCode(addr uint64, p []byte) error {
	for start, code := range m {
		if addr >= start && addr+uint64(len(p)) <= start+uint64(len(code)) {
			copy(p, code[addr-start:])
			return nil
		}
	}
	return errors.New("not there")
}

func TestCodeMemory_OfFunctions(t *testing.T) {
	events := []jitcode.Event{
		{Function: 0, Time: 1, Addr: 0x1000, Size: 32},
		{Function: 1, Time: 2, Addr: 0x2000, Size: 32},
		{Function: 2, Time: 9, Addr: 0x201f, Size: 32},
		{Function: 3, Time: 3, Addr: 0x3000, Size: 32},
		{Function: 4, Time: 3, Addr: 0x4000, Size: 32},
	}
	code := bytes.Repeat([]byte{0x55, 0xc3}, 16)
	late := append(make([]byte, 16), code[:16]...) // nothing where a function begins
	mem := testMemory{0x1000: code, 0x2000: code, 0x201f: code, 0x3000: late}
	m, _ := NewCodeMemory([]CodeSource{{Memory: mem}}, events, 5, CodeWorld{}) // a file
	for i, want := range [][]byte{code, nil, code, nil, nil} {
		if got := m.Read(i, events[i].Addr, 32, nil); !bytes.Equal(got, want) {
			t.Errorf("function %d: % x, want % x", i, got, want)
		}
		if m.Has(i, events[i].Addr, 32) != (want != nil) {
			t.Errorf("function %d: has is not as read", i)
		}
	}
	if m := (CodeMemory{}); m.Has(0, 0x1000, 32) {
		t.Error("code from no memory")
	}
}
