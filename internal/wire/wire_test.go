package wire_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/wire"
)

func TestCursor_FirstErrorSticks(t *testing.T) {
	c := wire.NewCursor("fmt", "REC", []byte{1, 0, 2, 0, 0}, binary.LittleEndian, 0x100)
	if got := c.U16("a"); got != 1 {
		t.Fatalf("a = %d, want 1", got)
	}
	if got := c.U32("b"); got != 0 {
		t.Fatalf("b = %d past the end, want 0", got)
	}
	// Two bytes are still there, but the cursor no longer trusts its position.
	if got := c.U8("c"); got != 0 {
		t.Fatalf("c = %d after a failure, want 0", got)
	}
	var e *wire.Error
	if !errors.As(c.Err(), &e) || e.Field != "b" || e.Offset != 0x102 {
		t.Fatalf("error %v, want field b at 0x102", c.Err())
	}
	if got, want := e.Error(), "fmt: REC: b at offset 0x102: needs 4 bytes, 3 are left"; got != want {
		t.Errorf("message %q, want %q", got, want)
	}
}

func TestCursor_HugeCount(t *testing.T) {
	c := wire.NewCursor("fmt", "REC", make([]byte, 8), binary.BigEndian, 0)
	if b := c.Bytes("code", 1<<63); b != nil || c.Err() == nil {
		t.Errorf("2^63 bytes of 8: got %v, %v", b, c.Err())
	}
}

func TestCString_WithoutEnd(t *testing.T) {
	c := wire.NewCursor("fmt", "REC", []byte("one\x00\x00two"), binary.BigEndian, 0)
	if s := c.CString("s"); string(s) != "one" {
		t.Errorf("got %q", s)
	}
	if s := c.CString("s"); len(s) != 0 || c.Err() != nil {
		t.Errorf("got %q, %v", s, c.Err())
	}
	if c.CString("s"); c.Err() == nil || !strings.Contains(c.Err().Error(), "no NUL") {
		t.Errorf("unterminated string: %v", c.Err())
	}
}

func TestBuffer_EveryNumber(t *testing.T) {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		b := wire.NewBuffer(order)
		b.U8(1)
		b.Align(4)
		b.Prefixed32(func() { b.U16(0x1234); b.CString("x") })
		b.Word(7, 4)
		b.Word(9, 8)
		c := wire.NewCursor("fmt", "", b.Data, order, 0)
		c.U32("pad")
		if n := c.U32("length"); n != 4 {
			t.Errorf("for %v: got length %d, want 4", order, n)
		}
		if v := c.U16("v"); v != 0x1234 {
			t.Errorf("for %v: got %#x, want 0x1234", order, v)
		}
		c.CString("s")
		if v := c.U32("w"); v != 7 {
			t.Errorf("for %v: got %d, want 7", order, v)
		}
		if v := c.U64("w"); v != 9 || c.Len() != 0 || c.Err() != nil {
			t.Errorf("for %v: got %d, %d left, %v; want 9, 0 left, no error", order, v, c.Len(), c.Err())
		}
	}
}

// A number that has no end, or too much of it, is an error.
func TestLEB128_TooLong(t *testing.T) {
	for _, b := range [][]byte{{}, {0x80}, bytes.Repeat([]byte{0x80}, 20), append(bytes.Repeat([]byte{0xff}, 10), 1), append(bytes.Repeat([]byte{0x80}, 9), 0x3f)} {
		u := wire.NewCursor("test", "record", b, binary.LittleEndian, 0)
		s := wire.NewCursor("test", "record", b, binary.LittleEndian, 0)
		if u.Uleb("field"); u.Err() == nil {
			t.Errorf("% x is an unsigned number", b)
		}
		if s.Sleb("field"); s.Err() == nil {
			t.Errorf("% x is a signed number", b)
		}
	}
}

// The numbers are the examples of DWARF 5, tables 7.3 and 7.4, and the largest ones.
func TestLEB128_ExamplesOfDWARF(t *testing.T) {
	unsigned := map[uint64][]byte{2: {2}, 127: {127}, 128: {0x80, 1}, 129: {0x81, 1}, 12857: {0xb9, 0x64}, math.MaxUint64: append(bytes.Repeat([]byte{0xff}, 9), 1)}
	for v, want := range unsigned {
		var b wire.Buffer
		if b.Uleb(v); !bytes.Equal(b.Data, want) {
			t.Errorf("uleb %d = % x, want % x", v, b.Data, want)
		}
		c := wire.NewCursor("test", "record", want, binary.LittleEndian, 0)
		if got := c.Uleb("field"); got != v || c.Len() > 0 || c.Err() != nil {
			t.Errorf("% x = uleb %d, %d left, %v; want %d", want, got, c.Len(), c.Err(), v)
		}
	}
	signed := map[int64][]byte{2: {2}, -2: {0x7e}, 127: {0xff, 0}, -127: {0x81, 0x7f}, 128: {0x80, 1}, -128: {0x80, 0x7f}, 129: {0x81, 1}, -129: {0xff, 0x7e},
		math.MaxInt64: append(bytes.Repeat([]byte{0xff}, 9), 0), math.MinInt64: append(bytes.Repeat([]byte{0x80}, 9), 0x7f)}
	for v, want := range signed {
		var b wire.Buffer
		if b.Sleb(v); !bytes.Equal(b.Data, want) {
			t.Errorf("sleb %d = % x, want % x", v, b.Data, want)
		}
		c := wire.NewCursor("test", "record", want, binary.LittleEndian, 0)
		if got := c.Sleb("field"); got != v || c.Len() > 0 || c.Err() != nil {
			t.Errorf("% x = sleb %d, %d left, %v; want %d", want, got, c.Len(), c.Err(), v)
		}
	}
}
