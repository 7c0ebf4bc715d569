package ehframe

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/sorting"
)

// An Entry is an FDE.
type Entry struct {
	at        uint64 // its address
	Low, High uint64 // of the code it is about
}

// Read returns the FDEs of an .eh_frame, sorted by the code they are about.
func Read(place callframe.Place, data []byte) (table []Entry, err error) {
	if table, err = entries(place, data); err != nil {
		return nil, err
	}
	sorting.Stable(table, func(a, b Entry) int { return cmp.Compare(a.Low, b.Low) })
	for i := 1; i < len(table); i++ {
		if table[i-1].High > table[i].Low {
			return nil, fmt.Errorf(".eh_frame: FDEs about %#x and %#x overlap", table[i-1].Low, table[i].Low)
		}
	}
	return table, nil
}

// entries returns the FDEs in the order of the section.
func entries(place callframe.Place, data []byte) (table []Entry, err error) {
	r := callframe.NewReader(place, data)
	for {
		e, ok := r.Next()
		switch {
		case !ok:
			return table, r.Err()
		case e.Err != nil:
			return nil, e.Err
		case e.Kind == callframe.KindEnd:
			if !callframe.Blank(r.Rest()) {
				return nil, fmt.Errorf(".eh_frame: something follows the end of the table, at %#x", e.At)
			}
			return table, nil
		case e.Kind == callframe.KindCIE:
			continue
		case e.Size == 0:
			return nil, fmt.Errorf(".eh_frame: the FDE at %#x is about 0 bytes of code at %#x", e.At, e.Low)
		}
		_, err := r.Rows(&r.CIEs[e.CIE], e.Instructions, e.InstrAt, e.Size, func(_, _ uint64, row *callframe.Row) string { return row.Fault(&place) })
		if err != nil {
			return nil, err
		}
		table = append(table, Entry{at: place.Addr + uint64(e.At), Low: e.Low, High: e.Low + e.Size})
	}
}

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
