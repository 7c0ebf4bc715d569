package cfi

import (
	"encoding/binary"
	"slices"
	"syscall"
	"testing"
	"time"
)

// jumpTo begins code with a jump over everything up to n bytes before its end.
func jumpTo(code []byte, n int) []byte {
	code = append([]byte{0xe9, 0, 0, 0, 0}, code...)
	binary.LittleEndian.PutUint32(code[1:], uint32(len(code)-n-5))
	return code
}

// processorTime returns how long the processors have worked for this process. Other processes do
// not change that, as they change the time on the clock.
func processorTime(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// Code that is made so that states flow the wrong way does not take longer than its
// length allows.
func TestSynthesize_TimeIsLinear(t *testing.T) {
	const n = 100_000
	back := slices.Concat([]byte{0xc3}, slices.Repeat([]byte{0xeb, 0xfd}, 1), slices.Repeat([]byte{0xeb, 0xfc}, n))
	traps := []byte{0xc3}
	for i := range n / 4 {
		traps = append(traps, 0x0f, 0x84)
		traps = binary.LittleEndian.AppendUint32(traps, uint32((n/4-i)*6+i-6))
	}
	for name, code := range map[string][]byte{
		"each jumps to the one before": jumpTo(back, 2),
		"calls that do not return":     jumpTo(slices.Repeat([]byte{0x50, 0xe8, 0, 0, 0, 1, 0x74, 0xf0}, n), 8),
		"loops in loops":               append(slices.Repeat([]byte{0x50, 0x74, 0xfd}, n/8), 0xc3),
		"endings of frames":            append([]byte{0x55, 0x48, 0x89, 0xe5, 0xff, 0xe0}, slices.Repeat([]byte{0xc9, 0xc3}, n)...),
		"gaps without frames":          append([]byte{0x53, 0xff, 0xe0}, slices.Repeat([]byte{0x5b, 0xc3, 0x74, 0xf0}, n/2)...),
		"words that may be addresses":  append([]byte{0x55, 0x48, 0x89, 0xe5, 0xff, 0xe0, 0xcc, 0xcc}, slices.Repeat([]byte{0xeb, 0xfe, 0, 0, 0, 0, 0, 0}, n)...),
		"into one row of int3":         append([]byte{0x55, 0x48, 0x89, 0xe5, 0xff, 0xe0}, append(traps, slices.Repeat([]byte{0xcc}, n)...)...),
	} {
		var s Synthesizer
		start := processorTime(t)
		s.Synthesize(amd64, code, nil)
		if took := processorTime(t) - start; took > 5*time.Second {
			t.Errorf("%s: %v for %d bytes", name, took, len(code))
		} else {
			t.Logf("%s: %v for %d bytes", name, took, len(code))
		}
	}
}

// Functions that would take too much memory get no rows.
func TestSynthesize_TooLarge(t *testing.T) {
	nops := append(slices.Repeat([]byte{0x90}, maxCode-1), 0xc3)
	var s Synthesizer
	if r := s.Synthesize(amd64, nops, nil); len(r.Rows) != 1 {
		t.Errorf("%d bytes: %d rows", len(nops), len(r.Rows))
	}
	for name, code := range map[string][]byte{
		"bytes":        append(nops, 0xc3),
		"instructions": append(slices.Repeat([]byte{0x50}, maxOps), 0xc3),
		"targets":      append(slices.Repeat([]byte{0x74, 0xfe}, maxTargets+1), 0xc3),
	} {
		if r := s.Synthesize(amd64, code, nil); len(r.Rows) != 0 {
			t.Errorf("too many %s: %d rows", name, len(r.Rows))
		}
	}
}

func TestBitset_Operations(t *testing.T) {
	var b bitset
	for _, n := range []int{300_000, 1, 64, 65, 5000} {
		b.reset(n)
		if got := b.next(0); got != -1 {
			t.Errorf("%d: %d in an empty set", n, got)
		}
		want := []int{0, n / 3, n / 2, n - 1}
		for _, i := range want {
			b.add(i)
		}
		want = slices.Compact(want)
		at := 0
		for _, i := range want {
			if got := b.next(at); got != i {
				t.Errorf("%d: behind %d is %d, want %d", n, at, got, i)
			}
			at = i + 1
		}
		if got := b.next(at); got != -1 {
			t.Errorf("%d: behind all is %d", n, got)
		}
		for _, i := range want {
			b.remove(i)
		}
		if got := b.next(0); got != -1 {
			t.Errorf("%d: %d is left", n, got)
		}
	}
}
