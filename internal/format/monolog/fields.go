package monolog

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/jitinject/jitinject/internal/wire"
)

// The fields. The first error sticks: what is read after it is zero, and the
// window stays where it is.

func (r *Reader) failAt(off int64, field, format string, args ...any) {
	if r.err == nil {
		r.err = &wire.Error{Format: FormatName, Record: r.record(), Field: field, Offset: off, Text: fmt.Sprintf(format, args...)}
	}
}

// record names what is being read.
func (r *Reader) record() string {
	switch {
	case !r.in:
		return "header"
	case r.event.Kind != KindNone:
		return r.event.Kind.String()
	}
	return r.event.Type.String()
}

// short fails because the buffer, or the log, ends in a field.
func (r *Reader) short(off int64, field string) {
	what := "the buffer ends in it"
	if r.left > 0 {
		what = "the log ends in it"
		r.cut = r.err == nil
	}
	r.failAt(off, field, "%s, after %d bytes", what, r.base+int64(r.lim)-off)
}

// bytes returns the next n bytes, aliasing the window if they fit there.
func (r *Reader) bytes(field string, n int) []byte {
	if r.err != nil {
		return nil
	}
	if n <= len(r.buf) {
		if !r.fill(n) {
			r.short(r.offset(), field)
			return nil
		}
		b := r.buf[r.pos : r.pos+n]
		r.pos += n
		return b
	}
	var long []byte
	for off := r.offset(); len(long) < n; {
		if r.pos == r.lim && !r.fill(1) {
			r.short(off, field)
			return nil
		}
		m := min(n-len(long), r.lim-r.pos)
		long = append(long, r.buf[r.pos:r.pos+m]...)
		r.pos += m
	}
	return long
}

func (r *Reader) u8(field string) uint64 {
	if r.pos < r.lim && r.err == nil {
		r.pos++
		return uint64(r.buf[r.pos-1])
	}
	if b := r.bytes(field, 1); b != nil {
		return uint64(b[0])
	}
	return 0
}

func (r *Reader) u16(field string) uint16 {
	if b := r.bytes(field, 2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

func (r *Reader) u32(field string) uint32 {
	if b := r.bytes(field, 4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *Reader) u64(field string) uint64 {
	if b := r.bytes(field, 8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

const maxLeb = 10 // bytes of a number of 64 bits

// leb8 decodes the LEB128 number that the 8 bytes of x begin with. It returns its
// 7*n bits and n, its bytes; if it is longer than 8, n is 9 and the bits are of no use.
func leb8(x uint64) (v uint64, n int) {
	stop := ^x & 0x8080808080808080 // the last byte is the first without this bit
	v = x & 0x7f7f7f7f7f7f7f7f & (stop ^ (stop - 1))
	v = v&0x007f007f007f007f | v&0x7f007f007f007f00>>1 // pairs of 7 bits, then of 14, then of 28
	v = v&0x00003fff00003fff | v&0x3fff00003fff0000>>2
	return v&0x0fffffff | v>>32<<28, bits.TrailingZeros64(stop)>>3 + 1
}

// extend extends the sign of a number of n bytes, up to 9.
func extend(v uint64, n int) uint64 {
	shift := (64 - 7*n) & 63
	return uint64(int64(v<<shift) >> shift)
}

// leb reads a number of up to 8 bytes. n is 0 if it is longer, or near the end of the buffer.
func (r *Reader) leb() (v uint64, n int) {
	if r.lim-r.pos < maxLeb && !r.fill(maxLeb) || r.err != nil {
		return 0, 0
	}
	if v, n = leb8(binary.LittleEndian.Uint64(r.buf[r.pos:])); n > 8 {
		return 0, 0
	}
	r.pos += n
	return v, n
}

// uleb reads an unsigned LEB128 number of up to 64 bits.
func (r *Reader) uleb(field string) uint64 {
	v, n := r.leb()
	if n == 0 {
		v, _ = r.longLeb(field, 1)
	}
	return v
}

// sleb reads a signed one.
func (r *Reader) sleb(field string) uint64 {
	v, n := r.leb()
	if n == 0 {
		v, n = r.longLeb(field, 0x7f)
	}
	if n < maxLeb {
		v = extend(v, n)
	}
	return v
}

// longLeb reads a number that leb does not. The tenth byte of one holds a
// single bit, the sign's copies above it: it is 0 or all.
func (r *Reader) longLeb(field string, all byte) (v uint64, n int) {
	if r.err != nil {
		return 0, 0
	}
	b := r.buf[r.pos:r.lim]
	for n < len(b) && n < maxLeb {
		c := b[n]
		if n == maxLeb-1 && c != 0 && c != all {
			break
		}
		v |= uint64(c&0x7f) << (7 * n)
		n++
		if c < 0x80 {
			r.pos += n
			return v, n
		}
	}
	if n < maxLeb-1 || len(b) == maxLeb-1 {
		r.short(r.offset(), field)
	} else {
		r.failAt(r.offset(), field, "a number of more than 64 bits")
	}
	return 0, 0
}

// ptr reads an address, a difference from ptr_base.
func (r *Reader) ptr(field string) uint64 { return (r.buffer.PtrBase + r.sleb(field)) & r.mask }

// methodDelta reads a method, a difference from the one before.
func (r *Reader) methodDelta(field string) uint64 {
	r.method = (r.method + r.sleb(field)) & r.mask
	return r.method
}

// str reads a string with its NUL, and returns a copy without it.
func (r *Reader) str(field string) []byte {
	if r.err != nil {
		return nil
	}
	off, start := r.offset(), len(r.text)
	for {
		b := r.buf[r.pos:r.lim]
		i := bytes.IndexByte(b, 0)
		if i >= 0 {
			b = b[:i]
		}
		if len(r.text)+len(b) > maxText {
			r.failAt(off, field, "the names of one event have more than %d bytes, the limit", maxText)
			return nil
		}
		r.text = append(r.text, b...)
		r.pos += len(b)
		if i >= 0 {
			r.pos++
			return r.text[start:len(r.text):len(r.text)]
		}
		if !r.fill(1) {
			r.short(off, field)
			return nil
		}
	}
}
