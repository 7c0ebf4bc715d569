package xrayfdr

import (
	"bytes"
	"slices"
	"sync"
	"testing"
)

// TestReader_ThreadsSideBySide reads the threads of real traces at once: together they have
// the records that the file has, and time runs forwards in each.
func TestReader_ThreadsSideBySide(t *testing.T) {
	for _, name := range realTraces(t) {
		file := unpacked(t, name+".xray")
		_, sequential, _, _ := readAll(t, file)
		src := bytes.NewReader(file)
		x, err := ReadIndex(src, src.Size())
		if err != nil || len(x.Problems) > 0 || x.Fixes != (Fixes{}) {
			t.Fatalf("%s: got %v, %v, %v; want no error, no problems, x.Fixes = %+v", name, x.Problems, x.Fixes, err, Fixes{})
		}
		threads := blocksOf(x)
		got := make([][]Record, len(threads))
		var wg sync.WaitGroup
		for i, blocks := range threads {
			wg.Add(1)
			go func() {
				defer wg.Done()
				r := ReadBlocks(src, x.Header, blocks)
				for range blocks {
					records, err := readBlock(r)
					if err != nil {
						t.Errorf("%s: %v", name, err)
					}
					got[i] = append(got[i], records...)
				}
			}()
		}
		wg.Wait()
		for i, records := range got {
			var now uint64
			for _, rec := range records {
				if rec.Kind.IsFunction() {
					if rec.TSC < now {
						t.Errorf("%s: thread %d: time runs backwards at %+v", name, threads[i][0].TID, rec)
					}
					now = rec.TSC
				}
			}
		}
		all := slices.Concat(got...)
		slices.SortFunc(all, func(a, b Record) int { return int(a.Offset - b.Offset) })
		if want := slices.Concat(sequential...); !slices.EqualFunc(all, want, same) {
			t.Errorf("%s: %d records, %d read one after the other", name, len(all), len(want))
		}
	}
}

// TestReader_ThreadInTwoBuffers: a thread that fills a buffer goes on in another, and the index
// puts them in order.
func TestReader_ThreadInTwoBuffers(t *testing.T) {
	file := unpacked(t, "v5-llvm14-small.xray")
	src := bytes.NewReader(file)
	x, err := ReadIndex(src, src.Size())
	if err != nil {
		t.Fatal(err)
	}
	threads := blocksOf(x)
	if len(threads) != 2 || len(threads[0]) != 2 || len(threads[1]) != 2 {
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

// blocksOf returns the blocks of each thread.
func blocksOf(x *Index) (threads [][]Block) {
	for _, t := range x.Threads() {
		var blocks []Block
		for _, n := range t {
			blocks = append(blocks, x.Blocks[n])
		}
		threads = append(threads, blocks)
	}
	return threads
}
