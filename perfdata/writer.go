package perfdata

import (
	"bufio"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// A WriteTarget is the destination of a file. It is written in order, except that the header comes
// last. Until then the header is zero, and no reader accepts the file as a recording.
type WriteTarget interface {
	io.Writer
	io.WriterAt
}

// A Writer writes a perf.data file: records by Write, the rest by Close. The file has perf's
// layout: header, ids, attrs, data, features.
type Writer struct {
	dst    WriteTarget
	buf    *bufio.Writer
	header Header
	gap    []byte
	pos    uint64
	err    error
}

// NewWriter starts a file with attrs, ids, event types and byte order of f.
func NewWriter(dst WriteTarget, f *File) (*Writer, error) {
	w := &Writer{dst: dst, buf: bufio.NewWriterSize(dst, blockSize), header: *f.Header, gap: f.gap}
	h := &w.header
	b := wire.NewBuffer(h.Order)
	b.Zeros(int(h.size))
	b.Bytes(h.placeAttrs(f.Attrs, h.size))
	if h.EventTypes.Size > 0 {
		types := make([]byte, h.EventTypes.Size)
		if n, err := f.src.ReadAt(types, int64(h.EventTypes.Offset)); n < len(types) {
			return nil, fmt.Errorf("%s: event types at offset %#x: %w", FormatName, h.EventTypes.Offset, err)
		}
		h.EventTypes.Offset = uint64(b.Len())
		b.Bytes(types)
	}
	h.Data = Section{Offset: uint64(b.Len())}
	_, err := w.Write(b.Data)
	return w, err
}

// placeAttrs returns ids and attrs for the file offset at.
func (h *Header) placeAttrs(attrs []Attr, at uint64) []byte {
	b := wire.NewBuffer(h.Order)
	ids := make([]Section, len(attrs))
	for i := range attrs {
		ids[i] = Section{at + uint64(b.Len()), uint64(8 * len(attrs[i].IDs))}
		for _, id := range attrs[i].IDs {
			b.U64(id)
		}
	}
	h.Attrs = Section{at + uint64(b.Len()), uint64(len(attrs)) * h.AttrSize}
	for i := range attrs {
		b.Bytes(attrs[i].Raw)
		b.Zeros(int(h.AttrSize) - 16 - len(attrs[i].Raw))
		b.U64(ids[i].Offset)
		b.U64(ids[i].Size)
	}
	return b.Data
}

// Write appends bytes of the data section: whole records and AUXTRACE payloads.
// After an error every call returns that error.
func (w *Writer) Write(p []byte) (int, error) {
	if w.err != nil {
		return 0, w.err
	}
	n, err := w.buf.Write(p)
	w.pos += uint64(n)
	w.err = err
	return n, err
}

// CopyRange appends n bytes of the data section from src, from an offset on. The kernel copies the
// bytes if it can.
func (w *Writer) CopyRange(src io.ReadSeeker, offset, n int64) error {
	if w.err == nil {
		w.err = w.buf.Flush()
	}
	if w.err == nil {
		_, w.err = src.Seek(offset, io.SeekStart)
	}
	if w.err == nil {
		var copied int64
		copied, w.err = io.Copy(w.dst, io.LimitReader(src, n))
		w.pos += uint64(copied)
		if w.err == nil && copied < n {
			w.err = fmt.Errorf("%s: offset %#x: the file ends here; has it shrunk?", FormatName, offset+copied)
		}
	}
	return w.err
}

// Err returns the first error of writing, if any.
func (w *Writer) Err() error { return w.err }

// Offset returns the file offset of the next write.
func (w *Writer) Offset() int64 { return int64(w.pos) }

// Close writes the features, in the order of their ids, and the header. It does not close the target.
// perf refuses a file without data, so Close returns ErrNoData for that.
func (w *Writer) Close(features []Feature) error {
	h := &w.header
	if h.Data.Size = w.pos - h.Data.Offset; h.Data.Size == 0 && w.err == nil {
		return ErrNoData
	}
	h.setFeatures(features)
	table := wire.NewBuffer(h.Order)
	at := w.pos + uint64(16*len(features)+len(w.gap))
	for i := range features {
		size := uint64(features[i].Content.Size())
		table.U64(at)
		table.U64(size)
		at += size
	}
	table.Bytes(w.gap)
	w.Write(table.Data)
	for i := range features {
		if w.err != nil {
			break
		}
		content := io.NewSectionReader(features[i].Content, 0, features[i].Content.Size())
		if n, err := io.Copy(w, content); err == nil && n < content.Size() {
			w.err = fmt.Errorf("%s: feature %d: %w", FormatName, features[i].ID, io.ErrUnexpectedEOF)
		} else if err != nil {
			w.err = err
		}
	}
	if w.err == nil {
		w.err = w.buf.Flush()
	}
	if w.err != nil {
		return w.err
	}
	head := wire.NewBuffer(h.Order)
	h.append(head)
	_, w.err = w.dst.WriteAt(head.Data, 0)
	return w.err
}
