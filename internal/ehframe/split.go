package ehframe

import (
	"encoding/binary"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/callframe"
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
		if headerSize > 0 && !callframe.IsHeader(header) || !callframe.IsTable(order, frames) {
			continue
		}
		if callframe.Blank(frames) {
			frames = nil
		}
		return frames, header, nil
	}
	return nil, nil, fmt.Errorf("%d bytes are no .eh_frame with an .eh_frame_hdr of %d bytes, before it or after it", size, headerSize)
}
