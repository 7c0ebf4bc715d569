package jitdump

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Writer writes a jitdump file in order. Only one goroutine may use it at a time.
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

// Write writes one record with one call of the underlying Write, so that several processes can
// append to one file. It does not change or keep rec. It rejects records that readers would
// misread, such as a name with a NUL.
//
// Records about a function (DebugInfo, Unwinding) precede its Load, as the specification requires.
// The writer does not check that.
func (w *Writer) Write(timestamp uint64, rec Record) error {
	if err := writable(rec); err != nil {
		return fmt.Errorf("%s: %s: %w", FormatName, rec.id(), err)
	}
	size := prefixSize + rec.size()
	if uint64(size) > math.MaxUint32 {
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

// writable returns an error if a record could not be read again.
func writable(rec Record) error {
	var names [][]byte
	switch r := rec.(type) {
	case *Load:
		names = [][]byte{r.Name}
	case *DebugInfo2:
		names = append(append(names, r.Files...), r.Names...)
	case *EmbeddedSource:
		names = [][]byte{r.Name}
		if len(r.Name) == 0 {
			return errors.New("the file has no name")
		}
	case *OpenJ9Metadata:
		return r.writable()
	case *Tier:
		names = [][]byte{r.Name}
		if r.Number == 0 || r.Number > 255 {
			return fmt.Errorf("number %d; tiers have numbers from 1 to 255", r.Number)
		}
	}
	for _, name := range names {
		if bytes.IndexByte(name, 0) >= 0 {
			return fmt.Errorf("the name %q has a NUL in it", name)
		}
	}
	return nil
}
