package xrayfdr

import (
	"bytes"
	"testing"
)

// TestReader_ThreadInTwoBuffers: a thread that fills a buffer goes on in another, and the index
// puts them in order.
func TestReader_ThreadInTwoBuffers(t *testing.T) {
	file := unpacked(t, "v5-llvm14-small.xray")
	src := bytes.NewReader(file)
	x, err := ReadIndex(src, src.Size())
	if err != nil {
		t.Fatal(err)
	}
	var threads [2][]Block
	for _, b := range x.Blocks {
		i := 0
		if b.TID != b.PID {
			i = 1
		}
		threads[i] = append(threads[i], b)
	}
	if len(threads[0]) != 2 || len(threads[1]) != 2 {
		t.Fatalf("threads: %+v", threads)
	}
	for _, blocks := range threads {
		if a, b := blocks[0], blocks[1]; a.TID != b.TID || a.PID == 0 || a.WallTime() >= b.WallTime() || a.TSC >= b.TSC {
			t.Errorf("blocks %+v, %+v", a, b)
		}
	}
	// Between two anchors the emulated clock and CLOCK_MONOTONIC run alike.
	a, b := threads[0][0], threads[0][1]
	if d := int64(b.TSC-a.TSC) - (b.WallTime() - a.WallTime()); !x.Header.Emulated() || d > 50_000 || d < -50_000 {
		t.Errorf("the clocks differ by %d ns", d)
	}
}
