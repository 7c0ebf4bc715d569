package jitdump

import (
	"encoding/binary"
	"errors"
	"io"
)

// Search for the next record where the previous one does not give its place: after zero padding of
// unknown length, and after damage.

const (
	// maxPadding bounds the zeros that count as padding, in bytes. Producers that write in pages
	// leave up to one page. A hole from a lost block may be larger.
	maxPadding = 16 << 20

	// maxResync bounds the damage that Resync skips and the records it accepts, in bytes. So it
	// bounds the cost of a hostile file.
	maxResync = 16 << 20
)

// skipPadding skips zero bytes before the next record. Zeros up to the end of the file are padding
// too, but the reader stays before them: a producer may still write there.
//
// A record may itself begin with zeros (the id of JIT_CODE_LOAD is 0). So the first byte that is
// not zero is up to seven bytes inside the record.
func (r *Reader) skipPadding() error {
	id, size, _, err := r.prefix(r.next)
	if err == nil && (id != 0 || size >= prefixSize) {
		return nil
	}
	if err != nil && err != io.EOF {
		// Fewer bytes than a prefix: padding if all of them are zero.
		if b, rerr := r.at(r.next, prefixSize); rerr != nil || !allZero(b) {
			return err
		}
		return io.EOF
	}
	if err == io.EOF {
		return io.EOF
	}
	pos := r.next
	for {
		b, err := r.at(pos, blockSize)
		if err != nil {
			return err
		}
		if len(b) == 0 {
			return io.EOF
		}
		n := 0
		for n < len(b) && b[n] == 0 {
			n++
		}
		pos += int64(n)
		if n < len(b) {
			break
		}
		if pos-r.next > maxPadding {
			return nil // more than padding; frame reports it
		}
	}
	// Most padding aligns to 8 or 4, so try such places first.
	lo := max(r.next, pos-7)
	cut := int64(-1)
	for _, align := range []int64{8, 4, 1} {
		for at := (lo + align - 1) &^ (align - 1); at <= pos; at += align {
			ok, err := r.recordAt(at)
			if ok {
				r.next = at
				return nil
			}
			if cut < 0 && errors.Is(err, ErrCut) {
				cut = at
			}
		}
	}
	if cut < 0 {
		return nil // it was no padding, and frame reports it
	}
	_, err = r.frame(cut)
	return err
}

// Resync searches after the next offset for a consistent record that is followed by another or by
// the end of the file. If it finds one, it moves there and returns the number of skipped bytes. If
// not, it stays and returns false. It does not search a record that is sound up to the end of the file, which
// cuts it: parts of that may look like records.
//
// It reads each byte once, and of each place that may be a record a few bytes more.
func (r *Reader) Resync() (skipped int64, ok bool) {
	if _, err := r.recordAt(r.next); errors.Is(err, ErrCut) && r.probe(r.next).isSound() {
		return 0, false
	}
	order, end := r.header.Order, r.next+maxResync
	for at := r.next + 1; at < end; {
		if b, err := r.at(at, prefixSize); err != nil || len(b) < prefixSize {
			return 0, false
		}
		b := r.window[at-r.windowAt:]
		b = b[:min(int64(len(b)), end-at+prefixSize-1)]
		n := 0 // places that are none of a record
		for n <= len(b)-prefixSize && !mayBegin(order, b[n:]) {
			n++
		}
		if at += int64(n); n > len(b)-prefixSize {
			continue
		}
		if ok, _ := r.recordAt(at); ok {
			skipped = at - r.next
			r.next = at
			return skipped, true
		}
		at++
	}
	return 0, false
}

// mayBegin reports whether b begins like a record that Resync accepts.
func mayBegin(order binary.ByteOrder, b []byte) bool {
	size := order.Uint32(b[4:])
	return size >= prefixSize && size <= maxResync && RecordID(order.Uint32(b)).known()
}

// recordAt reports whether a record of a known type is at offset at, followed by a possible record,
// or by nothing. The error is of reading, or ErrCut if the end of the file leaves the answer open.
func (r *Reader) recordAt(at int64) (bool, error) {
	b, err := r.at(at, prefixSize+probeHead)
	switch {
	case err != nil:
		return false, err
	case len(b) == 0:
		return false, io.EOF
	case len(b) < prefixSize:
		return false, ErrCut
	case !mayBegin(r.header.Order, b):
		return false, nil
	}
	p := r.probe(at)
	// The last byte, and the next record's prefix.
	end, err := r.peek(p.at+int64(p.n)-1, 1+prefixSize)
	if err != nil {
		return false, err
	}
	if len(end) == 0 {
		return false, ErrCut
	}
	next := end[1:]
	if len(next) == prefixSize && r.header.Order.Uint32(next[4:]) < prefixSize && !allZero(next) {
		return false, nil
	}
	return p.wellFormed(), p.err
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
