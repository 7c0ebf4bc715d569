package wire

import (
	"bytes"
	"encoding/binary"
	"fmt"
)

// An Error says what is wrong with some bytes and where they are.
type Error struct {
	Format string // the format's usual name: "jitdump", "perf.data"
	Record string // the record's name, empty for the file's own header
	Field  string // the field's name in the specification, may be empty
	Offset int64  // of the field, from the start of the file, in bytes
	Text   string // what is wrong, and what was expected

	InRecord bool // Offset counts from the start of the record instead
}

func (e *Error) Error() string {
	s := e.Format
	if e.Record != "" {
		s += ": " + e.Record
	}
	if e.Field != "" {
		s += ": " + e.Field
	}
	of := ""
	if e.InRecord {
		of = " of the record"
	}
	return fmt.Sprintf("%s at offset %#x%s: %s", s, e.Offset, of, e.Text)
}

// A Cursor reads fields from the bytes of one record. Reads after the first
// failure return zero values; Err tells of that failure.
//
// The zero Cursor is not usable; call NewCursor. A Cursor is a value: copying
// it saves a position.
type Cursor struct {
	format, record string
	data           []byte
	pos, last      int // next byte; first byte of the field that was read last
	base           int64
	order          binary.ByteOrder
	err            *Error
}

// NewCursor returns a cursor at the start of data, which lies at offset base of
// its file. The cursor aliases data and never writes to it. format and record
// go into errors.
func NewCursor(format, record string, data []byte, order binary.ByteOrder, base int64) Cursor {
	return Cursor{format: format, record: record, data: data, order: order, base: base}
}

// Err returns the first failure, an *Error, or nil.
func (c *Cursor) Err() error {
	if c.err == nil {
		return nil
	}
	return c.err
}

// Len returns the number of bytes not read yet.
func (c *Cursor) Len() int { return len(c.data) - c.pos }

// Pos returns the number of bytes read so far.
func (c *Cursor) Pos() int { return c.pos }

// Offset returns the file offset of the next byte.
func (c *Cursor) Offset() int64 { return c.base + int64(c.pos) }

// Fail records a failure at the current position, unless there is one already.
func (c *Cursor) Fail(field, format string, args ...any) {
	c.fail(field, c.pos, format, args)
}

// Bad records that the field that was read last has a value that makes no sense.
func (c *Cursor) Bad(field, format string, args ...any) {
	c.fail(field, c.last, format, args)
}

func (c *Cursor) fail(field string, pos int, format string, args []any) {
	if c.err == nil {
		c.err = &Error{Format: c.format, Record: c.record, Field: field, Offset: c.base + int64(pos), Text: fmt.Sprintf(format, args...)}
	}
}

// take returns the next n bytes and moves past them, or nil.
func (c *Cursor) take(field string, n int) []byte {
	if c.err != nil {
		return nil
	}
	if n < 0 || n > c.Len() {
		c.Fail(field, "needs %d bytes, %d are left", n, c.Len())
		return nil
	}
	b := c.data[c.pos : c.pos+n : c.pos+n]
	c.last = c.pos
	c.pos += n
	return b
}

// U8 reads one byte.
func (c *Cursor) U8(field string) uint8 {
	if b := c.take(field, 1); b != nil {
		return b[0]
	}
	return 0
}

// U16 reads two bytes in the cursor's byte order.
func (c *Cursor) U16(field string) uint16 {
	if b := c.take(field, 2); b != nil {
		return c.order.Uint16(b)
	}
	return 0
}

// U32 reads four bytes in the cursor's byte order.
func (c *Cursor) U32(field string) uint32 {
	if b := c.take(field, 4); b != nil {
		return c.order.Uint32(b)
	}
	return 0
}

// U64 reads eight bytes in the cursor's byte order.
func (c *Cursor) U64(field string) uint64 {
	if b := c.take(field, 8); b != nil {
		return c.order.Uint64(b)
	}
	return 0
}

// Uleb reads an unsigned LEB128 number [DWARF5 7.6] of up to 64 bits.
func (c *Cursor) Uleb(field string) (v uint64) {
	for shift := 0; ; shift += 7 {
		b := c.U8(field)
		if shift > 63 || shift == 63 && b > 1 {
			c.Bad(field, "a number of more than 64 bits")
			return 0
		}
		v |= uint64(b&0x7f) << shift
		if b&0x80 == 0 {
			return v
		}
	}
}

// Sleb reads a signed one of up to 64 bits.
func (c *Cursor) Sleb(field string) (v int64) {
	for shift := 0; ; shift += 7 {
		b := c.U8(field)
		if shift > 63 || shift == 63 && b != 0 && b != 0x7f {
			c.Bad(field, "a number of more than 64 bits")
			return 0
		}
		v |= int64(b&0x7f) << shift
		if b&0x80 == 0 {
			if b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// Bytes returns the next n bytes, aliasing the cursor's data. A count that came
// from a file goes in unchecked: n is compared with what is there first.
func (c *Cursor) Bytes(field string, n uint64) []byte {
	if c.err == nil && n > uint64(c.Len()) {
		c.Fail(field, "needs %d bytes, %d are left", n, c.Len())
	}
	if c.err != nil {
		return nil
	}
	return c.take(field, int(n))
}

// CString reads up to a NUL, moves past it, and returns what stood before it,
// aliasing the cursor's data.
func (c *Cursor) CString(field string) []byte {
	if c.err != nil {
		return nil
	}
	n := bytes.IndexByte(c.data[c.pos:], 0)
	if n < 0 {
		c.Fail(field, "no NUL in the %d bytes that are left", c.Len())
		return nil
	}
	s := c.take(field, n)
	c.pos++
	return s
}

// Rest returns everything not read yet and moves to the end.
func (c *Cursor) Rest() []byte { return c.take("", c.Len()) }
