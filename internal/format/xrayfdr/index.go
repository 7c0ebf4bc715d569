package xrayfdr

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// maxBlocks bounds an index. With the smallest buffers that runtimes are
// configured with, 4 KiB, these are 8 GiB.
const maxBlocks = 1 << 21

// maxProblems bounds the problems that an index keeps.
const maxProblems = 100

// An Index says where the blocks of a trace are, so that threads can be gone
// through side by side: see ReadBlocks.
type Index struct {
	Header   *Header
	Blocks   []Block // in the order of the file
	Problems []error // places where a block has to begin and does not; the first 100
	Fixes    Fixes   // what was set right to find the blocks

	TooMany error // the file's next traces are too many; nil if this is the last one
	after   int64 // where another trace begins in the file; 0 if there is none
}

// ReadIndexes finds the blocks of all traces of a file: a program may write
// several into one. There is at least one. The last one says if there are too many.
func ReadIndexes(src io.ReaderAt, size int64) (all []*Index, err error) {
	x, err := ReadIndex(src, size)
	for err == nil {
		if all = append(all, x); x.after == 0 {
			return all, nil
		}
		if len(all) == maxTraces {
			x.TooMany = &wire.Error{Format: FormatName, Record: "file header", Offset: x.after,
				Text: fmt.Sprintf("the file has more than %d traces: %d bytes are not read", maxTraces, size-x.after)}
			return all, nil
		}
		x, err = readIndex(src, x.after, size)
	}
	return nil, err
}

// maxTraces bounds the traces of a file: each is compared with all others.
const maxTraces = 1000

// ReadIndex finds the blocks of a file's first trace. It reads the first records of each and
// skips the others, except in traces of LLVM 5: a block without NewCPUId begins
// with the last TSC of its thread's block before, and to know that, the latter
// is read.
func ReadIndex(src io.ReaderAt, size int64) (*Index, error) { return readIndex(src, 0, size) }

func readIndex(src io.ReaderAt, start, size int64) (*Index, error) {
	r, err := openTrace(src, start, size, indexWindowSize)
	if err != nil {
		return nil, err
	}
	r.carried = map[int64]Block{} // leave them to resolve
	x := &Index{Header: r.header}
	for {
		b, err := r.NextBlock()
		switch {
		case err == io.EOF:
			x.Fixes, x.after = r.fixes, r.after
			return x, x.resolve(src)
		case err != nil && !isViolation(err):
			return nil, err
		case err != nil:
			if len(x.Problems) < maxProblems {
				x.Problems = append(x.Problems, err)
			}
			continue
		case len(x.Blocks) == maxBlocks:
			return nil, errTooMany
		}
		x.Blocks = append(x.Blocks, *b)
	}
}

const indexWindowSize = 256

// Threads returns the positions in Blocks of each thread in the order of time; threads are
// in the order of their first block in the file. In traces that hold no process
// ids, thread ids that the system gave twice are one thread.
func (x *Index) Threads() [][]int {
	type id struct{ pid, tid uint32 }
	at := make(map[id]int)
	var threads [][]int
	for i, b := range x.Blocks {
		k := id{b.PID, b.TID}
		t, ok := at[k]
		if !ok {
			t = len(threads)
			at[k] = t
			threads = append(threads, nil)
		}
		threads[t] = append(threads[t], i)
	}
	for _, t := range threads {
		slices.SortStableFunc(t, func(i, j int) int {
			a, b := &x.Blocks[i], &x.Blocks[j]
			return cmp.Or(cmp.Compare(a.Seconds, b.Seconds), cmp.Compare(a.Microseconds, b.Microseconds))
		})
	}
	return threads
}

// resolve gives a TSC to blocks that have none of their own.
func (x *Index) resolve(src io.ReaderAt) error {
	if !slices.ContainsFunc(x.Blocks, func(b Block) bool { return b.Base != OwnBase }) {
		return nil
	}
	r := ReadBlocks(src, x.Header, nil)
	for _, t := range x.Threads() {
		for i, n := range t {
			b := &x.Blocks[n]
			if b.Base == OwnBase {
				continue
			}
			if i == 0 {
				b.Base = NoBase
				continue
			}
			before := x.Blocks[t[i-1]]
			r.list = append(r.list[:0], before)
			tsc, cpu, err := r.last()
			if err != nil {
				return err
			}
			b.TSC, b.CPU = tsc, cpu
			b.Base = CarriedBase
			if before.Base == NoBase {
				b.Base = NoBase
			}
		}
	}
	return nil
}

// last reads one block to its end and returns the state that it leaves behind.
func (r *Reader) last() (tsc uint64, cpu uint16, err error) {
	if _, err := r.NextBlock(); err != nil {
		return 0, 0, err
	}
	for {
		if _, err := r.Next(); err == io.EOF || err != nil && isViolation(err) {
			return r.tsc, r.cpu, nil
		} else if err != nil {
			return 0, 0, err
		}
	}
}

// carry gives the reader's block, which has no TSC of its own, that of its
// thread's block before. For this it reads all the file's blocks once.
func (r *Reader) carry() error {
	if r.carried == nil {
		r.carried = make(map[int64]Block)
		x, err := readIndex(r.src, r.header.start, r.whole)
		if errors.Is(err, errTooMany) {
			x = &Index{}
		} else if err != nil {
			return err
		}
		for _, b := range x.Blocks {
			if b.Base != OwnBase {
				r.carried[b.Offset] = b
			}
		}
	}
	b := r.carried[r.block.Offset]
	r.block.TSC, r.block.CPU, r.block.Base = b.TSC, b.CPU, b.Base
	if b.Base == OwnBase { // it is not there
		r.block.Base = NoBase
	}
	return nil
}
