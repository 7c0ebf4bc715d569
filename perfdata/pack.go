package perfdata

import (
	"bytes"
	"encoding/binary"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Packer compresses records as perf record -z does: one zstd stream, cut into COMPRESSED records.
// perf's own records stay uncompressed, in their places: some of them have payloads, and readers
// need the ends of rounds.
type Packer struct {
	dst   io.Writer
	order binary.ByteOrder
	enc   *zstd.Encoder
	out   bytes.Buffer
	plain []byte
	first []byte // written before the first compressed record
	head  [recordHead]byte
	err   error
}

// packedPlain is the number of bytes for one record: even incompressible data fits in 64 KiB.
const packedPlain = 60 << 10

// NewPacker returns a packer that writes to dst. level is zstd's, from 1 to 22. first is written
// before the first compressed record.
func NewPacker(dst io.Writer, order binary.ByteOrder, level int, first []byte) (*Packer, error) {
	p := &Packer{dst: dst, order: order, first: first}
	var err error
	p.enc, err = zstd.NewWriter(&p.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
	return p, err
}

// Write appends whole records. After an error every call returns that error.
func (p *Packer) Write(b []byte) (int, error) {
	n := len(b)
	for len(b) > 0 && p.err == nil {
		rec := recordAt(b, p.order, p.order == binary.LittleEndian)
		if rec.Type >= firstUserType {
			p.Raw(rec.Data)
		} else {
			p.plain = append(p.plain, rec.Data...)
			for len(p.plain) >= packedPlain {
				p.pack(packedPlain)
			}
		}
		b = b[len(rec.Data):]
	}
	return n, p.err
}

// Raw writes b uncompressed, after everything written before.
func (p *Packer) Raw(b []byte) {
	if p.Flush(); p.err == nil {
		_, p.err = p.dst.Write(b)
	}
}

// Flush writes the records that wait for compression.
func (p *Packer) Flush() error {
	if len(p.plain) > 0 {
		p.pack(len(p.plain))
	}
	return p.err
}

// pack makes a record of the first n waiting bytes.
func (p *Packer) pack(n int) {
	if p.err != nil {
		return
	}
	p.out.Reset()
	if _, p.err = p.enc.Write(p.plain[:n]); p.err == nil {
		p.err = p.enc.Flush()
	}
	p.plain = p.plain[:copy(p.plain, p.plain[n:])]
	if p.err != nil {
		return
	}
	if len(p.first) > 0 {
		_, p.err = p.dst.Write(p.first)
		p.first = nil
	}
	p.order.PutUint32(p.head[:], uint32(RecordCompressed))
	p.order.PutUint16(p.head[6:], uint16(recordHead+p.out.Len()))
	if p.err == nil {
		_, p.err = p.dst.Write(p.head[:])
	}
	if p.err == nil {
		_, p.err = p.dst.Write(p.out.Bytes())
	}
}

// PackerFeature returns the feature that describes the compression [perf, write_compressed]: u32
// version, type, level, ratio, and the size of a buffer for the content of any record.
func PackerFeature(order binary.ByteOrder, level int) Feature {
	b := wire.NewBuffer(order)
	for _, v := range []uint32{1, 1, uint32(level), 1, packedBuffer} {
		b.U32(v)
	}
	return NewFeature(FeatureCompressed, b.Data)
}

// packedBuffer includes space for the largest record, which may have begun earlier.
const packedBuffer = 512 << 10
