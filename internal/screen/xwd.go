package screen

import (
	"encoding/binary"
	"fmt"
	"image"
)

// Fields of a header of XWD, the format of Xvfb's framebuffer: the index of a big-endian 32-bit word
// [XWDFile.h of X.Org].
const (
	xwdHeaderSize   = 0 // bytes
	xwdVersion      = 1
	xwdFormat       = 2
	xwdWidth        = 4
	xwdHeight       = 5
	xwdByteOrder    = 7
	xwdBitsPerPixel = 11
	xwdBytesPerLine = 12
	xwdColours      = 19 // entries of 12 bytes each, after the header
	xwdWords        = 25
)

// decodeXWD decodes a picture of 32 bits per pixel: blue, green, red, and one byte without meaning.
func decodeXWD(b []byte) (image.Image, error) {
	if len(b) < 4*xwdWords {
		return nil, fmt.Errorf("XWD: %d bytes, and the header has %d", len(b), 4*xwdWords)
	}
	word := func(n int) uint64 { return uint64(binary.BigEndian.Uint32(b[4*n:])) }
	if word(xwdVersion) != 7 || word(xwdFormat) != 2 || word(xwdByteOrder) != 0 || word(xwdBitsPerPixel) != 32 {
		return nil, fmt.Errorf("XWD: version %d, format %d, byte order %d, %d bits per pixel; want 7, 2, 0, 32",
			word(xwdVersion), word(xwdFormat), word(xwdByteOrder), word(xwdBitsPerPixel))
	}
	at, line := word(xwdHeaderSize)+12*word(xwdColours), word(xwdBytesPerLine)
	width, height := word(xwdWidth), word(xwdHeight)
	if line < 4*width || at+line*height > uint64(len(b)) {
		return nil, fmt.Errorf("XWD: %d lines of %d bytes for %d pixels at %#x, in %d bytes", height, line, width, at, len(b))
	}
	m := image.NewRGBA(image.Rect(0, 0, int(width), int(height)))
	for y := range height {
		row := b[at+y*line:][:4*width]
		out := m.Pix[y*uint64(m.Stride):]
		for i := 0; i < len(row); i += 4 {
			out[i], out[i+1], out[i+2], out[i+3] = row[i+2], row[i+1], row[i], 0xff
		}
	}
	return m, nil
}
