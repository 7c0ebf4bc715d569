package xrayfdr

import (
	"io"
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
	oddWeight   = 8    // a call that does not fit: its record is not explained
	wrongWeight = 64   // no runtime writes this
	mostOfBlock = 256  // how much one block can say
	enough      = 4096 // which no other blocks can outweigh
	tooLittle   = 32   // which chance explains as well
)

// judge finds out what became of the data of a trace's events: one runtime wrote
// it, so that they are all kept, or all overwritten. The blocks with events are
// read both ways, and the way that explains more bytes is the right one. If both
// explain as much, either may be, and the document decides, as for llvm-xray.
func (t *origin) judge(h *Header) (how payloads, unclear bool, err error) {
	t.once.Do(func() {
		lead := int64(0) // of kept
		blocks := newReader(t.src, h, t.size, indexWindowSize)
		blocks.next = t.start + HeaderSize
		blocks.carried = map[int64]Block{} // to find bases, events would have to be read
		probe := ReadBlocks(t.src, h, nil)
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
			asWritten, events, err := probe.explain(b, kept)
			if err == nil && events {
				var asLost int64
				asLost, _, err = probe.explain(b, overwritten)
				lead += min(max(asWritten-asLost, -mostOfBlock), mostOfBlock)
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

// longestPause is more counts than threads sleep: at 3 GHz, 278 days.
const longestPause = 1 << 56

// explain reads a block with its events' data kept or overwritten, and returns
// how many bytes make sense so, and whether there are events with data.
//
// Bytes behind the place where the block breaks, or seems to end, do not. Calls
// that are open where the block begins or ends are normal; others need an entry
// and an exit, or an exception. A thread's time never goes back, events included.
func (r *Reader) explain(b *Block, how payloads) (bytes int64, events bool, err error) {
	if _, err := r.OpenBlock(*b); err != nil {
		return 0, false, err
	}
	r.payloads, r.fixes = how, Fixes{}
	end := b.Offset + b.Size
	odd, wrong := 0, 0
	var calls callStack
	now, timed := r.tsc, b.Base == OwnBase
	for {
		rec, err := r.Next()
		if err != nil {
			f := &r.fixes
			switch {
			case err != io.EOF && !isViolation(err):
				return 0, false, err
			case err != io.EOF, f[NoEndOfBuffer]+f[CutRecord] > 0:
				end = r.offset()
				wrong++
			}
			wrong += int(f[LateEndOfBuffer])
			return end - b.Offset - int64(odd)*oddWeight - int64(wrong)*wrongWeight, events, nil
		}
		switch rec.Kind {
		case Enter, EnterArgs, Exit, TailExit:
			odd += calls.step(rec)
			if rec.Function == 0 {
				wrong++
			}
			if !timed {
				continue
			}
		case NewCPU, TSCWrap:
			timed = true
		case CustomEvent, TypedEvent:
			events = events || rec.PayloadSize > 0
		case EndOfBuffer:
			end = rec.Offset + metadataSize
			continue
		default:
			continue
		}
		if now != 0 && (rec.TSC < now || rec.TSC-now > longestPause) {
			wrong++
		}
		now = rec.TSC
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
