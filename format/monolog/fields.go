package monolog

import (
	"bytes"
	"encoding/binary"
	"fmt"

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

// short fails because n bytes are not there.
func (r *Reader) short(field string, n int) {
	what := "the buffer ends"
	if r.left > 0 {
		what = "the log ends"
	}
	r.failAt(r.offset(), field, "%s: it needs %d bytes, %d are left", what, n, r.lim-r.pos)
}

// bytes returns the next n bytes, aliasing the window if they fit there.
func (r *Reader) bytes(field string, n int) []byte {
	if r.err != nil {
		return nil
	}
	if n <= len(r.buf) {
		if !r.fill(n) {
			r.short(field, n)
			return nil
		}
		b := r.buf[r.pos : r.pos+n]
		r.pos += n
		return b
	}
	var long []byte
	for len(long) < n {
		if r.pos == r.lim && !r.fill(1) {
			r.short(field, n-len(long))
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

// uleb reads an unsigned LEB128 number of up to 64 bits.
func (r *Reader) uleb(field string) (v uint64) {
	if r.err != nil {
		return 0
	}
	r.fill(maxLeb)
	b := r.buf[r.pos:r.lim]
	for i := 0; i < len(b) && i < maxLeb; i++ {
		c := b[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if i == maxLeb-1 && c > 1 {
				break
			}
			r.pos += i + 1
			return v
		}
	}
	r.badLeb(field, len(b))
	return 0
}

// sleb reads a signed one.
func (r *Reader) sleb(field string) uint64 {
	if r.err != nil {
		return 0
	}
	r.fill(maxLeb)
	b := r.buf[r.pos:r.lim]
	var v uint64
	for i := 0; i < len(b) && i < maxLeb; i++ {
		c := b[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			if i == maxLeb-1 && c != 0 && c != 0x7f {
				break
			}
			if c&0x40 != 0 && i < maxLeb-1 {
				v |= ^uint64(0) << (7*i + 7)
			}
			r.pos += i + 1
			return v
		}
	}
	r.badLeb(field, len(b))
	return 0
}

func (r *Reader) badLeb(field string, n int) {
	if n < maxLeb {
		r.short(field, n+1)
		return
	}
	r.failAt(r.offset(), field, "a number of more than 64 bits")
}

// ptr reads an address, a difference from ptr_base.
func (r *Reader) ptr(field string) uint64 { return (r.buffer.PtrBase + r.sleb(field)) & r.mask }

// obj reads an object, a difference from obj_base in units of 8 bytes.
func (r *Reader) obj(field string) uint64 { return (r.buffer.ObjBase + r.sleb(field)) << 3 & r.mask }

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
			r.failAt(off, field, "names of more than %d bytes in one event are never meant", maxText)
			return nil
		}
		r.text = append(r.text, b...)
		r.pos += len(b)
		if i >= 0 {
			r.pos++
			return r.text[start:len(r.text):len(r.text)]
		}
		if !r.fill(1) {
			r.failAt(off, field, "no NUL in the %d bytes that are left", r.offset()-off)
			return nil
		}
	}
}
