package ehframe

import (
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/callframe"
)

// CheckHeader checks an .eh_frame_hdr at an address against the FDEs of the .eh_frame at place.
func CheckHeader(place callframe.Place, data []byte, at uint64, frames []Entry) error {
	if !callframe.IsHeader(data) {
		return errors.New(".eh_frame_hdr is none")
	}
	h := callframe.ReadHeader(place, data, at)
	// Where there are no FDEs, V8 points somewhere.
	if h.Err == nil && h.FramesEncoding != callframe.Omitted && h.Frames != place.Addr && len(frames) > 0 {
		return fmt.Errorf(".eh_frame_hdr points at %#x, .eh_frame is at %#x", h.Frames, place.Addr)
	}
	if h.CountEncoding == callframe.Omitted || h.TableEncoding == callframe.Omitted {
		return fmt.Errorf(".eh_frame_hdr has no table for %d FDEs", len(frames))
	}
	if h.Err != nil {
		return h.Err
	}
	if h.Count != uint64(len(frames)) {
		return fmt.Errorf(".eh_frame_hdr has a table of %d, .eh_frame %d FDEs", h.Count, len(frames))
	}
	byAddr := make(map[uint64]uint64, len(frames))
	for _, f := range frames {
		byAddr[f.at] = f.Low
	}
	var last uint64
	for i := range h.Count {
		pc, to, err := h.Next()
		if err != nil {
			return err
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
