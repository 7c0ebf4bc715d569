package perfdata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// The pipe format: a header of 16 bytes (magic, size) and then records. The parts of a file's
// header are in records of perf's own, before the records that need them:
//
//	64 HEADER_ATTR     perf_event_attr, u64 ids...
//	66 TRACING_DATA    u32 size; the feature of that size follows the record
//	67 HEADER_BUILD_ID an entry of the build-id table
//	80 HEADER_FEATURE  u64 feature id, content

// OpenPipe begins to read a recording in pipe format. The File gets attrs and features when Next
// comes to them, and has no Blocks of its own. Input in another format gives an error that wraps
// ErrNotPerfData; one in file format, ErrFile.
func OpenPipe(src io.Reader) (*File, *BlockReader, error) {
	var head [headerSizePipe]byte
	if n, err := io.ReadFull(src, head[:]); err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, nil, fmt.Errorf("%w: it has only %d bytes", ErrNotPerfData, n)
	} else if err != nil {
		return nil, nil, err
	}
	order, err := orderOf(head[:])
	if err != nil {
		return nil, nil, err
	}
	if order.Uint64(head[8:]) != headerSizePipe {
		return nil, nil, ErrFile
	}
	f := &File{Header: &Header{Order: order, size: headerSize}, IsPipe: true}
	return f, f.pipeBlocks(src, f), nil
}

// ErrFile says that a stream is a recording in file format, which needs random access.
var ErrFile = errors.New("perf.data in file format")

// openPipe reads all of a recording in pipe format for its header, up to the first impossible record:
// who reads the records comes to that, too.
func openPipe(src io.ReaderAt, size int64) (*File, error) {
	f, blocks, err := OpenPipe(io.NewSectionReader(src, 0, size))
	if err != nil {
		return nil, err
	}
	h := blocks.header
	for h.alone = true; err == nil; {
		_, err = blocks.Next()
	}
	if err != io.EOF && !errors.As(err, new(*Error)) {
		return nil, err
	}
	for id, content := range map[FeatureID][]byte{FeatureTracingData: h.tracing, FeatureBuildID: h.buildIDs} {
		if content != nil {
			f.Features = SetFeature(f.Features, NewFeature(id, content))
		}
	}
	f.src = src
	f.Attrs = sameSize(f.Attrs)
	for i := range f.Attrs {
		f.Header.AttrSize = uint64(len(f.Attrs[i].Raw)) + 16
	}
	f.Header.Data = Section{headerSizePipe, uint64(size) - headerSizePipe}
	f.Header.setFeatures(f.Features)
	return f, nil
}

// pipeBlocks returns a reader of the records after the first header. to gets the header, unless it is nil.
func (f *File) pipeBlocks(src io.Reader, to *File) *BlockReader {
	r := newBlockReader(src, f.Header.Order, headerSizePipe, unknownEnd, true)
	r.header = &pipeHeader{order: f.Header.Order, file: to}
	return r
}

// A pipeHeader collects what a pipe has in records, and a file in its header.
type pipeHeader struct {
	order    binary.ByteOrder
	file     *File // gets attrs and features; nil if it has them
	alone    bool  // the data are not wanted, and stay compressed
	within   bool  // the next payload is of TRACING_DATA
	tracing  []byte
	buildIDs []byte // the table
}

// isOfHeader reports whether a pipe has a record instead of a part of a file's header.
func isOfHeader(t RecordType) bool {
	return t == RecordHeaderAttr || t == RecordTracingData || t == RecordHeaderBuildID || t == RecordHeaderFeature
}

// payload adds a part of TRACING_DATA.
func (h *pipeHeader) payload(b []byte) {
	if h.file != nil {
		h.tracing = append(h.tracing, b...)
	}
}

// add adds a record other than TRACING_DATA. The error is about an event.
func (h *pipeHeader) add(rec Record) error {
	attr := Attr{}
	var err error
	if rec.Type == RecordHeaderAttr {
		attr, err = HeaderAttr(h.order, rec)
	}
	if h.file == nil || err != nil {
		return err
	}
	switch rec.Type {
	case RecordHeaderAttr:
		h.file.Attrs = append(h.file.Attrs, attr)
	case RecordHeaderFeature:
		if id, content, ok := headerFeature(h.order, rec); ok {
			h.file.Features = SetFeature(h.file.Features, NewFeature(id, bytes.Clone(content)))
		}
	case RecordHeaderBuildID: // an entry of the table, but for the type
		at := len(h.buildIDs)
		h.buildIDs = append(h.buildIDs, rec.Data...)
		h.order.PutUint32(h.buildIDs[at:], 0)
	}
	return nil
}

// HeaderAttr decodes a HEADER_ATTR record.
func HeaderAttr(order binary.ByteOrder, rec Record) (Attr, error) {
	c := wire.NewCursor(FormatName, rec.Type.String(), rec.Data[recordHead:], order, recordHead)
	size := uint64(attrSizeMin)
	if c.Len() >= 8 {
		if n := order.Uint32(rec.Data[recordHead+4:]); n != 0 {
			size = uint64(n)
		}
	}
	if size < attrSizeMin || size > attrSizeMax {
		c.Bad("attr.size", "is %d; a perf_event_attr has at least %d bytes", size, attrSizeMin)
	}
	a := Attr{Raw: append([]byte(nil), c.Bytes("attr", size)...), order: order}
	for c.Err() == nil && c.Len() >= 8 {
		a.IDs = append(a.IDs, c.U64("id"))
	}
	return a, c.Err()
}

// headerFeature decodes a HEADER_FEATURE record. ok is false for records with an impossible id, or
// without content: they only mark the end of the features. But the feature BRANCH_STACK has no
// content.
func headerFeature(order binary.ByteOrder, rec Record) (id FeatureID, content []byte, ok bool) {
	if len(rec.Data) < recordHead+8 {
		return 0, nil, false
	}
	n := order.Uint64(rec.Data[recordHead:])
	id, content = FeatureID(n), rec.Data[recordHead+8:]
	return id, content, n > 0 && n < 256 && (len(content) > 0 || id == FeatureBranchStack)
}

// AppendPreamble appends the records that replace the header of f in a pipe: its attrs, features,
// tracing data and build ids.
func AppendPreamble(dst []byte, f *File) ([]byte, error) {
	b := wire.AppendTo(dst, f.Header.Order)
	for i := range f.Attrs {
		if n := len(f.Attrs[i].IDs); n > maxPipeIDs {
			return nil, fmt.Errorf("%s: event %d has %d ids, and a pipe has room for %d", FormatName, i, n, maxPipeIDs)
		}
		appendHeaderAttr(b, &f.Attrs[i])
	}
	for i := range f.Features {
		content, err := f.Features[i].Bytes()
		if err != nil {
			return nil, err
		}
		switch id := f.Features[i].ID; {
		case id == FeatureTracingData:
			padded := (len(content) + 7) &^ 7
			appendHead(b, RecordTracingData, recordHead+4)
			b.U32(uint32(padded))
			b.Bytes(content)
			b.Zeros(padded - len(content))
		case id == FeatureBuildID:
			appendBuildIDs(b, content)
		case id == FeatureAuxtrace || id == FeatureDirFormat || id == FeatureCompressed || id > lastPipeFeature && !f.IsPipe:
			// About the layout of the file, or unreadable for some perfs.
		case len(content) > maxRecord-recordHead-8:
			// perf drops too long ones, too.
		default:
			appendHeaderFeature(b, id, content)
		}
	}
	return b.Data, nil
}

// AppendHeaderFeature appends the record of a feature in a pipe.
func AppendHeaderFeature(dst []byte, order binary.ByteOrder, f *Feature) ([]byte, error) {
	content, err := f.Bytes()
	b := wire.AppendTo(dst, order)
	appendHeaderFeature(b, f.ID, content)
	return b.Data, err
}

func appendHeaderFeature(b *wire.Buffer, id FeatureID, content []byte) {
	appendHead(b, RecordHeaderFeature, recordHead+8+len(content))
	b.U64(uint64(id))
	b.Bytes(content)
}

// lastPipeFeature is the last feature of perf 6.1. perf ignores features of newer perfs in a file,
// but fails on them in a pipe.
const lastPipeFeature = FeaturePMUCaps

func appendHead(b *wire.Buffer, typ RecordType, size int) {
	b.U32(uint32(typ))
	b.U16(0)
	b.U16(uint16(size))
}

// pipeAttrSize is the size of perf_event_attr in Linux 5.14 to 6.2. Perfs of that time assume this
// size in a pipe.
const pipeAttrSize = 128

// maxPipeIDs is how many ids of an event fit into its record.
const maxPipeIDs = (maxRecord - recordHead - attrSizeMax) / 8

func appendHeaderAttr(b *wire.Buffer, a *Attr) {
	size := max(len(a.Raw), pipeAttrSize)
	appendHead(b, RecordHeaderAttr, recordHead+size+8*len(a.IDs))
	b.U32(a.Type())
	b.U32(uint32(size))
	b.Bytes(a.Raw[8:])
	b.Zeros(size - len(a.Raw))
	for _, id := range a.IDs {
		b.U64(id)
	}
}

// appendBuildIDs appends the entries of a build-id table as records. Records differ only in their
// type, and have sizes that are multiples of 8.
func appendBuildIDs(b *wire.Buffer, table []byte) {
	order := b.Order()
	for len(table) >= recordHead {
		size := int(order.Uint16(table[6:]))
		if size < recordHead || size > len(table) {
			return
		}
		padded := (size + 7) &^ 7
		b.U32(uint32(RecordHeaderBuildID))
		b.Bytes(table[4:6])
		b.U16(uint16(padded))
		b.Bytes(table[8:size])
		b.Zeros(padded - size)
		table = table[size:]
	}
}

// A PipeWriter writes a recording in pipe format.
type PipeWriter struct {
	dst io.Writer
	pos int64
	err error
}

// NewPipeWriter starts a stream.
func NewPipeWriter(dst io.Writer, order binary.ByteOrder) *PipeWriter {
	w := &PipeWriter{dst: dst}
	head := wire.NewBuffer(order)
	if order == binary.BigEndian {
		head.Bytes([]byte(magicBigEndian))
	} else {
		head.Bytes([]byte(magic))
	}
	head.U64(headerSizePipe)
	w.Write(head.Data)
	return w
}

// Write writes whole records and payloads at once. After an error every call returns that error.
func (w *PipeWriter) Write(p []byte) (int, error) {
	if w.err != nil || len(p) == 0 {
		return 0, w.err
	}
	n, err := w.dst.Write(p)
	w.pos += int64(n)
	w.err = err
	return n, err
}

// Err returns the first error of writing, if any.
func (w *PipeWriter) Err() error { return w.err }

// Offset returns the number of bytes written.
func (w *PipeWriter) Offset() int64 { return w.pos }
