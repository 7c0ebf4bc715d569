package xrayfdr

import (
	"io"
	"math"
	"sync"
)

// payloads says what a runtime did with the data of events.
type payloads uint8

const (
	unknown     payloads = iota
	kept                 // stepped over them, as the document says
	overwritten          // wrote the next record over them
)

// lastOverwriting is the last version that real runtimes wrote without stepping
// over an event's data: LLVM 5 wrote 1, LLVM 6 wrote 2, LLVM 7 wrote 3. The
// error was found while 3 was in use, so that 3 occurs with and without it.
const lastOverwriting = 3

// An origin is where a trace is from, for all readers of it.
type origin struct {
	src         io.ReaderAt
	start, size int64 // of the file header, and of the file

	once     sync.Once
	payloads payloads
	unclear  bool
	err      error
}

// The weights of judge, in bytes.
const (
	oddWeight   = 8               // a call that does not fit: its record is not explained
	wrongWeight = 64              // no runtime writes this
	mostOfBlock = 256             // how much one block can say
	enough      = 4096            // which no other blocks can outweigh
	tooLittle   = wrongWeight - 1 // which exceptions in calls explain as well
)

// probeWindowSize is small, as a file may have many small traces.
const probeWindowSize = 4 << 10

// judge finds out what became of the data of a trace's events: one runtime wrote
// it, so that they are all kept, or all overwritten. The blocks with events are
// read both ways, and the way that explains more of their bytes is the right one.
// If none does, either may be, and the document decides, as for llvm-xray.
func (t *origin) judge(h *Header) (how payloads, unclear bool, err error) {
	t.once.Do(func() {
		lead := int64(0) // of kept
		blocks := newReader(t.src, h, t.size, indexWindowSize)
		blocks.next = t.start + HeaderSize
		blocks.carried = map[int64]Block{} // to find bases, events would have to be read
		probe := newReader(t.src, h, 0, probeWindowSize)
		for lead < enough && lead > -enough {
			b, err := blocks.NextBlock()
			if err == io.EOF {
				break
			} else if err != nil && isViolation(err) {
				continue
			} else if err != nil {
				t.err = err
				return
			}
			asWritten, err := probe.explain(b, kept)
			if err == nil && asWritten.events {
				var asLost reading
				asLost, err = probe.explain(b, overwritten)
				lead += asWritten.lead(&asLost)
			}
			if err != nil {
				t.err = err
				return
			}
		}
		t.payloads, t.unclear = kept, lead <= tooLittle
		if lead < -tooLittle {
			t.payloads, t.unclear = overwritten, false
		}
	})
	return t.payloads, t.unclear, t.err
}

// A reading is what a block holds if its events' data was kept, or overwritten.
type reading struct {
	events     bool  // with data
	whole      bool  // it ends where a block may end
	size       int64 // bytes of the block before it ends or breaks
	sure       int64 // bytes up to the last record that has a time of its own, which fits
	odd, wrong int64 // calls that do not fit; what no runtime writes
}

// lead returns how many bytes more of a block the reading a explains than b. It
// is negative if b explains more.
//
// Faults are compared over the bytes that both readings have. A reading that goes
// further explains more. But in version 1, records of the buffer's use before may
// follow EndOfBuffer, and any bytes may look like one: of readings that go on
// behind one, only those explain more that end as well and meet times of this use.
func (a *reading) lead(b *reading) int64 {
	if a.whole != b.whole {
		if a.whole {
			return mostOfBlock
		}
		return -mostOfBlock
	}
	common, further := min(a.size, b.size), a.size-b.size
	lead := b.faults()*common/max(b.size, 1) - a.faults()*common/max(a.size, 1)
	if !a.whole || further > 0 && a.sure > b.size || further < 0 && b.sure > a.size {
		lead += further
	}
	return min(max(lead, -mostOfBlock), mostOfBlock)
}

func (a *reading) faults() int64 { return a.odd*oddWeight + a.wrong*wrongWeight }

const (
	// skew is how many counts time may go back: clocks of CPUs differ.
	skew = 64
	// longestPause is more counts than threads sleep: at 3 GHz, 278 days.
	longestPause = 1 << 56
	// mostFunctions is more functions than programs have. Up to version 3, the bits
	// above are not used for the numbers of shared objects.
	mostFunctions = 1 << 24
)

// explain reads a block with its events' data kept or overwritten.
//
// Calls that are open where the block begins or ends are normal; others need an
// entry and an exit, or an exception. A thread's time never goes back. That binds
// the events, which have times of their own, to the sum of deltas. In a block
// without NewCPUId the sum lacks something that is the same for all its records.
func (r *Reader) explain(b *Block, how payloads) (x reading, err error) {
	if _, err := r.OpenBlock(*b); err != nil {
		return x, err
	}
	r.payloads, r.fixes = how, Fixes{}
	var calls callStack
	var least, most, unbound uint64 // what the sum lacks
	if b.Base != OwnBase {
		most, unbound = math.MaxUint64, math.MaxUint64
	}
	event := uint64(0) // time of an event since the sum was increased
	for {
		sum := r.tsc
		rec, err := r.Next()
		if err != nil {
			x.size, x.whole = r.offset()-b.Offset, err == io.EOF && r.fixes[NoEndOfBuffer]+r.fixes[CutRecord]+r.fixes[LateEndOfBuffer] == 0
			if x.whole && r.version() >= 2 {
				x.size = b.Size
			}
			if err != io.EOF && !isViolation(err) {
				return x, err
			}
			return x, nil
		}
		fits := true
		switch rec.Kind {
		case Enter, EnterArgs, Exit, TailExit:
			x.odd += int64(calls.step(rec))
			fits = rec.Function-1 < mostFunctions
			if event > rec.TSC+skew {
				least = max(least, event-rec.TSC-skew)
			}
			event = 0
		case CustomEvent, TypedEvent, NewCPU, TSCWrap:
			x.events = x.events || rec.PayloadSize > 0
			ahead := max(rec.TSC, sum) - sum
			if fits = rec.TSC+skew >= max(sum, event); fits {
				most = min(most, ahead)
				least = max(least, max(ahead, longestPause)-longestPause)
			}
			event = rec.TSC
		default:
			continue
		}
		if least > most {
			fits, least, most = false, 0, unbound
		}
		switch rec.Kind {
		case NewCPU, TSCWrap:
			least, most, unbound, event = 0, 0, 0, 0
			fallthrough
		case CustomEvent, TypedEvent:
			if fits && (unbound == 0 || least > 0) {
				x.sure = r.offset() - b.Offset
			}
		}
		if !fits {
			x.wrong++
		}
	}
}

// A callStack holds the innermost calls that have not ended. Deeper ones fall
// off its end.
type callStack struct {
	ids [256]uint32
	n   int
}

// step notes a function record and returns how much is odd about it: an exit
// without its own entry after other entries, or the entries without exit that
// it goes past. Exceptions leave some of those.
func (c *callStack) step(rec *Record) (odd int) {
	if rec.Kind == Enter || rec.Kind == EnterArgs {
		c.ids[c.n%len(c.ids)] = rec.Function
		c.n++
		return 0
	}
	for i := c.n - 1; i >= max(c.n-len(c.ids), 0); i-- {
		if c.ids[i%len(c.ids)] == rec.Function {
			odd = c.n - 1 - i
			c.n = i
			return odd
		}
	}
	return min(c.n, 1)
}
