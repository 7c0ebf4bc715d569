package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// A Buffer collects bytes in one byte order, forwards only. Reset makes it
// usable again without giving up its memory. The zero Buffer writes little
// endian.
type Buffer struct {
	Data []byte
	big  bool
	err  error
}

// NewBuffer returns an empty buffer that writes in the given byte order.
func NewBuffer(order binary.ByteOrder) *Buffer { return AppendTo(nil, order) }

// AppendTo returns a buffer that appends to dst.
func AppendTo(dst []byte, order binary.ByteOrder) *Buffer {
	return &Buffer{Data: dst, big: order == binary.BigEndian}
}

// Reset empties the buffer and sets its byte order. Slices of Data taken before
// are overwritten by later writes.
func (b *Buffer) Reset(order binary.ByteOrder) {
	b.Data = b.Data[:0]
	b.big = order == binary.BigEndian
	b.err = nil
}

// Err returns the first failure since Reset: a part longer than the length in
// front of it can say.
func (b *Buffer) Err() error { return b.err }

// Order returns the byte order of multi-byte fields.
func (b *Buffer) Order() binary.ByteOrder {
	if b.big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Len returns the number of bytes written since Reset.
func (b *Buffer) Len() int { return len(b.Data) }

// U8 appends one byte.
//
//go:noinline
func (b *Buffer) U8(v uint8) { b.Data = append(b.Data, v) }

// Appending is not inlined: that made the program 110 kB larger, at hundreds of places with code for both orders.

// U16 appends two bytes.
func (b *Buffer) U16(v uint16) {
	if b.big {
		b.Data = binary.BigEndian.AppendUint16(b.Data, v)
	} else {
		b.Data = binary.LittleEndian.AppendUint16(b.Data, v)
	}
}

// U32 appends four bytes.
//
//go:noinline
func (b *Buffer) U32(v uint32) {
	if b.big {
		b.Data = binary.BigEndian.AppendUint32(b.Data, v)
	} else {
		b.Data = binary.LittleEndian.AppendUint32(b.Data, v)
	}
}

// U64 appends eight bytes.
//
//go:noinline
func (b *Buffer) U64(v uint64) {
	if b.big {
		b.Data = binary.BigEndian.AppendUint64(b.Data, v)
	} else {
		b.Data = binary.LittleEndian.AppendUint64(b.Data, v)
	}
}

// Word appends v in size bytes, 4 or 8: an address or offset. Its width
// depends on the target.
func (b *Buffer) Word(v uint64, size int) {
	if size == 8 {
		b.U64(v)
	} else {
		b.U32(uint32(v))
	}
}

// Bytes appends p.
//
//go:noinline
func (b *Buffer) Bytes(p []byte) { b.Data = append(b.Data, p...) }

// CString appends s and a NUL.
func (b *Buffer) CString(s string) { b.Data = append(append(b.Data, s...), 0) }

// Uleb appends v as an unsigned LEB128 number [DWARF5 7.6].
//
//go:noinline
func (b *Buffer) Uleb(v uint64) { b.Data = binary.AppendUvarint(b.Data, v) }

// Sleb appends v as a signed LEB128 number [DWARF5 7.6].
func (b *Buffer) Sleb(v int64) {
	for {
		low := byte(v & 0x7f)
		v >>= 7
		if (v == 0 && low&0x40 == 0) || (v == -1 && low&0x40 != 0) {
			b.Data = append(b.Data, low)
			return
		}
		b.Data = append(b.Data, low|0x80)
	}
}

// Zeros appends n zero bytes.
func (b *Buffer) Zeros(n int) {
	for ; n > 0; n -= len(zeros) {
		b.Data = append(b.Data, zeros[:min(n, len(zeros))]...)
	}
}

var zeros [64]byte

// Align appends zeros until the length is a multiple of n, a power of two.
func (b *Buffer) Align(n int) { b.Zeros(-len(b.Data) & (n - 1)) }

// Prefixed32 appends a four-byte length and the bytes that f appends; the
// length counts only the latter.
func (b *Buffer) Prefixed32(f func()) {
	at := len(b.Data)
	b.U32(0)
	f()
	n := len(b.Data) - at - 4
	if uint64(n) > math.MaxUint32 && b.err == nil {
		b.err = fmt.Errorf("%d bytes do not fit after a 32-bit length", n)
	}
	b.Order().PutUint32(b.Data[at:], uint32(n))
}
