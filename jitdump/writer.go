package jitdump

import (
	"fmt"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Writer writes a jitdump file, front to back. It is not safe for use by
// several goroutines at once.
type Writer struct {
	dst io.Writer
	buf *wire.Buffer
}

// NewWriter writes the file header to dst.
func NewWriter(dst io.Writer, h *Header) (*Writer, error) {
	if len(h.Extra) > maxHeaderSize-headerSize {
		return nil, fmt.Errorf("%s: a file header of %d bytes: at most %d are allowed", FormatName, h.Size(), maxHeaderSize)
	}
	w := &Writer{dst: dst, buf: wire.NewBuffer(h.Order)}
	h.append(w.buf)
	_, err := dst.Write(w.buf.Data)
	return w, err
}

// Write writes one record with one call of the underlying Write, so that
// several processes can append to one file. rec is not changed and not kept.
//
// Records about a function (DebugInfo, Unwinding) come before its Load, as the
// specification asks; the writer does not check that.
func (w *Writer) Write(timestamp uint64, rec Record) error {
	size := prefixSize + rec.size()
	if size > math.MaxUint32 {
		return fmt.Errorf("%s: %s of %d bytes: a record holds at most 4 GiB", FormatName, rec.id(), size)
	}
	w.buf.Reset(w.buf.Order())
	w.buf.U32(uint32(rec.id()))
	w.buf.U32(uint32(size))
	w.buf.U64(timestamp)
	rec.append(w.buf)
	_, err := w.dst.Write(w.buf.Data)
	return err
}
