package ehframe

import (
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// TableAddress returns the address of .eh_frame, if the header has it as it is
// [LSB Core 10.6.2].
func TableAddress(format Format, header []byte) (addr uint64, ok bool) {
	if len(header) < 4 || header[1] == peOmit || header[1]&0xf0 != 0 {
		return 0, false
	}
	e := entryReader{c: wire.NewCursor(".eh_frame_hdr", "", header[4:], format.Order, 0), Format: format}
	addr, err := e.pointer(header[1])
	return addr, err == nil && e.c.Err() == nil && addr != 0
}

// CheckHeader checks an .eh_frame_hdr at an address against the FDEs there are.
func CheckHeader(format Format, data []byte, at, framesAt uint64, frames []Entry) error {
	if !IsHeader(data) {
		return errors.New(".eh_frame_hdr is none")
	}
	e := entryReader{c: wire.NewCursor(".eh_frame_hdr", "", data[4:], format.Order, 0), base: at + 4, Format: format}
	if data[1] != peOmit {
		to, err := e.headerPointer(data[1], at)
		if err != nil {
			return fmt.Errorf(".eh_frame_hdr: %w", err)
		}
		if to != framesAt && len(frames) > 0 { // where there are none, V8 points somewhere
			return fmt.Errorf(".eh_frame_hdr points at %#x, .eh_frame is at %#x", to, framesAt)
		}
	}
	if data[2] == peOmit || data[3] == peOmit {
		return fmt.Errorf(".eh_frame_hdr has no table for %d FDEs", len(frames))
	}
	count, err := e.headerPointer(data[2], at)
	if err != nil {
		return fmt.Errorf(".eh_frame_hdr: %w", err)
	}
	if count != uint64(len(frames)) {
		return fmt.Errorf(".eh_frame_hdr has a table of %d, .eh_frame %d FDEs", count, len(frames))
	}
	byAddr := make(map[uint64]uint64, len(frames))
	for _, f := range frames {
		byAddr[f.at] = f.Low
	}
	var last uint64
	for i := range count {
		pc, err := e.headerPointer(data[3], at)
		if err != nil {
			return fmt.Errorf(".eh_frame_hdr: %w", err)
		}
		to, err := e.headerPointer(data[3], at)
		if err != nil {
			return fmt.Errorf(".eh_frame_hdr: %w", err)
		}
		low, ok := byAddr[to]
		switch {
		case i > 0 && pc < last:
			return fmt.Errorf("the table of .eh_frame_hdr has %#x after %#x", pc, last)
		case !ok:
			return fmt.Errorf("the table of .eh_frame_hdr has an FDE at %#x, where there is none", to)
		case low != pc:
			return fmt.Errorf("the table of .eh_frame_hdr has an FDE for %#x, which is about %#x", pc, low)
		}
		last = pc
	}
	return nil
}

// headerPointer reads a pointer, which may count from the start of the header.
func (e *entryReader) headerPointer(encoding byte, header uint64) (uint64, error) {
	if encoding&0xf0 != peDataRel {
		return e.pointer(encoding)
	}
	v, err := e.pointer(encoding & 0x0f)
	if v += header; e.AddrSize == 4 {
		v &= 0xffffffff
	}
	return v, err
}

// IsHeader reports whether b can be an .eh_frame_hdr [LSB Core 10.6.2].
func IsHeader(b []byte) bool {
	known := func(encoding byte) bool { return encoding == peOmit || encoding&0x8f <= 0x0c } // 0x80: indirect
	return len(b) >= 4 && b[0] == 1 && known(b[1]) && known(b[3])
}
