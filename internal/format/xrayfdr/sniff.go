package xrayfdr

import "encoding/binary"

// Looks reports whether a file that begins with head, 8 bytes or more, looks like
// a log of XRay. The format has no magic: it goes by a small version, the type (0
// basic mode, 1 flight data recorder, 2 profile), and the two promises about the
// TSC, which all runtimes make. Only NewReader tells whether it is a trace that it
// can read.
func Looks(head []byte) bool {
	if len(head) < 8 {
		return false
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		version, typ, flags := order.Uint16(head), order.Uint16(head[2:]), order.Uint32(head[4:])
		constant, nonstop := flagBits(order)
		promised := flags == constant|nonstop
		switch {
		case version == 0 || version > 255:
		case typ == typeFDR && version <= MaxVersion, typ <= 2 && promised:
			return true
		}
	}
	return false
}
