package xrayfdr

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/wire"
)

// FormatName is the format's name in errors.
const FormatName = "XRay FDR"

// ErrNotXRay says that a file is no flight data recorder trace of XRay. Callers
// test for it with errors.Is.
var ErrNotXRay = errors.New("not an XRay flight data recorder trace")

// HeaderSize is the size of the file header in bytes.
const HeaderSize = 32

// Version is the version of the format that the package reads; LLVM 8 to 22 write it.
const Version = 5

// ErrOldVersion says that a trace is of LLVM 5 to 7, which wrote versions 1 to 3. Version 4 was in
// no release.
var ErrOldVersion = errors.New("LLVM 5 to 7 wrote such traces; only those of LLVM 8 or newer are read")

// EmulatedFrequency is the cycle frequency of a trace with time stamps that are no
// TSC but nanoseconds of CLOCK_REALTIME: the runtime found no TSC, or not its
// rate.
const EmulatedFrequency = 1_000_000_000

// typeFDR is the header's type of flight data recorder traces.
const typeFDR = 1

// A Header is the file header.
type Header struct {
	Order   binary.ByteOrder // of all fields of the file
	Version uint16           // 5, until there is a newer one
	// ConstantTSC and NonstopTSC are promises about the time stamp counter. Real
	// runtimes set both without looking.
	ConstantTSC, NonstopTSC bool
	// OtherFlags is the bitfield with the two flags cleared.
	OtherFlags uint32
	// CycleFrequency is how often TSC counts in a second. Some runtimes take the
	// CPU's highest frequency for it. 0 says nothing.
	CycleFrequency uint64
	// BufferSize is the size of a thread's buffer in bytes, which no block exceeds.
	BufferSize uint64
}

// Emulated says whether TSC counts nanoseconds of CLOCK_REALTIME.
func (h *Header) Emulated() bool { return h.CycleFrequency == EmulatedFrequency }

// flagBits returns the two bits of the bitfield: the first bit of the field is the
// lowest on little-endian machines and the highest on big-endian ones.
func flagBits(order binary.ByteOrder) (constant, nonstop uint32) {
	if order == binary.BigEndian {
		return 1 << 31, 1 << 30
	}
	return 1, 2
}

// ParseHeader reads the file header in b. It finds the byte order by version
// and type, both small. An error wraps ErrNotXRay, unless it is about the
// version or type of an XRay log.
func ParseHeader(b []byte) (*Header, error) {
	if len(b) < HeaderSize {
		return nil, fmt.Errorf("%w: a file header has %d bytes, the file %d", ErrNotXRay, HeaderSize, len(b))
	}
	h := &Header{Order: binary.LittleEndian}
	if b[0] == 0 && b[2] == 0 {
		h.Order = binary.BigEndian
	}
	c := wire.NewCursor(FormatName, "file header", b[:HeaderSize], h.Order, 0)
	h.Version = c.U16("version")
	if h.Version == 0 || h.Version > 255 {
		return nil, fmt.Errorf("%w: version is %d", ErrNotXRay, h.Version)
	}
	if typ := c.U16("type"); typ > 2 {
		return nil, fmt.Errorf("%w: type is %d", ErrNotXRay, typ)
	} else if typ != typeFDR {
		c.Bad("type", "is %d (%s); only flight data recorder traces, type 1, are read: record with XRAY_OPTIONS=xray_mode=xray-fdr",
			typ, [3]string{"basic mode", "", "profiling mode"}[typ])
		return nil, c.Err()
	}
	if h.Version < Version {
		return nil, fmt.Errorf("%s: version %d is not read: %w", FormatName, h.Version, ErrOldVersion)
	}
	if h.Version > Version {
		return nil, &wire.Error{Format: FormatName, Record: "file header", Field: "version",
			Text: fmt.Sprintf("is %d; only version %d is known, of LLVM 8 to 22", h.Version, Version)}
	}
	flags := c.U32("bitfield")
	constant, nonstop := flagBits(h.Order)
	h.ConstantTSC, h.NonstopTSC = flags&constant != 0, flags&nonstop != 0
	h.OtherFlags = flags &^ (constant | nonstop)
	h.CycleFrequency = c.U64("cycle_frequency")
	h.BufferSize = c.U64("buffer_size")
	return h, c.Err()
}

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
		case typ == typeFDR && version <= Version, typ <= 2 && promised:
			return true
		}
	}
	return false
}
