package jitdump

import (
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
	var cut error
	for _, align := range []int64{8, 4, 1} {
		for at := (lo + align - 1) &^ (align - 1); at <= pos; at += align {
			ok, err := r.recordAt(at)
			if ok {
				r.next = at
				return nil
			}
			if cut == nil && errors.Is(err, ErrCut) {
				cut = err
			}
		}
	}
	return cut // if nil, it was no padding, and frame reports it
}

// Resync searches after the next offset for a consistent record that is followed by another or by
// the end of the file. If it finds one, it moves there and returns the number of skipped bytes. If
// not, it stays and returns false.
func (r *Reader) Resync() (skipped int64, ok bool) {
	for at := r.next + 1; at-r.next < maxResync; at++ {
		b, err := r.at(at, prefixSize)
		if err != nil || len(b) < prefixSize {
			return 0, false
		}
		if !RecordID(r.header.Order.Uint32(b)).known() {
			continue
		}
		if ok, _ := r.recordAt(at); ok {
			skipped = at - r.next
			r.next = at
			return skipped, true
		}
	}
	return 0, false
}

// recordAt reports whether a record of a known type is at offset at, followed by a possible record,
// or by nothing. The error is of reading, or ErrCut if the end of the file leaves the answer open.
func (r *Reader) recordAt(at int64) (bool, error) {
	id, size, _, err := r.prefix(at)
	if err != nil || !id.known() || size < prefixSize || size > maxResync {
		return false, err
	}
	raw, err := r.frame(at)
	if err != nil || !raw.wellFormed() {
		return false, err
	}
	b, err := r.at(at+raw.Size(), prefixSize)
	if err != nil {
		return false, err
	}
	return len(b) < prefixSize || r.header.Order.Uint32(b[4:]) >= prefixSize || allZero(b), nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
