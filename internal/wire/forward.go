package wire

import (
	"fmt"
	"io"
)

// A Forward writes a file from front to back, small pieces collected into large ones,
// with holes where nothing has to be written. Flush comes last.
type Forward struct {
	w       io.WriterAt
	at      int64 // of the first byte that is pending
	pending []byte
	err     error
}

const (
	forwardMax = 256 << 10 // bytes that are collected before they are written
	holeMin    = 4 << 10   // bytes that are left out, rather than written as zeros
)

// NewForward returns a Forward that begins at an offset.
func NewForward(w io.WriterAt, offset int64) *Forward { return &Forward{w: w, at: offset} }

// Reset makes f begin anew, without giving up its memory.
func (f *Forward) Reset(w io.WriterAt, offset int64) {
	*f = Forward{w: w, at: offset, pending: f.pending[:0]}
}

// Bytes writes p. What it points to may change afterwards.
func (f *Forward) Bytes(p []byte) {
	if len(f.pending)+len(p) > forwardMax {
		f.flush()
	}
	if len(p) >= forwardMax {
		f.now(p)
		return
	}
	f.pending = append(f.pending, p...)
}

// SkipTo goes on at an offset; what is in between is zero. Going back is an error.
func (f *Forward) SkipTo(offset int64) {
	gap := offset - f.at - int64(len(f.pending))
	if gap < 0 {
		if f.err == nil {
			f.err = fmt.Errorf("a file is written forwards, but %d bytes back are asked for", -gap)
		}
		return
	}
	if gap < holeMin {
		f.pending = append(f.pending, make([]byte, gap)...)
		return
	}
	f.flush()
	f.at = offset
}

// Leave goes on n bytes further, and leaves those alone: somebody else writes them.
func (f *Forward) Leave(n int64) {
	f.flush()
	f.at += n
}

// Flush writes what is pending and returns the first error.
func (f *Forward) Flush() error {
	f.flush()
	return f.err
}

func (f *Forward) flush() {
	p := f.pending
	f.pending = f.pending[:0]
	f.now(p)
}

func (f *Forward) now(p []byte) {
	if f.err == nil && len(p) > 0 {
		_, f.err = f.w.WriteAt(p, f.at)
	}
	f.at += int64(len(p))
}
