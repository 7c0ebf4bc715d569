package source

import (
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/jitdump"
)

// unwind takes over the unwind tables that a dump brings for fn: frames first,
// header last, as V8, CPython and perf have it. Tables that do not look like
// that are left out: an unwinder that trusts them goes astray, and one that has
// none can still follow frame pointers.
func (r *Reader) unwind(fn *jitcode.Function, raw *jitdump.Raw) {
	u, err := raw.Unwinding()
	if err != nil {
		r.problem(raw.Offset, "%v; the function is left without unwind tables", err)
		return
	}
	at := uint64(len(u.Data)) - u.HeaderSize
	frames, header := u.Data[:at], u.Data[at:]
	if !isFrameHeader(header) || len(frames) > 0 && !isFrames(raw, frames) {
		r.repairs.unwind.Add(1)
		return
	}
	fn.Unwind = jitcode.Unwind{Frames: frames, Header: header}
}

// isFrameHeader reports whether b can be an .eh_frame_hdr [LSB Core 10.6.2].
func isFrameHeader(b []byte) bool {
	return len(b) >= 12 && b[0] == 1
}

// isFrames reports whether b is a run of CIEs and FDEs that fills it [LSB Core
// 10.6.1]: the first is a CIE, and each FDE points back at one.
func isFrames(raw *jitdump.Raw, b []byte) bool {
	c := wire.NewCursor(jitdump.FormatName, "", b, raw.Order, 0)
	cies := make(map[int]bool)
	for c.Len() >= 4 {
		at := c.Pos()
		length := c.U32("length")
		if length == 0 { // terminator
			continue
		}
		idAt := c.Pos()
		body := c.Bytes("entry", uint64(length))
		if c.Err() != nil || len(body) < 4 {
			return false
		}
		switch id := raw.Order.Uint32(body); {
		case id == 0:
			cies[at] = true
		case !cies[idAt-int(id)]:
			return false
		}
	}
	return len(cies) > 0
}
