package perfdata

import (
	"bufio"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// A WriteTarget is what a file is written to: forwards, except that the header
// is written last. Until then zeros stand there, which no reader takes for a
// recording.
type WriteTarget interface {
	io.Writer
	io.WriterAt
}

// A Writer writes a perf.data file: records by Write, the rest by Close. It lays
// the file out as perf does: header, ids, attrs, data, features.
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
	ids := make([]Section, len(f.Attrs))
	for i := range f.Attrs {
		ids[i] = Section{uint64(b.Len()), uint64(8 * len(f.Attrs[i].IDs))}
		for _, id := range f.Attrs[i].IDs {
			b.U64(id)
		}
	}
	h.Attrs = Section{uint64(b.Len()), uint64(len(f.Attrs)) * h.AttrSize}
	for i := range f.Attrs {
		b.Bytes(f.Attrs[i].Raw)
		b.U64(ids[i].Offset)
		b.U64(ids[i].Size)
	}
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

// Err returns the error that writing has met, if any.
func (w *Writer) Err() error { return w.err }

// Offset returns the file offset of what is written next.
func (w *Writer) Offset() int64 { return int64(w.pos) }

// Close writes the features, in the order of their ids, and the header. It does
// not close the target.
func (w *Writer) Close(features []Feature) error {
	h := &w.header
	h.Data.Size = w.pos - h.Data.Offset
	if len(features) != h.Features.Count() {
		return fmt.Errorf("%s: %d features for a header that names %d", FormatName, len(features), h.Features.Count())
	}
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
