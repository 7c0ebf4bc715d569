package callframe

import (
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

// A Header is an .eh_frame_hdr [LSB Core 10.6.2]: the address of .eh_frame, and its FDEs sorted by
// the code that they are about.
type Header struct {
	Version        uint8
	FramesEncoding uint8
	CountEncoding  uint8
	TableEncoding  uint8
	Frames         uint64 // address of .eh_frame; 0 if omitted
	Count          uint64 // entries of the table; 0 if omitted
	Err            error  // why the fields after the encodings are unreadable

	place Place
	addr  uint64
	c     wire.Cursor // at the table
}

// IsHeader reports whether b can be an .eh_frame_hdr.
func IsHeader(b []byte) bool {
	known := func(encoding byte) bool { return encoding == Omitted || encoding&0x8f <= formSdata8 } // 0x80: indirect
	return len(b) >= 4 && b[0] == 1 && known(b[1]) && known(b[3])
}

// ReadHeader reads an .eh_frame_hdr at an address. Of place it uses what is not about .eh_frame. It
// reads fields of any version. The result aliases b.
func ReadHeader(place Place, b []byte, addr uint64) (h Header) {
	c := wire.NewCursor(".eh_frame_hdr", "", b, place.Order, 0)
	h = Header{place: place, addr: addr, Version: c.U8("version")}
	h.FramesEncoding, h.CountEncoding, h.TableEncoding = c.U8("eh_frame_ptr_enc"), c.U8("fde_count_enc"), c.U8("table_enc")
	if h.FramesEncoding != Omitted {
		h.Frames = h.pointer(&c, "eh_frame_ptr", h.FramesEncoding)
	}
	if h.CountEncoding != Omitted {
		h.Count = h.pointer(&c, "fde_count", h.CountEncoding)
	}
	h.c, h.Err = c, c.Err()
	return h
}

func (h *Header) pointer(c *wire.Cursor, field string, encoding uint8) uint64 {
	return h.place.pointer(c, field, encoding, h.addr, h.addr)
}

// Next reads an entry of the table: the first address of code, and the address of the FDE about it.
func (h *Header) Next() (code, fde uint64, err error) {
	code = h.pointer(&h.c, "code", h.TableEncoding)
	fde = h.pointer(&h.c, "FDE", h.TableEncoding)
	return code, fde, h.c.Err()
}

// FramesAddress returns the address of .eh_frame in the process. ok is false unless an .eh_frame_hdr
// has it as an absolute address.
func FramesAddress(order binary.ByteOrder, addrSize int, header []byte) (addr uint64, ok bool) {
	if len(header) < 4 {
		return 0, false
	}
	size := 0
	switch header[1] {
	case formAddress, formSigned:
		size = addrSize
	case formUdata8, formSdata8:
		size = 8
	case formUdata4, formSdata4:
		size = 4
	}
	if size != addrSize {
		return 0, false
	}
	place := Place{Order: order, AddrSize: addrSize}
	c := wire.NewCursor(".eh_frame_hdr", "", header[4:], order, 0)
	addr = place.mask(place.plain(&c, "eh_frame_ptr", header[1]))
	return addr, c.Err() == nil && addr != 0
}

// IsTable reports whether b consists of CIEs and FDEs, up to its end or a terminator. An empty table
// is one.
func IsTable(order binary.ByteOrder, b []byte) bool {
	c := wire.NewCursor(".eh_frame", "", b, order, 0)
	for first := true; ; first = false {
		body, length, ok := envelope(&c)
		switch {
		case !ok:
			return c.Err() == nil
		case length == 0:
			return Blank(c.Rest()) || !first // a table may end before the data do
		case len(body) < 4 || first && order.Uint32(body) != 0:
			return false
		}
	}
}
