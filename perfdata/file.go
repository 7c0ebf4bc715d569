package perfdata

import (
	"encoding/binary"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

// A File is a perf.data open for reading.
type File struct {
	Header   *Header
	Attrs    []Attr
	Features []Feature // in the order of their ids

	src io.ReaderAt
	gap []byte // between the feature table and the features
}

// Open reads header, attrs and feature table of a file of size bytes. Input in
// another format gives an error that wraps ErrNotPerfData; a stream in pipe
// format, ErrPipe; a file without any records, ErrNoData.
//
// The File reads from src as it is used and does not close it.
func Open(src io.ReaderAt, size int64) (*File, error) {
	h, err := readHeader(src, size)
	if err != nil {
		return nil, err
	}
	f := &File{Header: h, src: src}
	if f.Attrs, err = readAttrs(src, h, size); err != nil {
		return nil, err
	}
	if f.Features, f.gap, err = readFeatures(src, h, size); err != nil {
		return nil, err
	}
	return f, nil
}

// Feature returns the feature with the given id, or nil.
func (f *File) Feature(id FeatureID) *Feature {
	for i := range f.Features {
		if f.Features[i].ID == id {
			return &f.Features[i]
		}
	}
	return nil
}

// Blocks returns a reader at the start of the data section. Several may be in
// use at once.
func (f *File) Blocks() *BlockReader {
	s := f.Header.Data
	return &BlockReader{src: f.src, order: f.Header.Order, pos: int64(s.Offset), end: int64(s.Offset + s.Size), mayBeCut: f.Header.Unfinished}
}

// A BlockReader reads the data section from front to back in large blocks: a
// loop of pread into one buffer walks records several times faster than a
// memory map does, and a file that shrinks is an error and not a SIGBUS.
type BlockReader struct {
	src      io.ReaderAt
	order    binary.ByteOrder
	pos, end int64 // what is left of the section, [pos, end)
	opaque   int64 // how much of that belongs to an AUXTRACE record
	mayBeCut bool  // the last record may be incomplete, and is left out then
	buf      []byte
}

// blockSize is a multiple of the largest record, 64 KiB.
const blockSize = 256 << 10

// Next returns the next block, valid until the following call, or io.EOF. A
// record that cannot be one gives a *wire.Error; there is no way past it.
func (r *BlockReader) Next() (Block, error) {
	if r.pos == r.end {
		return Block{}, io.EOF
	}
	if r.buf == nil {
		r.buf = make([]byte, blockSize)
	}
	want := min(r.end-r.pos, blockSize)
	if r.opaque > 0 {
		want = min(want, r.opaque)
	}
	n, err := r.src.ReadAt(r.buf[:want], r.pos)
	if int64(n) < want {
		if err == io.EOF {
			err = r.fail(r.pos+int64(n), "the file ends here, %d bytes before the end of its data; has it shrunk?", r.end-r.pos-int64(n))
		}
		return Block{}, err
	}
	b := Block{Data: r.buf[:n], Offset: r.pos, Opaque: r.opaque > 0, order: r.order}
	if b.Opaque {
		r.opaque -= want
	} else if b.Data, err = r.whole(b.Data); err != nil {
		return Block{}, err
	} else if len(b.Data) == 0 {
		r.pos = r.end
		return Block{}, io.EOF
	}
	r.pos += int64(len(b.Data))
	return b, nil
}

// whole returns the part of b that holds whole records, up to the first
// AUXTRACE record.
func (r *BlockReader) whole(b []byte) ([]byte, error) {
	pos := 0
	for len(b)-pos >= recordHead {
		size := int(r.order.Uint16(b[pos+6:]))
		if size < recordHead {
			return nil, r.fail(r.pos+int64(pos), "a record of %d bytes; its header alone has %d", size, recordHead)
		}
		if size > len(b)-pos {
			break
		}
		if RecordType(r.order.Uint32(b[pos:])) == RecordAuxtrace {
			if size < recordHead+8 {
				return nil, r.fail(r.pos+int64(pos), "an AUXTRACE record of %d bytes has no room for its payload's size", size)
			}
			payload := r.order.Uint64(b[pos+recordHead:])
			if left := uint64(r.end-r.pos) - uint64(pos+size); payload > left && r.mayBeCut {
				return b[:pos], nil
			} else if payload > left {
				return nil, r.fail(r.pos+int64(pos), "an AUXTRACE record with %d bytes of payload, but %d bytes of data are left", payload, left)
			}
			r.opaque = int64(payload)
			return b[:pos+size], nil
		}
		pos += size
	}
	if pos == 0 && !r.mayBeCut {
		return nil, r.fail(r.pos, "a record reaches beyond the end of the data, %d bytes away", r.end-r.pos)
	}
	return b[:pos], nil
}

func (r *BlockReader) fail(off int64, format string, args ...any) error {
	c := wire.NewCursor(FormatName, "data", nil, r.order, off)
	c.Fail("", format, args...)
	return c.Err()
}
