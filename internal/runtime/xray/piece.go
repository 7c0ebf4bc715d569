package xray

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A piece is a buffer of a trace, or the end of one: the part that a forked process wrote into its
// parent's current buffer. Traces have millions of pieces.
type piece struct {
	x            *Log
	offset, size int64  // of the buffer in the file
	whole        int64  // size as it was read
	from         int64  // records before this offset belong to another process
	tsc          uint64 // count at its start
	wall         int64  // CLOCK_MONOTONIC there, in nanoseconds
	pid, tid     uint32
	cpu          uint16
	base         xrayfdr.Base
	cut          bool
}

func (x *Log) piece(b *xrayfdr.Block) piece {
	return piece{x: x, offset: b.Offset, size: b.Size, whole: b.Size, tsc: b.TSC, wall: b.WallTime(), pid: b.PID, tid: b.TID, cpu: b.CPU, base: b.Base, cut: b.Cut}
}

// block returns the buffer for the reader.
func (p *piece) block() xrayfdr.Block {
	return xrayfdr.Block{
		Offset: p.offset, Size: p.size, Cut: p.cut, TID: p.tid, PID: p.pid, Base: p.base, TSC: p.tsc, CPU: p.cpu,
		Seconds: p.wall / 1e9, Microseconds: uint32(p.wall % 1e9 / 1e3),
	}
}

// end returns the offset after the buffer.
func (p *piece) end() int64 { return p.offset + p.size }

// time returns the start time of the buffer.
func (p *piece) time() uint64 {
	if p.base == xrayfdr.NoBase {
		return uint64(max(p.wall, 0))
	}
	return p.x.Clock.Time(p.tsc)
}

// arrange groups the pieces into processes and threads.
func (x *Log) arrange() {
	sorting.Stable(x.pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.pid, b.pid), cmp.Compare(a.tid, b.tid), cmp.Compare(a.wall, b.wall))
	})
	x.Processes = nil
	first := make(map[*Process]int64) // offset of its first buffer
	for rest := x.pieces; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].pid == rest[0].pid && rest[n].tid == rest[0].tid {
			n++
		}
		var p *Process
		if last := len(x.Processes) - 1; last >= 0 && x.Processes[last].PID == rest[0].pid {
			p = x.Processes[last]
		} else {
			p = &Process{PID: rest[0].pid, x: x}
			first[p] = rest[0].offset
			x.Processes = append(x.Processes, p)
		}
		pieces := rest[:n:n]
		p.Buffers += n
		p.Threads = append(p.Threads, Thread{TID: pieces[0].tid, First: pieces[0].time(), Last: pieces[n-1].time(), pieces: pieces})
		for i := range pieces {
			first[p] = min(first[p], pieces[i].offset)
		}
		rest = rest[n:]
	}
	slices.SortStableFunc(x.Processes, func(a, b *Process) int { return cmp.Compare(first[a], first[b]) })
}

// Join appends other traces of the same process. The runtime begins a new file each time that the
// program writes its buffers. A call that was running then continues in the next file.
func (t *LogTrace) Join(others ...*LogTrace) {
	p := t.process
	index := make(map[uint32]int, len(p.Threads)) // by TID
	for i := range p.Threads {
		index[p.Threads[i].TID] = i
	}
	for _, o := range others {
		for _, more := range o.process.Threads {
			i, ok := index[more.TID]
			if !ok {
				index[more.TID] = len(p.Threads)
				p.Threads = append(p.Threads, more)
				continue
			}
			have := &p.Threads[i]
			have.pieces = append(have.pieces, more.pieces...)
			have.First, have.Last = min(have.First, more.First), max(have.Last, more.Last)
		}
		p.Buffers += o.process.Buffers
	}
	for i := range p.Threads {
		sorting.Stable(p.Threads[i].pieces, func(a, b piece) int { return cmp.Compare(a.wall, b.wall) })
	}
	sorting.Stable(p.Threads, func(a, b Thread) int { return cmp.Compare(a.TID, b.TID) })
}

// A pieceReader reads pieces one by one, with one window of a file at a time.
type pieceReader struct {
	r    *xrayfdr.Reader
	x    *Log
	from int64
}

// open moves to a piece. It drops a reader of another file, with the reader's counts of fixes.
func (r *pieceReader) open(p *piece) error {
	if r.x != p.x {
		r.x, r.r = p.x, xrayfdr.ReadBlocks(p.x.src, p.x.header, nil)
	}
	r.from = p.from
	_, err := r.r.OpenBlock(p.block())
	return err
}

// next returns the next record of the piece, or io.EOF.
func (r *pieceReader) next() (*xrayfdr.Record, error) {
	for {
		rec, err := r.r.Next()
		if err != nil || rec.Offset >= r.from {
			return rec, err
		}
	}
}
