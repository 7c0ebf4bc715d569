package perfdata

import (
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

// A Pipe is a recording in pipe format.
type Pipe struct {
	Order  binary.ByteOrder
	blocks *BlockReader
}

// OpenPipe reads the header of a recording in pipe format. Input in another format gives an error
// that wraps ErrNotPerfData; one in file format, ErrFile.
func OpenPipe(src io.Reader) (*Pipe, error) {
	var head [headerSizePipe]byte
	if n, err := io.ReadFull(src, head[:]); err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, fmt.Errorf("%w: it has only %d bytes", ErrNotPerfData, n)
	} else if err != nil {
		return nil, err
	}
	order, err := orderOf(head[:])
	if err != nil {
		return nil, err
	}
	if order.Uint64(head[8:]) != headerSizePipe {
		return nil, ErrFile
	}
	blocks := newBlockReader(src, order, headerSizePipe, unknownEnd, true)
	blocks.tracing = true
	return &Pipe{Order: order, blocks: blocks}, nil
}

// ErrFile says that a stream is a recording in file format, which needs random access.
var ErrFile = errors.New("perf.data in file format")

// Blocks returns the reader of the records. There is only one.
func (p *Pipe) Blocks() *BlockReader { return p.blocks }

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

// HeaderFeature decodes a HEADER_FEATURE record. ok is false for records with an impossible id, or
// without content: they only mark the end of the features. But the feature BRANCH_STACK has no
// content.
func HeaderFeature(order binary.ByteOrder, rec Record) (id FeatureID, content []byte, ok bool) {
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
		case id == FeatureAuxtrace || id == FeatureDirFormat || id == FeatureCompressed || id > lastPipeFeature:
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

// AppendHeaderAttr appends the record of an event in a pipe.
func AppendHeaderAttr(dst []byte, order binary.ByteOrder, a *Attr) []byte {
	b := wire.AppendTo(dst, order)
	appendHeaderAttr(b, a)
	return b.Data
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
