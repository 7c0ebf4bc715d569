package ehframe

import (
	"encoding/binary"
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// Split splits the data of an unwinding record into .eh_frame and .eh_frame_hdr, the latter of
// headerSize bytes. In V8, CPython and perf the header is last. In the format's description and in
// LLVM's ORC it is first. Split uses the order that is readable. If both are, as with empty tables,
// it uses perf's. frames is empty if it has no content.
func Split(order binary.ByteOrder, data []byte, headerSize uint64) (frames, header []byte, err error) {
	size := uint64(len(data))
	if headerSize > size {
		return nil, nil, fmt.Errorf(".eh_frame_hdr has %d bytes, of %d in all", headerSize, size)
	}
	for _, at := range []uint64{size - headerSize, 0} {
		header = data[at : at+headerSize]
		if frames = data[:at]; at == 0 {
			frames = data[headerSize:]
		}
		if headerSize > 0 && !isHeader(header) || !isFrames(order, frames) {
			continue
		}
		if blank(frames) {
			frames = nil
		}
		return frames, header, nil
	}
	return nil, nil, fmt.Errorf("%d bytes are no .eh_frame with an .eh_frame_hdr of %d bytes, before it or after it", size, headerSize)
}

// isHeader reports whether b can be an .eh_frame_hdr [LSB Core 10.6.2].
func isHeader(b []byte) bool {
	return len(b) >= 4 && b[0] == 1 && (b[1] == 0xff || b[1]&0x8f < 0x0d) && (b[3] == 0xff || b[3]&0x8f < 0x0d)
}

// isFrames reports whether b consists of CIEs and FDEs, up to its end or a terminator.
func isFrames(order binary.ByteOrder, b []byte) bool {
	c := wire.NewCursor(".eh_frame", "", b, order, 0)
	first := true
	for c.Len() >= 4 {
		length := entryLength(&c)
		if c.Err() == nil && length == 0 {
			return blank(c.Rest()) || !first // a table may end before the data do
		}
		body := c.Bytes("length", length)
		if c.Err() != nil || len(body) < 4 || first && order.Uint32(body) != 0 {
			return false
		}
		first = false
	}
	return blank(c.Rest())
}

// blank reports whether b has only zeros: terminators and padding.
func blank(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
