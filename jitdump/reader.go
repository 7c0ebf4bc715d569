package jitdump

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"sort"
)

// ErrCut says that the file ends inside a record: its producer was killed, or
// is still writing. Callers test for it with errors.Is.
var ErrCut = errors.New("the file ends inside a record")

// ErrTooLarge says that a record is larger than MaxRecord.
var ErrTooLarge = errors.New("the record is implausibly large")

// MaxRecord bounds the records that a Reader returns, in bytes. All functions are smaller, but a
// sparse file may claim such a size at no cost.
const MaxRecord = 64 << 20

// blockSize is the size of a read, in bytes. The first ones are smaller: there may be thousands of
// small files.
const (
	blockSize  = 256 << 10
	firstBlock = 8 << 10
)

// A Reader reads the records of a file.
type Reader struct {
	src    io.ReaderAt
	header *Header
	next   int64 // offset of the next record

	// window holds the file's bytes from windowAt on.
	window   []byte
	windowAt int64

	aside []byte // memory of peek
}

// NewReader reads the file header and returns a reader at the first record. It reads from src at
// increasing offsets, a block at a time. A file of another format gives an error that wraps
// ErrNotJitdump.
func NewReader(src io.ReaderAt) (*Reader, error) {
	h, err := readHeader(src)
	if err != nil {
		return nil, err
	}
	return &Reader{src: src, header: h, next: h.Size()}, nil
}

// At returns another reader of the file. Its next record is at an offset.
func (r *Reader) At(off int64) *Reader { return &Reader{src: r.src, header: r.header, next: off} }

// Header returns the file header. It belongs to the reader.
func (r *Reader) Header() *Header { return r.header }

// Offset returns the offset of the next record.
func (r *Reader) Offset() int64 { return r.next }

// Next returns the next record; its body is valid until the next call.
//
// At the end of the file it returns io.EOF. If the end cuts a record, it returns an error that
// wraps ErrCut. It does not move then: after the file has grown, Next goes on there. An impossible
// prefix gives an *Error, and Next does not move either. Resync may skip it.
func (r *Reader) Next() (Raw, error) {
	if err := r.skipPadding(); err != nil {
		if err == io.EOF {
			r.window, r.aside = nil, nil // there may be thousands of files that have been read
		}
		return Raw{}, err
	}
	raw, err := r.frame(r.next)
	switch {
	case err == nil && raw.ID == IDDebugInfo:
		return r.debugInfo(raw.Size())
	case err == nil:
		r.next += raw.Size()
	case errors.Is(err, ErrTooLarge):
		_, size, _, _ := r.prefix(r.next)
		r.next += int64(size)
	}
	return raw, err
}

// Records yields the remaining records of the file, as Next returns them: a body is valid in its
// iteration of the loop. An error of Next replaces a record. After an error, the loop goes on if
// the reader has moved: past a record that is too large, or by a call of Resync in the loop.
// Otherwise it ends.
func (r *Reader) Records() iter.Seq2[Raw, error] {
	return func(yield func(Raw, error) bool) {
		for {
			at := r.next
			raw, err := r.Next()
			if err == io.EOF || !yield(raw, err) || err != nil && r.next == at {
				return
			}
		}
	}
}

// debugInfo returns the next record, a debug record that announces size bytes, and moves to
// its true end.
func (r *Reader) debugInfo(size int64) (Raw, error) {
	off := r.next
	end, err := r.debugEnd(off, size)
	if err != nil {
		return Raw{}, err
	}
	raw, err := r.frame(off) // again, as the window may have moved
	if err == nil && end != off+size {
		var b []byte
		b, err = r.at(off, int(end-off))
		raw.Body, raw.Missized = b[min(prefixSize, len(b)):], off+size-end
	}
	if err == nil {
		r.next = end
	}
	return raw, err
}

// frame reads the record at offset off.
func (r *Reader) frame(off int64) (Raw, error) {
	id, size, ts, err := r.prefix(off)
	if err != nil {
		return Raw{}, err
	}
	if size < prefixSize {
		return Raw{}, &Error{Format: FormatName, Record: id.String(), Field: "total_size", Offset: off + 4,
			Text: fmt.Sprintf("is %d, less than the %d bytes of the prefix it stands in", size, prefixSize)}
	}
	if size > MaxRecord {
		if n, err := r.src.ReadAt(make([]byte, 1), off+int64(size)-1); n == 0 && err != io.EOF {
			return Raw{}, err
		} else if n == 0 {
			return Raw{}, fmt.Errorf("%s: %s at offset %#x: %w: it needs %d bytes", FormatName, id, off, ErrCut, size)
		}
		return Raw{}, fmt.Errorf("%s: %s at offset %#x: %w: %d bytes", FormatName, id, off, ErrTooLarge, size)
	}
	// The last byte first: a damaged record may claim many megabytes again and again.
	if end, err := r.peek(off+int64(size)-1, 1); err != nil {
		return Raw{}, err
	} else if len(end) == 0 {
		there, err := r.left(off, int64(size))
		if err != nil {
			return Raw{}, err
		}
		return Raw{}, fmt.Errorf("%s: %s at offset %#x: %w: it needs %d bytes, %d are there", FormatName, id, off, ErrCut, size, there)
	}
	b, err := r.at(off, int(size))
	if err != nil {
		return Raw{}, err
	}
	if len(b) < int(size) {
		return Raw{}, fmt.Errorf("%s: %s at offset %#x: %w: it needs %d bytes, %d are there", FormatName, id, off, ErrCut, size, len(b))
	}
	return Raw{ID: id, Timestamp: ts, Offset: off, Body: b[prefixSize:size], Order: r.header.Order}, nil
}

// left returns how many bytes, of most, the file has from an offset on.
func (r *Reader) left(off, most int64) (int64, error) {
	var err error
	n := sort.Search(int(most), func(i int) bool {
		b, rerr := r.peek(off+int64(i), 1)
		err = cmp.Or(err, rerr)
		return len(b) == 0
	})
	return int64(n), err
}

// prefix reads the three fields at the start of a record.
func (r *Reader) prefix(off int64) (id RecordID, size uint32, ts uint64, err error) {
	b, err := r.at(off, prefixSize)
	switch {
	case err != nil:
		return 0, 0, 0, err
	case len(b) == 0:
		return 0, 0, 0, io.EOF
	case len(b) < prefixSize:
		return 0, 0, 0, fmt.Errorf("%s: offset %#x: %w: %d bytes are there", FormatName, off, ErrCut, len(b))
	}
	o := r.header.Order
	return RecordID(o.Uint32(b)), o.Uint32(b[4:]), o.Uint64(b[8:]), nil
}

// at returns n bytes at offset off, or fewer at the end of the file. They are valid until the next
// call. A large record is read block by block, so that memory stays below twice the size of the
// file.
func (r *Reader) at(off int64, n int) ([]byte, error) {
	if have := r.windowAt + int64(len(r.window)); off < r.windowAt || off > have {
		r.window, r.windowAt = r.window[:0], off
	}
	for {
		lo := int(off - r.windowAt)
		if len(r.window)-lo >= n {
			return r.window[lo : lo+n], nil
		}
		// If the space after the window is short, move the needed part to the front.
		if cap(r.window)-lo < n {
			to := r.window[:0]
			if cap(to) < blockSize { // of most files there is no more than fits
				to = make([]byte, 0, min(max(2*cap(to), firstBlock), blockSize))
			}
			r.window = append(to, r.window[lo:]...)
			r.windowAt, lo = off, 0
		}
		if len(r.window) == cap(r.window) {
			r.window = slices.Grow(r.window, max(firstBlock, len(r.window)))
		}
		got, err := r.src.ReadAt(r.window[len(r.window):cap(r.window)], r.windowAt+int64(len(r.window)))
		r.window = r.window[:len(r.window)+got]
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("%s: reading at offset %#x: %w", FormatName, r.windowAt+int64(len(r.window)), err)
		}
		if got == 0 {
			return r.window[lo:min(len(r.window), lo+n)], nil
		}
	}
}

// ParseRecord returns the record in b, which was read again at an offset off from a Reader. It
// checks that b still has one record. order is that of the file's header. The record aliases b.
func ParseRecord(b []byte, order binary.ByteOrder, off int64) (Raw, error) {
	var raw Raw
	if len(b) >= prefixSize {
		raw = Raw{ID: RecordID(order.Uint32(b)), Timestamp: order.Uint64(b[8:]), Offset: off, Body: b[prefixSize:], Order: order}
		raw.Missized = int64(order.Uint32(b[4:])) - int64(len(b))
	}
	if wrong := raw.Missized; len(b) < prefixSize || wrong != 0 && (raw.ID != IDDebugInfo || wrong < -maxMissize || wrong > maxMissize) {
		return Raw{}, fmt.Errorf("%s: offset %#x: the file has changed since it was read first", FormatName, off)
	}
	return raw, nil
}
