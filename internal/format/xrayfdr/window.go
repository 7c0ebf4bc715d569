package xrayfdr

import (
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// The bytes that a reader asks of its file at once, and the bound of what it
// keeps of an event's data.
const (
	windowSize      = 256 << 10
	blockWindowSize = 64 << 10
	maxPayload      = 16 << 20
)

// fill makes the window hold the n bytes at the reader's position, or as many
// as there are before the block's end, and returns how many those are. Records
// read before become invalid.
func (r *Reader) fill(n int) (int, error) {
	at := r.winAt + int64(r.pos)
	left := max(r.end-at, 0)
	if int64(n) > left {
		n = int(left)
	}
	for len(r.win)-r.pos < n {
		if r.pos > 0 {
			r.win = append(r.win[:0], r.win[r.pos:]...)
			r.winAt, r.pos = at, 0
		}
		if len(r.win) == cap(r.win) {
			// Twice what is there: memory is never asked for beyond what the file holds.
			r.win = append(make([]byte, 0, max(r.winSize, 2*len(r.win))), r.win...)
		}
		to := min(int64(cap(r.win)), max(r.limit-at, int64(len(r.win))))
		got, err := r.src.ReadAt(r.win[len(r.win):to], at+int64(len(r.win)))
		r.win = r.win[:len(r.win)+got]
		if got == 0 {
			if err == nil || err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			return 0, fmt.Errorf("%s: reading at offset %#x: %w", FormatName, at+int64(len(r.win)), err)
		}
	}
	r.setLim()
	return n, nil
}

// setLim computes how far the window may be read without asking.
func (r *Reader) setLim() { r.lim = int(min(int64(len(r.win)), r.end-r.winAt)) }

// seek moves to the file offset at, within the window where it is there.
func (r *Reader) seek(at int64) {
	if at >= r.winAt && at <= r.winAt+int64(len(r.win)) {
		r.pos = int(at - r.winAt)
	} else {
		r.win, r.winAt, r.pos = r.win[:0], at, 0
	}
	r.setLim()
}

// offset returns where the next record begins in the file.
func (r *Reader) offset() int64 { return r.winAt + int64(r.pos) }

// bad returns an error about a field of the record at the reader's position.
func (r *Reader) bad(record, field string, at int, format string, args ...any) error {
	return &wire.Error{Format: FormatName, Record: record, Field: field, Offset: r.offset() + int64(at), Text: fmt.Sprintf(format, args...)}
}
