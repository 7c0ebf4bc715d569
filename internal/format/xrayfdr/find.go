package xrayfdr

import (
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// find sets r.block to the next block of the trace, and r.next behind it. A
// block ends where its head says, unless the next one begins before that, which
// is searched for if neither a block nor another trace nor the file's end is
// there. The trace ends where another one begins.
func (r *Reader) find() error {
	for {
		at := r.next
		if at >= r.size {
			return io.EOF
		}
		claimed, what, err := r.at(at)
		switch {
		case err != nil:
			return err
		case what == header:
			r.after, r.size = at, at
			return io.EOF
		case what == nothing:
			if r.next, what, err = r.search(at + 1); err != nil {
				return err
			}
			if what == head {
				r.fixes[Searched]++
			}
			return r.errNoBlock(at, r.next, what)
		}
		r.next = claimed
		if r.version() >= 2 && claimed == at+metadataSize {
			continue // an empty buffer
		}
		r.block = Block{Offset: at, Base: CarriedBase}
		if claimed < r.size {
			_, what, err = r.at(claimed)
		} else if what = head; claimed > r.size {
			what = nothing
		}
		if err == nil && what == nothing {
			// The head is wrong, or the file was cut, or other bytes follow.
			var next int64
			if next, what, err = r.search(at + minBlock); next < claimed && what != nothing {
				r.fixes[WrongExtents]++
			}
			r.next = min(next, claimed)
			r.block.Cut = claimed > r.size && what == nothing
		}
		r.block.Size = r.next - at
		return err
	}
}

// minBlock is less than the records that begin a block.
const minBlock = 2 * metadataSize

// What may be at an offset of the file.
type place uint8

const (
	nothing place = iota
	head          // of a block
	header        // of another trace
)

// at says what begins at a file offset, and where a block claims to end.
func (r *Reader) at(offset int64) (claimed int64, what place, err error) {
	b := &r.head // not on the stack, which a call through an interface would move to the heap
	n, err := r.src.ReadAt(b[:min(int64(len(b)), max(r.size-offset, 0))], offset)
	if err != nil && err != io.EOF {
		return 0, nothing, err
	}
	if isTrace(b[:n], offset+int64(n) == r.size) {
		return 0, header, nil
	}
	size, ok := isHead(r.header, b[:n], false)
	if !ok || size > math.MaxInt64-offset {
		return 0, nothing, nil
	}
	return offset + size, head, nil
}

// isTrace says whether a trace begins with b: a file header, and a block or, if
// last, nothing. In version 1, headers look like heads of blocks.
func isTrace(b []byte, last bool) bool {
	if len(b) < HeaderSize || b[0] > MaxVersion || b[1] > MaxVersion || b[2]|b[3] != typeFDR {
		return false
	}
	h, err := ParseHeader(b)
	if err != nil {
		return false
	}
	if len(b) == HeaderSize {
		return last && h.ConstantTSC && h.NonstopTSC
	}
	_, ok := isHead(h, b[HeaderSize:], true)
	return ok
}

// patternSize is how much of a block's beginning is compared to find one:
// BufferExtents, NewBuffer and WallTimeMarker.
const patternSize = 3 * metadataSize

// isHead says whether b may be the beginning of a block, and what size the
// block claims. strict demands all of the pattern.
func isHead(h *Header, b []byte, strict bool) (size int64, ok bool) {
	want := []Kind{NewBuffer, WallTime}
	size = int64(h.BufferSize)
	if h.Version >= 2 {
		want = []Kind{Extents, NewBuffer, WallTime}
	}
	for i, k := range want {
		if len(b) < metadataSize {
			return size, i > 0 && !strict
		}
		if b[0] != firstByte(h, k) {
			// What stands behind the first two records is for Next to complain about.
			return size, !strict && i == len(want)-1
		}
		switch o, d := h.Order, b[1:]; k {
		case Extents:
			if n := o.Uint64(d); n > maxBuffer {
				return 0, false
			} else {
				size = metadataSize + int64(n)
			}
			if size == metadataSize && !strict {
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
func firstByte(h *Header, k Kind) byte {
	if h.Order == binary.BigEndian {
		return 0x80 | byte(k-firstMetadata)
	}
	return byte(k-firstMetadata)<<1 | 1
}

// searchSize is how many bytes search reads at first. Most gaps are small, and
// there may be many.
const searchSize = 512

// search returns the offset of the first block or trace that begins at or after
// the file offset at, or the file's size.
func (r *Reader) search(at int64) (int64, place, error) {
	first := firstByte(r.header, NewBuffer)
	if r.version() >= 2 {
		first = firstByte(r.header, Extents)
	}
	for size := searchSize; at < r.size; size = min(2*size, blockWindowSize) {
		buf := make([]byte, size)
		n, err := r.src.ReadAt(buf[:min(int64(len(buf)), r.size-at)], at)
		if err != nil && err != io.EOF {
			return 0, nothing, err
		}
		last := at+int64(n) >= r.size
		for i, c := range buf[:n] {
			if c > MaxVersion && c != first {
				continue
			}
			if isTrace(buf[i:n], last) {
				return at + int64(i), header, nil
			}
			if c == first {
				if _, ok := isHead(r.header, buf[i:n], true); ok {
					return at + int64(i), head, nil
				}
			}
		}
		if last || n < len(r.head) {
			break
		}
		at += int64(n - len(r.head) + 1)
	}
	return r.size, nothing, nil
}

// isViolation tells what is wrong with a file from what is wrong with reading it.
func isViolation(err error) bool {
	var e *wire.Error
	return errors.As(err, &e)
}
