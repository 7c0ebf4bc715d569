package ehframe

import (
	"github.com/jitinject/jitinject/internal/wire"
)

// Pointer encodings [LSB Core 10.5.1].
const (
	peAbsolute = 0x00
	peUleb     = 0x01
	peUdata2   = 0x02
	peUdata4   = 0x03
	peUdata8   = 0x04
	peSigned   = 0x08
	peSleb     = 0x09
	peSdata2   = 0x0a
	peSdata4   = 0x0b
	peSdata8   = 0x0c
	pePCRel    = 0x10
	peTextRel  = 0x20
	peOmit     = 0xff
)

// pointer reads a pointer in an encoding. The caller adds its base, if it has one.
func (r *reader) pointer(c *wire.Cursor, field string, encoding uint8) uint64 {
	switch encoding & 0x0f {
	case peAbsolute, peSigned:
		if r.place.AddrSize == 4 {
			return uint64(int64(int32(c.U32(field))))
		}
		return c.U64(field)
	case peUleb:
		return c.Uleb(field)
	case peUdata2:
		return uint64(c.U16(field))
	case peUdata4:
		return uint64(c.U32(field))
	case peUdata8, peSdata8:
		return c.U64(field)
	case peSleb:
		return uint64(c.Sleb(field))
	case peSdata2:
		return uint64(int64(int16(c.U16(field))))
	case peSdata4:
		return uint64(int64(int32(c.U32(field))))
	}
	c.Fail(field, "the pointer encoding %#x is unknown", encoding)
	return 0
}
