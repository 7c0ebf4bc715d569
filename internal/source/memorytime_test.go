package source

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// pagedMemory is memory in granules, as a program leaves it behind.
type pagedMemory map[uint64][]byte

func (m pagedMemory) ReadCode(addr uint64, p []byte) error {
	for len(p) > 0 {
		page := m[addr/granule]
		if page == nil {
			return errNone
		}
		n := copy(p, page[addr%granule:])
		addr, p = addr+uint64(n), p[n:]
	}
	return nil
}

func (m pagedMemory) write(addr uint64, p []byte) {
	for len(p) > 0 {
		if m[addr/granule] == nil {
			m[addr/granule] = make([]byte, granule)
		}
		n := copy(m[addr/granule][addr%granule:], p)
		addr, p = addr+uint64(n), p[n:]
	}
}

var errNone = testError("not mapped")

type testError string

func (e testError) Error() string { return string(e) }

// A program that has its code in pieces of memory, frees those of a domain and uses them
// again, is looked at at some time: no function gets the bytes of another.
func TestCodeMemory_AtSomeTime(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for run := range 60 {
		reuses := run%3 > 0
		var events []jitcode.Event
		var code [][]byte
		mem := pagedMemory{}
		when := uint64(1000)
		rounds := 2 + r.IntN(12)
		taken := uint64(1000 + r.IntN(rounds*400*10))
		free := []uint64{}
		next := uint64(0x40000000)
		for range rounds {
			var pieces []uint64
			for left := 100 + r.IntN(400); left > 0; {
				var piece uint64
				if len(free) > 0 && r.IntN(4) > 0 {
					piece, free = free[len(free)-1], free[:len(free)-1]
				} else {
					piece, next = next, next+granule
				}
				pieces = append(pieces, piece)
				for at := piece; left > 0; left-- {
					size := uint64(32 + r.IntN(4000))
					if at+size > piece+granule {
						break
					}
					when += uint64(1 + r.IntN(10))
					b := make([]byte, size)
					for i := 0; i+8 <= len(b); i += 8 {
						binary.LittleEndian.PutUint64(b[i:], uint64(len(events))<<8|0x55)
					}
					if when <= taken {
						mem.write(at, b)
					}
					events = append(events, jitcode.Event{Function: int32(len(events)), Time: when, Addr: at, Size: size})
					code = append(code, b)
					at += size + uint64(r.IntN(64)) // constants of which nobody tells
				}
			}
			if reuses {
				free = append(free, pieces...)
			}
		}
		m, late := NewCodeMemory([]CodeSource{{Memory: mem, Snapshot: true}}, events, len(events), CodeWorld{})
		there, after := 0, 0
		for i := range events {
			got := m.Read(i, events[i].Addr, events[i].Size, nil)
			if events[i].Time > taken {
				after++
			}
			if got == nil {
				continue
			}
			there++
			if string(got) != string(code[i]) {
				t.Fatalf("run %d, taken at %d: function %d of time %d has the bytes of function %d", run, taken, i, events[i].Time, binary.LittleEndian.Uint64(got)>>8)
			}
		}
		if late[0] > after {
			t.Errorf("run %d: %d functions are said to be later, and %d are", run, late[0], after)
		}
		if !reuses && there != len(events)-after {
			t.Errorf("run %d: %d of %d functions have their code, where nothing was used again", run, there, len(events)-after)
		}
		if reuses && after == 0 && there == 0 {
			t.Errorf("run %d: none of %d functions has its code", run, len(events))
		}
	}
}

// Zeros are no sign where memory has been mapped again, nor is code where a file is.
func TestCodeMemory_MappedAgain(t *testing.T) {
	mem := pagedMemory{}
	var events []jitcode.Event
	for i := range 100 {
		e := jitcode.Event{Function: int32(i), Time: uint64(1000 + i), Addr: uint64(0x40000000 + i*64), Size: 64}
		events = append(events, e)
		if i < 60 {
			mem.write(e.Addr, []byte{0x55})
		}
	}
	if got := timeOf(mem, events, CodeWorld{}); got != (takenTime{1059, 1060}) {
		t.Errorf("got %+v; want %+v", got, takenTime{1059, 1060})
	}
	always := func(uint64, uint64) bool { return true }
	if got := timeOf(mem, events, CodeWorld{Mapped: always}); got != (takenTime{1059, ^uint64(0)}) {
		t.Errorf("mapped again: %+v", got)
	}
	if got := timeOf(mem, events, CodeWorld{InFile: func(uint64) bool { return true }}); got != anyTime {
		t.Errorf("in a file: %+v", got)
	}
	if got := timeOf(mem, events, CodeWorld{Skip: func(i int) bool { return i >= 50 && i < 70 }}); got != (takenTime{1049, 1070}) {
		t.Errorf("without some: %+v", got)
	}
	// One of those behind that is there by chance is none that was there.
	mem.write(events[70].Addr, []byte{0x55})
	if got := timeOf(mem, events, CodeWorld{}); got != (takenTime{1059, 1060}) {
		t.Errorf("with noise: %+v", got)
	}
}
