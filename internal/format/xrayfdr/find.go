package xrayfdr

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// find sets r.block to the next block of the file, and r.next behind it. A
// block is believed to end where its head says if the next one begins there, or
// the file ends. Otherwise the next block is searched for.
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
			if r.next < r.size {
				r.fixes[Searched]++
			}
			return r.errNoBlock(at, r.next)
		}
		if r.version() >= 2 && claimed == at+metadataSize {
			r.next = claimed // an empty buffer
			continue
		}
		r.next = claimed
		r.block = Block{Offset: at, Base: CarriedBase}
		if claimed < r.size {
			_, follows, err := r.headAt(claimed)
			if err != nil {
				return err
			}
			if !follows {
				if r.next, err = r.search(at + minBlock); err != nil {
					return err
				}
				r.fixes[WrongExtents]++
			}
		} else if claimed > r.size {
			// The file was cut, unless other blocks lie in what this one claims.
			if r.next, err = r.search(at + minBlock); err != nil {
				return err
			}
			if r.next < r.size {
				r.fixes[WrongExtents]++
			} else {
				r.block.Cut = true
			}
		}
		r.block.Size = r.next - at
		return nil
	}
}

// minBlock is less than the records that begin a block.
const minBlock = 2 * metadataSize

// headAt says whether a block begins at the file offset at, and where it claims
// to end.
func (r *Reader) headAt(at int64) (claimed int64, ok bool, err error) {
	b := &r.head // not on the stack, which a call through an interface would move to the heap
	n, err := r.src.ReadAt(b[:min(int64(len(b)), max(r.size-at, 0))], at)
	if err != nil && err != io.EOF {
		return 0, false, err
	}
	size, ok := r.isHead(b[:n], false)
	if size > math.MaxInt64-at {
		return 0, false, nil
	}
	return at + size, ok, nil
}

// patternSize is how much of a block's beginning is compared to find one:
// BufferExtents, NewBuffer and WallTimeMarker.
const patternSize = 3 * metadataSize

// isHead says whether b may be the beginning of a block, and what size the
// block claims. strict demands all of the pattern.
func (r *Reader) isHead(b []byte, strict bool) (size int64, ok bool) {
	want := []Kind{NewBuffer, WallTime}
	size = int64(r.header.BufferSize)
	if r.version() >= 2 {
		want = []Kind{Extents, NewBuffer, WallTime}
	}
	for i, k := range want {
		if len(b) < metadataSize {
			return size, i > 0 && !strict
		}
		if metadata, kind, ok := r.split(b); !metadata || !ok || kind != k {
			// What stands behind the first two records is for Next to complain about.
			return size, !strict && i == len(want)-1
		}
		switch o, d := r.header.Order, b[1:]; k {
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

// search returns the offset of the first block that begins at or after the file
// offset at, or the file's size.
func (r *Reader) search(at int64) (int64, error) {
	first := byte(NewBuffer - firstMetadata)
	if r.version() >= 2 {
		first = byte(Extents - firstMetadata)
	}
	if r.big {
		first |= 0x80
	} else {
		first = first<<1 | 1
	}
	buf := make([]byte, blockWindowSize)
	for at < r.size {
		n, err := r.src.ReadAt(buf[:min(int64(len(buf)), r.size-at)], at)
		if err != nil && err != io.EOF {
			return 0, err
		}
		for i := 0; ; i++ {
			j := bytes.IndexByte(buf[i:n], first)
			if j < 0 {
				break
			}
			i += j
			if _, ok := r.isHead(buf[i:n], true); ok {
				return at + int64(i), nil
			}
		}
		if n < patternSize {
			break
		}
		at += int64(n - patternSize + 1)
	}
	return r.size, nil
}

// isViolation tells what is wrong with a file from what is wrong with reading it.
func isViolation(err error) bool {
	var e *wire.Error
	return errors.As(err, &e)
}
