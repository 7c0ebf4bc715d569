package jitdump

import (
	"context"
	"io"
	"math"
	"runtime"
	"sync"

	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A large dump is scanned in pieces, on all CPUs. Where a piece begins is a guess. So it is joined only if the scanner
// comes to its first record, and nothing waits for a load there. Then it has what the scanner would have added, because
// it is without damage and without records that refer to other pieces. Otherwise the scanner goes on by itself.

// A piece has the records after the first load from one offset on, up to the first load from another one on.
type piece struct {
	scanner
	to    int64
	start int64 // of its first record; 0 if it must not be joined
	done  chan struct{}
}

// pieces are the next pieces of a dump, in the order of the file.
type pieces struct {
	*scanner // that they are joined to
	list     []*piece
	next     int64 // offset of the first one that is not in list
	check    int64 // offset from which on the first one may be joined
	ctx      context.Context
	cancel   context.CancelFunc
	workers  sync.WaitGroup
	copies   sync.WaitGroup // of lists of joined pieces
}

// pieces begins to scan pieces of a large dump.
func (s *scanner) pieces(ctx context.Context) *pieces {
	p := &pieces{scanner: s, next: s.records.Offset() + s.pieceSize, check: math.MaxInt64}
	p.ctx, p.cancel = context.WithCancel(ctx)
	if n := runtime.GOMAXPROCS(0); n > 1 && p.next+2*s.pieceSize < s.size {
		p.check = p.next
		for range n {
			p.begin()
		}
	}
	return p
}

// begin begins to scan the next piece, if there is one.
func (p *pieces) begin() {
	if p.next >= p.size {
		return
	}
	c := &piece{to: p.next + p.pieceSize, done: make(chan struct{}), scanner: scanner{
		listing: &listing{header: p.header, src: p.src}, fixes: new(fixes), records: p.records.At(p.next - 1),
		from: p.next, size: p.pieceSize, plain: p.plain, pairing: newPairing(),
	}}
	p.list, p.next = append(p.list, c), c.to
	p.workers.Go(func() {
		c.start = c.scan(p.ctx)
		close(c.done)
	})
}

// scan reads the piece. It returns the offset of its first record, or 0 if it must not be joined.
func (c *piece) scan(ctx context.Context) (start int64) {
	if _, ok := c.records.Resync(); !ok {
		return 0
	}
	for n := 0; n%1024 > 0 || ctx.Err() == nil; n++ {
		raw, err := c.records.Next()
		switch {
		case err == io.EOF:
			return start
		case err != nil || raw.ID == jitdump.IDMove || raw.ID == jitdump.IDEmbeddedSource || raw.ID == jitdump.IDOpenJ9:
			return 0
		case start == 0 && raw.ID == jitdump.IDLoad:
			start = c.records.Offset()
		case start == 0:
		case c.record(&raw) != nil || len(c.Problems)+len(c.batches)+len(c.withoutCode) > 0:
			return 0
		case raw.ID == jitdump.IDLoad && raw.Offset >= c.to:
			return start
		}
	}
	return 0
}

// join joins the first pieces as long as they begin where the scanner is. If one never will, the scanner goes on without
// pieces.
func (p *pieces) join() {
	defer p.copies.Wait()
	for p.records.Offset() >= p.check {
		c, at := p.list[0], p.records.Offset()
		<-c.done
		switch {
		case at < c.start:
			p.check = c.start
		case at == c.start && p.pairing.isIdle():
			p.add(&c.scanner)
			p.begin()
			p.list = p.list[1:]
			if p.check = math.MaxInt64; len(p.list) > 0 {
				p.check = p.list[0].from
			}
		default:
			p.list, p.next, p.check = nil, p.size, math.MaxInt64
			p.cancel()
		}
	}
}

// add adds what a scanner has of the next records, and goes on where that ended. It does not wait until lists are copied.
func (p *pieces) add(c *scanner) {
	s, at := p.scanner, c.records.Offset()
	functions, others := int32(len(s.functions)), uint32(len(s.others))
	newEvents := extend(p, &s.Events, len(c.Events), at)
	newFunctions := extend(p, &s.functions, len(c.functions), at)
	newOthers := extend(p, &s.others, len(c.others), at)
	p.copies.Go(func() {
		for i, e := range c.Events {
			e.Function += functions
			newEvents[i] = e
		}
		for i, f := range c.functions {
			if f.others > 0 {
				f.others += others
			}
			newFunctions[i] = f
		}
		copy(newOthers, c.others)
	})
	c.pairing.loads += s.pairing.loads
	s.pairing, s.records = c.pairing, c.records
	s.salt.join(&c.salt)
	s.traces, s.high = s.traces || c.traces, max(s.high, c.high)
	s.fixes.missized.Add(c.fixes.missized.Load())
	s.fixes.tids.Add(c.fixes.tids.Load())
	s.Unknown, s.orphans, s.interleaved = s.Unknown+c.Unknown, s.orphans+c.orphans, s.interleaved+c.interleaved
}

// extend adds elements to a list, and returns them.
func extend[T any](p *pieces, list *[]T, more int, at int64) []T {
	n := len(*list)
	if n+more > cap(*list) {
		p.copies.Wait()
	}
	*list = source.Grown(*list, more, at, p.size)[:n+more]
	return (*list)[n:]
}
