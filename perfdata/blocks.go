package perfdata

import (
	"encoding/binary"
	"io"
	"runtime"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Stream returns the records of a recording in order.
type Stream interface {
	// Next returns the next block, valid until the following call, or io.EOF. An impossible record
	// gives an *Error, and no further blocks.
	Next() (Block, error)

	// Cut returns the offset of a record that the end of the input cuts, or -1. It is valid after
	// Next has returned io.EOF. The record is in no block.
	Cut() int64
}

// A BlockReader is the Stream of one file, section or pipe. It reads large blocks into one buffer.
// This walks records several times faster than a memory map does, and a file that shrinks gives an
// error and not a SIGBUS. From a pipe it reads the available data, and waits only for the end of a
// record.
//
// Compressed records are replaced by their content.
type BlockReader struct {
	src      io.Reader
	order    binary.ByteOrder
	offset   int64       // of buf[lo] in the file
	end      int64       // end offset of the input, or unknownEnd
	opaque   int64       // bytes of payload still to come
	mayBeCut bool        // the last record may be incomplete, and is dropped then
	header   *pipeHeader // gets the records of a pipe that are no data; nil for other inputs
	pos      int64       // of the next block in the stream of uncompressed records
	cut      int64
	buf      []byte
	lo, hi   int  // used part of buf
	little   bool // the order, for the hot path

	unpack   *unpacker // nil before the first compressed record
	packedAt int64     // offset of the compressed record in unpack
}

const unknownEnd = -1

const (
	maxRecord = 1<<16 - 1
	blockSize = 256 << 10 // bytes read at once
)

// newBlockReader reads size bytes from src, which are at offset in their file. With unknownEnd, it
// reads to the end of src.
func newBlockReader(src io.Reader, order binary.ByteOrder, offset, size int64, mayBeCut bool) *BlockReader {
	end := int64(unknownEnd)
	if size != unknownEnd {
		end = offset + size
	}
	return &BlockReader{src: src, order: order, little: order == binary.LittleEndian, offset: offset, end: end, mayBeCut: mayBeCut, cut: -1}
}

// Next implements Stream.
func (r *BlockReader) Next() (Block, error) {
	for {
		if r.unpack != nil {
			b, err := r.unpack.records(r.order)
			if err != nil {
				return Block{}, r.fail(r.packedAt, "%v", err)
			}
			if len(b) > 0 {
				block := r.block(b, r.packedAt, false)
				block.Packed = true
				return block, nil
			}
		}
		if r.opaque > 0 && r.hi > r.lo {
			b := r.take(int(min(r.opaque, int64(r.hi-r.lo))))
			r.opaque -= int64(len(b))
			if r.header != nil && r.header.within {
				r.header.payload(b)
				continue
			}
			return r.block(b, r.offset-int64(len(b)), true), nil
		}
		if r.opaque == 0 {
			n, apart, err := r.whole(r.buf[r.lo:r.hi])
			if err != nil {
				return Block{}, err
			}
			if apart {
				if err := r.useRecord(n); err != nil {
					return Block{}, err
				}
				continue
			}
			if n > 0 {
				b := r.take(n)
				return r.block(b, r.offset-int64(n), false), nil
			}
		}
		if err := r.fill(); err != nil {
			return Block{}, err
		}
	}
}

// Offset returns the file offset of the next block.
func (r *BlockReader) Offset() int64 { return r.offset }

// SkipTo goes on at a later offset of the file, at the start of a record. The skipped part must not
// contain compressed records, or records with payloads.
func (r *BlockReader) SkipTo(offset int64) error {
	n := offset - r.offset
	if ahead := n - int64(r.hi-r.lo); ahead > 0 {
		r.lo = r.hi
		if _, err := r.src.(io.Seeker).Seek(ahead, io.SeekCurrent); err != nil {
			return err
		}
	} else {
		r.lo += int(n)
	}
	r.offset += n
	r.pos += n
	return nil
}

// Cut implements Stream.
func (r *BlockReader) Cut() int64 { return r.cut }

func (r *BlockReader) block(b []byte, offset int64, opaque bool) Block {
	block := Block{Data: b, Offset: offset, Pos: r.pos, Opaque: opaque, order: r.order, little: r.little}
	r.pos += int64(len(b))
	return block
}

// take returns the next n bytes of the buffer.
func (r *BlockReader) take(n int) []byte {
	b := r.buf[r.lo : r.lo+n : r.lo+n]
	r.lo += n
	r.offset += int64(n)
	return b
}

// fill reads more data. At the end of the input it returns io.EOF.
func (r *BlockReader) fill() error {
	if r.buf == nil {
		size := int64(blockSize + maxRecord + 1)
		if r.end != unknownEnd {
			size = min(size, r.end-r.offset+1) // a directory may have thousands of small files
		}
		r.buf = make([]byte, size)
	}
	r.hi = copy(r.buf, r.buf[r.lo:r.hi])
	r.lo = 0
	n, err := r.src.Read(r.buf[r.hi:min(len(r.buf), r.hi+blockSize)])
	r.hi += n
	if n > 0 || err == nil {
		return nil
	}
	if err != io.EOF {
		return err
	}
	at := r.offset + int64(r.hi)
	switch {
	case r.end != unknownEnd && at < r.end:
		return r.fail(at, "the file ends here, %d bytes before the end of its data; has it shrunk?", r.end-at)
	case r.hi > 0 && !r.mayBeCut:
		return r.fail(r.offset, "a record reaches beyond the end of the data, %d bytes away", r.hi)
	case r.hi > 0 || r.opaque > 0:
		r.cut = r.offset
	case r.unpack != nil && r.unpack.partial() > 0:
		r.cut = r.packedAt
	}
	if r.unpack != nil {
		r.unpack.stop()
	}
	return io.EOF
}

// whole returns the length of whole records at the start of b. They end after a record with a
// payload, and before a compressed one, or one of a pipe's header. If b begins with such a record,
// apart is true and n its size.
func (r *BlockReader) whole(b []byte) (n int, apart bool, err error) {
	pos := 0
	for len(b)-pos >= recordHead {
		head := b[pos : pos+recordHead]
		var size int
		var typ RecordType
		if r.little { // without the interface, for speed: this is the hot path
			size, typ = int(binary.LittleEndian.Uint16(head[6:])), RecordType(binary.LittleEndian.Uint32(head))
		} else {
			size, typ = int(r.order.Uint16(head[6:])), RecordType(r.order.Uint32(head))
		}
		if size < recordHead {
			return 0, false, r.fail(r.offset+int64(pos), "a record of %d bytes; its header alone has %d", size, recordHead)
		}
		if size > len(b)-pos {
			break
		}
		switch {
		case typ < firstUserType:
		case typ == RecordCompressed || typ == RecordCompressed2 || r.header != nil && isOfHeader(typ):
			if pos == 0 {
				return size, true, nil
			}
			return pos, false, nil
		case typ == RecordAuxtrace:
			if r.opaque, err = r.payload(typ, b[pos:pos+size], int64(pos)); err != nil {
				return 0, false, err
			}
			if r.header != nil {
				r.header.within = false
			}
			return pos + size, false, nil
		}
		pos += size
	}
	return pos, false, nil
}

// payload returns the size of the data after a record, in bytes.
func (r *BlockReader) payload(typ RecordType, rec []byte, at int64) (int64, error) {
	var size uint64
	switch {
	case typ == RecordTracingData && len(rec) >= recordHead+4:
		size = uint64(r.order.Uint32(rec[recordHead:]))
	case typ == RecordAuxtrace && len(rec) >= recordHead+8:
		size = r.order.Uint64(rec[recordHead:])
	default:
		return 0, r.fail(r.offset+at, "%s of %d bytes has no room for its payload's size", typ, len(rec))
	}
	if r.end == unknownEnd && size < 1<<62 {
		return int64(size), nil
	}
	if left := uint64(r.end-r.offset-at) - uint64(len(rec)); size > left && !r.mayBeCut || size >= 1<<62 {
		return 0, r.fail(r.offset+at, "%s with %d bytes of payload, but %d bytes of data are left", typ, size, left)
	}
	return int64(size), nil
}

// useRecord uses the next n bytes, a record that is in no block.
func (r *BlockReader) useRecord(n int) (err error) {
	rec := recordAt(r.buf[r.lo:r.lo+n], r.order, r.little)
	switch {
	case rec.Type == RecordTracingData:
		r.opaque, err = r.payload(rec.Type, rec.Data, 0)
		r.header.within = true
	case isOfHeader(rec.Type):
		err = r.header.add(rec)
	case r.header == nil || !r.header.alone:
		r.packedAt = r.offset
		err = r.unpackRecord(rec.Data)
	}
	r.take(n)
	return err
}

// unpackRecord passes a compressed record to the unpacker.
func (r *BlockReader) unpackRecord(rec []byte) error {
	data := rec[recordHead:]
	if RecordType(r.order.Uint32(rec)) == RecordCompressed2 {
		// Padded to a multiple of 8: the first word is the size of the data.
		if len(data) < 8 || r.order.Uint64(data) > uint64(len(data)-8) {
			return r.fail(r.packedAt, "%s of %d bytes does not hold as many as it says", RecordCompressed2, len(rec))
		}
		data = data[8 : 8+r.order.Uint64(data)]
	}
	if r.unpack == nil {
		r.unpack = newUnpacker()
		runtime.AddCleanup(r, func(stop func()) { stop() }, r.unpack.stop)
	}
	r.unpack.feed(data)
	return nil
}

func (r *BlockReader) fail(off int64, format string, args ...any) error {
	c := wire.NewCursor(FormatName, "data", nil, r.order, off)
	c.Fail("", format, args...)
	return c.Err()
}
