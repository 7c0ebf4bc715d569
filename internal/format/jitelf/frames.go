package jitelf

import (
	"encoding/binary"
	"math"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/wire"
)

// framesOf returns the content of a .debug_frame in the form of an .eh_frame. It is empty if that is
// damaged. The entries differ in their ids, and in the fields of a CIE of version 4 [DWARF5 6.4.1]:
// pointers are absolute, and there is no other augmentation.
func (o *Object) framesOf(debug []byte) (frames []byte) {
	c := wire.NewCursor("DWARF", debugFrame, debug, o.order, 0)
	at := make(map[uint64]int) // offset of a CIE in frames, by that in debug
	for c.Len() > 0 {
		start := uint64(c.Pos())
		length, offsetSize := uint64(c.U32("length")), uint64(4)
		if length == math.MaxUint32 {
			length, offsetSize = c.U64("length"), 8
		}
		body := c.Bytes("length", length)
		if c.Err() != nil {
			return nil
		}
		if length == 0 {
			continue
		}
		e := wire.NewCursor("DWARF", debugFrame, body, o.order, 0)
		id := dwarfdata.Offset(&e, "CIE_pointer", offsetSize)
		here := len(frames)
		if id == math.MaxUint64 || offsetSize == 4 && id == math.MaxUint32 {
			at[start] = here
			frames = o.appendCIE(frames, &e)
		} else {
			cie, ok := at[id]
			if !ok {
				return nil
			}
			frames = appendEntry(frames, o.order, uint32(here+4-cie), e.Rest())
		}
		if e.Err() != nil {
			return nil
		}
	}
	return frames
}

// appendCIE appends a CIE without the fields that .eh_frame does not have. The cursor is after its
// id.
func (o *Object) appendCIE(frames []byte, e *wire.Cursor) []byte {
	version := e.U8("version")
	if letters := e.CString("augmentation"); len(letters) > 0 {
		e.Fail("augmentation", "%q", letters)
	}
	if version == 4 {
		if size := e.U8("address_size"); int(size) != o.addrSize {
			e.Bad("address_size", "%d", size)
		}
		if size := e.U8("segment_selector_size"); size != 0 {
			e.Bad("segment_selector_size", "%d", size)
		}
		version = 3
	}
	return appendEntry(frames, o.order, 0, append([]byte{version, 0}, e.Rest()...))
}

func appendEntry(frames []byte, order binary.ByteOrder, id uint32, rest []byte) []byte {
	var b [8]byte
	order.PutUint32(b[:], uint32(4+len(rest)))
	order.PutUint32(b[4:], id)
	return append(append(frames, b[:]...), rest...)
}
