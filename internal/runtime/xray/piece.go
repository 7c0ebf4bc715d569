package xray

import (
	"cmp"

	"github.com/jitinject/jitinject/internal/format/xrayfdr"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A piece is a buffer of a trace, or the end of one: the part that a forked process wrote into its
// parent's current buffer. Traces have millions of pieces.
type piece struct {
	xrayfdr.Block
	x    *Log
	from int64 // records before this offset belong to another process
}

// end returns the offset after the buffer.
func (p *piece) end() int64 { return p.Offset + p.Size }

// arrange groups the pieces into processes and threads.
func (x *Log) arrange() {
	sorting.Stable(x.pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.PID, b.PID), cmp.Compare(a.TID, b.TID), cmp.Compare(a.WallTime(), b.WallTime()))
	})
	x.Processes = nil
	first := make(map[*Process]int64) // offset of its first buffer
	for rest := x.pieces; len(rest) > 0; {
		n := 1
		for n < len(rest) && rest[n].PID == rest[0].PID && rest[n].TID == rest[0].TID {
			n++
		}
		var p *Process
		if last := len(x.Processes) - 1; last >= 0 && x.Processes[last].PID == rest[0].PID {
			p = x.Processes[last]
		} else {
			p = &Process{PID: rest[0].PID, x: x}
			first[p] = rest[0].Offset
			x.Processes = append(x.Processes, p)
		}
		pieces := rest[:n:n]
		p.Buffers += n
		p.Threads = append(p.Threads, Thread{TID: pieces[0].TID, pieces: pieces})
		for i := range pieces {
			first[p] = min(first[p], pieces[i].Offset)
		}
		rest = rest[n:]
	}
	sorting.Stable(x.Processes, func(a, b *Process) int { return cmp.Compare(first[a], first[b]) })
}

// join appends the buffers of the same process in other traces. The runtime begins a new file each
// time that the program writes its buffers. A call that was running then continues in the next file.
func (p *Process) join(others []*Process) {
	index := make(map[uint32]int, len(p.Threads)) // by TID
	for i, t := range p.Threads {
		index[t.TID] = i
	}
	for _, o := range others {
		for _, more := range o.Threads {
			if i, ok := index[more.TID]; ok {
				p.Threads[i].pieces = append(p.Threads[i].pieces, more.pieces...)
			} else {
				index[more.TID] = len(p.Threads)
				p.Threads = append(p.Threads, more)
			}
		}
		p.Buffers += o.Buffers
	}
	for i := range p.Threads {
		sorting.Stable(p.Threads[i].pieces, func(a, b piece) int { return cmp.Compare(a.WallTime(), b.WallTime()) })
	}
	sorting.Stable(p.Threads, func(a, b Thread) int { return cmp.Compare(a.TID, b.TID) })
}

// A pieceReader reads pieces one by one, with one window of a file at a time.
type pieceReader struct {
	*xrayfdr.Reader
	x    *Log
	from int64
}

// open moves to a piece. It drops a reader of another file, with the reader's counts of fixes.
func (r *pieceReader) open(p *piece) {
	if r.x != p.x {
		r.x, r.Reader = p.x, xrayfdr.NewBlockReader(p.x.src, p.x.header)
	}
	r.from = p.from
	r.OpenBlock(p.Block)
}

// next returns the next record of the piece, or io.EOF.
func (r *pieceReader) next() (*xrayfdr.Record, error) {
	for {
		rec, err := r.Next()
		if err != nil || rec.Offset >= r.from {
			return rec, err
		}
	}
}
