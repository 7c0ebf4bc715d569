package jitelf

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// Each action changes its field like this.
func TestFix_Apply(t *testing.T) {
	le, be := binary.ByteOrder(binary.LittleEndian), binary.ByteOrder(binary.BigEndian)
	for _, test := range []struct {
		name  string
		fix   fix
		order binary.ByteOrder
		field []byte
		v     uint64
		want  []byte
		fits  bool
	}{
		{"absolute", fix{absolute, 4}, le, []byte{9, 9, 9, 9, 9}, 0x80000001, []byte{1, 0, 0, 0x80, 9}, true},
		{"absolute, negative", fix{absolute, 4}, be, []byte{0, 0, 0, 0}, 1<<64 - 2, []byte{0xff, 0xff, 0xff, 0xfe}, true},
		{"absolute, too large", fix{absolute, 4}, le, []byte{0, 0, 0, 0}, 1 << 32, []byte{0, 0, 0, 0}, false},
		{"absolute, 8 bytes", fix{absolute, 8}, be, make([]byte, 8), 1 << 63, []byte{0x80, 0, 0, 0, 0, 0, 0, 0}, true},
		{"absolute, a byte", fix{absolute, 1}, le, []byte{0}, 0x100, []byte{0}, false},
		{"relative", fix{relative, 4}, le, []byte{0, 0, 0, 0}, 1<<64 - 1, []byte{0xff, 0xff, 0xff, 0xff}, true},
		{"relative, too far", fix{relative, 4}, le, []byte{0, 0, 0, 0}, 0x80000000, []byte{0, 0, 0, 0x80}, false},
		{"relative, 2 bytes", fix{relative, 2}, be, []byte{0, 0}, 0x7fff, []byte{0x7f, 0xff}, true},
		{"set", fix{set, 2}, le, []byte{9, 9}, 0x12345, []byte{0x45, 0x23}, true},
		{"add", fix{add, 4}, le, []byte{2, 0, 0, 0}, 0x1_0000_0001, []byte{3, 0, 0, 0}, true},
		{"add, 3 bytes", fix{add, 3}, le, []byte{0xff, 0xff, 0, 9}, 2, []byte{1, 0, 1, 9}, true},
		{"subtract, 3 bytes", fix{subtract, 3}, be, []byte{0, 1, 0}, 1, []byte{0, 0, 0xff}, true},
		{"subtract", fix{subtract, 8}, be, []byte{0, 0, 0, 0, 0, 0, 0, 1}, 2, bytes.Repeat([]byte{0xff}, 8), true},
		{"subtract, a byte", fix{subtract, 1}, le, []byte{5}, 0x102, []byte{3}, true},
		{"set 6 bits", fix{setLow6, 1}, le, []byte{0x7f}, 0xc1, []byte{0x41}, true},
		{"add 6 bits", fix{addLow6, 1}, le, []byte{0x7f}, 2, []byte{0x41}, true},
		{"subtract 6 bits", fix{subtractLow6, 1}, le, []byte{0x41}, 2, []byte{0x7f}, true},
		{"set ULEB128", fix{setULEB, 1}, le, []byte{0x80, 0x80, 0, 9}, 0x1_0000_0081, []byte{0x81, 0x81, 0, 9}, true},
		{"add ULEB128", fix{addULEB, 1}, le, []byte{0xff, 0}, 1, []byte{0x80, 1}, true},
		{"subtract ULEB128", fix{subtractULEB, 1}, le, []byte{0x80, 1}, 1, []byte{0xff, 0}, true},
		{"ULEB128 without an end", fix{subtractULEB, 1}, le, []byte{0x80, 0x80}, 1, []byte{0x80, 0x80}, false},
	} {
		got := bytes.Clone(test.field)
		if fits := test.fix.apply(test.order, got, test.v); fits != test.fits || fits && !bytes.Equal(got, test.want) {
			t.Errorf("%s: got % x, %v; want % x, %v", test.name, got, fits, test.want, test.fits)
		}
	}
}

// A symbol and another in a section without an address: their difference on RISC-V is that of
// their offsets.
func TestFix_AddAndSubtract(t *testing.T) {
	field := []byte{0, 0, 0, 0}
	const base = 0x7f1200400000
	fix{add, 4}.apply(binary.LittleEndian, field, base+0x30)
	fix{subtract, 4}.apply(binary.LittleEndian, field, base+0x10)
	if want := []byte{0x20, 0, 0, 0}; !bytes.Equal(field, want) {
		t.Errorf("got % x; want % x", field, want)
	}
}
