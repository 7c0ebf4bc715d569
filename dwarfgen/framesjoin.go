package dwarfgen

import (
	"cmp"
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

// A FramesPart has the content of a Frames, to be joined with that of others.
type FramesPart struct {
	Data    []byte       // CIEs and FDEs, without a terminator
	Entries []FrameEntry // of the FDEs
	order   binary.ByteOrder
	addr    uint64
}

// Part returns the content of f, and empties f. They share no memory. The part takes over the
// memory of spare, which may be nil or a part that is no longer needed.
func (f *Frames) Part(spare *FramesPart) (*FramesPart, error) {
	f.fail(f.w.Err())
	if f.err != nil {
		return nil, f.err
	}
	p := cmp.Or(spare, new(FramesPart))
	p.Data, p.Entries = append(p.Data[:0], f.w.Data...), append(p.Entries[:0], f.fdes...)
	p.order, p.addr = f.w.Order(), f.addr
	f.Reset(p.order, f.addrSize, f.addr)
	return p, nil
}

// pcField is the offset of the code's address in an FDE: after length and CIE pointer.
const pcField = 8

// MoveTo moves the frames to another address. The code stays where it is.
func (p *FramesPart) MoveTo(addr uint64) error {
	var w wire.Buffer
	for i := range p.Entries {
		e := &p.Entries[i]
		at := e.FDE - p.addr + pcField
		w.Reset(p.order)
		if err := displacement(&w, e.PC, addr+at); err != nil {
			return err
		}
		copy(p.Data[at:], w.Data)
		e.FDE += addr - p.addr
	}
	p.addr = addr
	return nil
}

// FramesEnd ends an .eh_frame that consists of parts [LSB Core 10.6.1].
var FramesEnd = make([]byte, 4)
