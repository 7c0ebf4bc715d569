package screen

import (
	"encoding/binary"
	"image/color"
	"strings"
	"testing"
)

// xwd returns a picture of 2 x 1 pixels, with a colour map of one entry.
func xwd() []byte {
	b := make([]byte, 104)
	for n, v := range map[int]uint32{xwdHeaderSize: 104, xwdVersion: 7, xwdFormat: 2, xwdWidth: 2, xwdHeight: 1, xwdBitsPerPixel: 32, xwdBytesPerLine: 8, xwdColours: 1} {
		binary.BigEndian.PutUint32(b[4*n:], v)
	}
	b = append(b, make([]byte, 12)...)
	return append(b, 1, 2, 3, 0, 4, 5, 6, 0)
}

// The pixels of a picture come after its colour map, with blue first.
func TestXWD_Pixels(t *testing.T) {
	m, err := decodeXWD(xwd())
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range []color.RGBA{{3, 2, 1, 255}, {6, 5, 4, 255}} {
		if got := m.At(x, 0); got != want {
			t.Errorf("pixel %d: got %v; want %v", x, got, want)
		}
	}
}

// A picture that is cut, or of another depth, is an error.
func TestXWD_Damaged(t *testing.T) {
	deep := xwd()
	deep[4*xwdBitsPerPixel+3] = 16
	for want, b := range map[string][]byte{"the header has 100": xwd()[:99], "in 119 bytes": xwd()[:119], "16 bits per pixel": deep} {
		if _, err := decodeXWD(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v; want an error with %q", err, want)
		}
	}
}
