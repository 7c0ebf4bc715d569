package jitdump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
)

// ErrCut says that the file ends inside a record: its producer was killed, or
// is still writing. Callers test for it with errors.Is.
var ErrCut = errors.New("the file ends inside a record")

// ErrTooLarge says that a record is larger than MaxRecord.
var ErrTooLarge = errors.New("the record is too large to be believed")

// MaxRecord bounds the records that a Reader hands out, in bytes. No function
// is as large, but a sparse file of nothing costs little to make.
const MaxRecord = 64 << 20

// blockSize is how much the reader asks of the file at once.
const blockSize = 256 << 10

// A Reader walks the records of a file.
type Reader struct {
	src    io.ReaderAt
	header *Header
	next   int64 // offset of the next record

	// window holds the file's bytes from windowAt on.
	window   []byte
	windowAt int64
}

// NewReader reads the file header and returns a reader that stands at the first
// record. It reads from src at growing offsets, a block at a time. A file of
// another format gives an error that wraps ErrNotJitdump.
func NewReader(src io.ReaderAt) (*Reader, error) {
	h, err := readHeader(src)
	if err != nil {
		return nil, err
	}
	return &Reader{src: src, header: h, next: h.Size()}, nil
}

// Header returns the file header. It belongs to the reader.
func (r *Reader) Header() *Header { return r.header }

// Offset returns where the next record is looked for.
func (r *Reader) Offset() int64 { return r.next }

// Next returns the next record; its body is valid until the next call.
//
// At the end of the file it returns io.EOF, and where the end cuts a record, an
// error that wraps ErrCut. It does not move then: when the file has grown, Next
// goes on where it stood. A prefix that cannot be one gives a *Error, and
// Next does not move either; Resync may get past it.
func (r *Reader) Next() (Raw, error) {
	if err := r.skipPadding(); err != nil {
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

// Records yields the records from where the reader stands to the end of the file, as Next
// returns them: a body is valid in its turn of the loop. Where Next returns an error, it
// comes instead of a record, and the loop goes on if the reader has moved: past a record
// that is too large, or to one that the loop has found by Resync. Otherwise it ends.
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
	b, err := r.at(off, int(size))
	if err != nil {
		return Raw{}, err
	}
	if len(b) < int(size) {
		return Raw{}, fmt.Errorf("%s: %s at offset %#x: %w: it needs %d bytes, %d are there", FormatName, id, off, ErrCut, size, len(b))
	}
	return Raw{ID: id, Timestamp: ts, Offset: off, Body: b[prefixSize:size], Order: r.header.Order}, nil
}

// prefix reads the three fields in front of every record.
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

// at returns n bytes at offset off, or fewer where the file ends. They are
// valid until the next call. A record that claims much is read block by block,
// so that memory is never asked for beyond twice what the file holds.
func (r *Reader) at(off int64, n int) ([]byte, error) {
	if have := r.windowAt + int64(len(r.window)); off < r.windowAt || off > have {
		r.window, r.windowAt = r.window[:0], off
	}
	for {
		lo := int(off - r.windowAt)
		if len(r.window)-lo >= n {
			return r.window[lo : lo+n], nil
		}
		// Where the room behind is short, move what is still wanted to the front.
		if cap(r.window)-lo < n {
			r.window = append(r.window[:0], r.window[lo:]...)
			r.windowAt, lo = off, 0
		}
		if len(r.window) == cap(r.window) {
			r.window = append(r.window, make([]byte, max(blockSize, len(r.window)))...)[:len(r.window)]
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

// ParseRecord returns the record in b, which a Reader found at offset off and
// which was read again since. It checks that b still holds one record; order is
// that of the file's header. The record aliases b.
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
