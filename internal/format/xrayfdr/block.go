package xrayfdr

import (
	"io"
	"math"
)

// A Block is what a thread recorded in one buffer: its used part.
type Block struct {
	Offset int64 // of its BufferExtents in the file
	Size   int64 // in bytes, as far as the file has them
	Cut    bool  // the file ends inside the block

	TID, PID uint32 // as the thread sees itself: in its own pid namespace
	// Seconds and Microseconds are the time of CLOCK_MONOTONIC when the runtime
	// gave the buffer to the thread, shortly after TSC was read.
	Seconds      int64
	Microseconds uint32

	TSC uint64 // in ticks, where the block begins; 0 in a block without calls
	CPU uint16
}

// WallTime returns the time of CLOCK_MONOTONIC at TSC in nanoseconds. The
// runtime took it some hundred nanoseconds to some microseconds later.
func (b *Block) WallTime() int64 { return b.Seconds*1e9 + int64(b.Microseconds)*1e3 }

// NextBlock goes to the next block, also from inside the one before, and
// returns what its first records say. The block belongs to the reader and is
// valid until the next call. After the last block NextBlock returns io.EOF.
//
// A *wire.Error says that no block begins where one has to begin; reading
// goes on with the next call.
func (r *Reader) NextBlock() (*Block, error) {
	r.state = atEnd
	if err := r.find(); err != nil {
		return nil, err
	}
	r.begin()
	n, err := r.fill(headSize)
	if err != nil {
		return nil, err
	}
	r.readHead(r.win[r.pos : r.pos+n])
	r.tsc, r.cpu = r.block.TSC, r.block.CPU
	return &r.block, nil
}

// OpenBlock goes to a block that an Index found.
func (r *Reader) OpenBlock(b Block) {
	r.block = b
	r.limit = b.Offset + b.Size
	r.begin()
}

// begin makes Next start with the block's first record.
func (r *Reader) begin() {
	r.end = r.block.Offset + r.block.Size
	r.seek(r.block.Offset)
	r.state, r.typed = atStart, 0
	r.tsc, r.cpu = r.block.TSC, r.block.CPU
	if r.block.Cut {
		r.fixes[CutFile]++
	}
}

// find sets r.block to the next block of the trace, and r.next behind it. A
// block ends where its head says, unless the next one begins before that, which
// is searched for if neither a block nor the file's end is there.
func (r *Reader) find() error {
	for {
		at := r.next
		if at >= r.size {
			return io.EOF
		}
		claimed, ok, err := r.headAt(at)
		if err != nil {
			return err
		}
		if !ok {
			if r.next, err = r.search(at + 1); err != nil {
				return err
			}
			r.seek(at)
			if r.next == r.size {
				return r.bad("NewBuffer", "", 0, "no block begins here: %d bytes are not read, up to the file's end", r.next-at)
			}
			r.fixes[Searched]++
			return r.bad("NewBuffer", "", 0, "no block begins here: %d bytes are not read, up to the next block", r.next-at)
		}
		r.next = claimed
		if claimed == at+metadataSize {
			continue // an empty buffer
		}
		r.block = Block{Offset: at}
		if ok = claimed == r.size; claimed < r.size {
			_, ok, err = r.headAt(claimed)
		}
		if err == nil && !ok {
			// The head is wrong, or the file was cut, or other bytes follow.
			var next int64
			if next, err = r.search(at + minBlock); next < r.size && next < claimed {
				r.fixes[WrongExtents]++
			}
			r.next = min(next, claimed)
			r.block.Cut = claimed > r.size && next == r.size
		}
		r.block.Size = r.next - at
		return err
	}
}

// minBlock is less than the records that begin a block.
const minBlock = 2 * metadataSize

// headAt reports whether a block begins at a file offset, and where it claims to end.
func (r *Reader) headAt(offset int64) (claimed int64, ok bool, err error) {
	b := &r.head // not on the stack, which a call through an interface would move to the heap
	n, err := r.src.ReadAt(b[:min(int64(len(b)), max(r.size-offset, 0))], offset)
	if err != nil && err != io.EOF {
		return 0, false, err
	}
	size, ok := r.isHead(b[:n], false)
	if !ok || size > math.MaxInt64-offset {
		return 0, false, nil
	}
	return offset + size, true, nil
}

// pattern is how a block begins, and patternSize the number of bytes that are compared to find one.
var pattern = [...]Kind{Extents, NewBuffer, WallTime}

const patternSize = len(pattern) * metadataSize

// maxBuffer keeps offsets from overflowing.
const maxBuffer = 1 << 40

// isHead says whether b may be the beginning of a block, and what size the
// block claims. strict demands all of the pattern.
func (r *Reader) isHead(b []byte, strict bool) (size int64, ok bool) {
	for i, k := range pattern {
		if len(b) < metadataSize {
			return size, i > 0 && !strict
		}
		if b[0] != r.firstByte(k) {
			// What stands behind the first two records is for Next to complain about.
			return size, !strict && k == WallTime
		}
		switch o, d := r.header.Order, b[1:]; k {
		case Extents:
			n := o.Uint64(d)
			if n > maxBuffer {
				return 0, false
			}
			size = metadataSize + int64(n)
			if n == 0 && !strict {
				return size, true
			}
		case WallTime:
			if o.Uint32(d[8:]) >= 1e6 && strict {
				return size, false
			}
		}
		b = b[metadataSize:]
	}
	return size, true
}

// firstByte returns the first byte of a metadata record.
func (r *Reader) firstByte(k Kind) byte {
	if r.big {
		return 0x80 | byte(k-firstMetadata)
	}
	return byte(k-firstMetadata)<<1 | 1
}

// searchSize is how many bytes search reads at first. Most gaps are small, and
// there may be many.
const searchSize = 512

// search returns the offset of the first block that begins at or after the file offset at, or the
// file's size.
func (r *Reader) search(at int64) (int64, error) {
	first := r.firstByte(Extents)
	for size := searchSize; at < r.size; size = min(2*size, blockWindowSize) {
		buf := make([]byte, size)
		n, err := r.src.ReadAt(buf[:min(int64(len(buf)), r.size-at)], at)
		if err != nil && err != io.EOF {
			return 0, err
		}
		for i, c := range buf[:n] {
			if c != first {
				continue
			}
			if _, ok := r.isHead(buf[i:n], true); ok {
				return at + int64(i), nil
			}
		}
		if at+int64(n) >= r.size || n < patternSize {
			break
		}
		at += int64(n - patternSize + 1)
	}
	return r.size, nil
}

// headSize is enough for the records that begin a block.
const headSize = 5 * metadataSize

// readHead takes from the block's first bytes what a Block says.
func (r *Reader) readHead(b []byte) {
	o, state := r.header.Order, atStart
	for ; len(b) >= metadataSize && state < inBody; b = b[metadataSize:] {
		metadata, kind, ok := r.split(b)
		if !metadata || !ok {
			return
		}
		if state = transitions[state][kind]; state == rejected {
			return
		}
		switch d := b[1:metadataSize]; kind {
		case NewBuffer:
			r.block.TID = o.Uint32(d)
		case WallTime:
			r.block.Seconds, r.block.Microseconds = int64(o.Uint64(d)), o.Uint32(d[8:])
		case PID:
			r.block.PID = o.Uint32(d)
		case NewCPU:
			r.block.CPU, r.block.TSC = o.Uint16(d), o.Uint64(d[2:])
		}
	}
}

// split returns the discriminant and what is beside it in a record's first byte
// or first four bytes: for function records action and id, else the kind.
func (r *Reader) split(b []byte) (metadata bool, kind Kind, ok bool) {
	first := b[0]
	if r.big {
		metadata = first&0x80 != 0
		if metadata {
			first &= 0x7f
		} else {
			first >>= 4
		}
	} else {
		metadata = first&1 != 0
		first >>= 1
		if !metadata {
			first &= 7
		}
	}
	if !metadata {
		return false, Kind(first), first <= uint8(EnterArgs)
	}
	return true, firstMetadata + Kind(first), first < uint8(numKinds-firstMetadata)
}
