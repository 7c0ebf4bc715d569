package jitdump

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jitinject/jitinject/internal/wire"
)

const (
	magic      = 0x4A695444 // "JiTD"
	headerSize = 40
	prefixSize = 16

	// maxHeaderSize bounds the size that a header may claim. The longest known one is libxsmm's,
	// padded to a page.
	maxHeaderSize = 1 << 20
)

// FormatName is the name of the format in errors.
const FormatName = "jitdump"

// Flags are the flags of the file header.
type Flags uint64

// ArchTimestamps means that the file's timestamps are counts of the machine's own clock (the TSC on
// x86) and not nanoseconds of CLOCK_MONOTONIC.
const ArchTimestamps Flags = 1 << 0

// Unknown returns the flags that no version of the format has. A header with such flags was not
// initialised, and all its flags are meaningless. LLVM's ORC writes such headers (JITLoaderPerf.cpp
// of LLVM 18 and 19).
func (f Flags) Unknown() Flags { return f &^ ArchTimestamps }

// ErrNotJitdump says that a file does not begin with jitdump's magic. Callers
// test for it with errors.Is.
var ErrNotJitdump = errors.New("not a jitdump file")

// A Header is the file header.
type Header struct {
	Order     binary.ByteOrder // of the whole file; nil means little-endian for writing
	Version   uint32
	Machine   uint32 // ELF e_machine
	Pad       uint32
	PID       uint32 // of the producer in its own pid namespace
	Timestamp uint64 // of creation; V8 writes microseconds of the wall clock
	Flags     Flags
	Extra     []byte // fields of a longer header after the known 40 bytes
}

// Size returns the header's length in the file, in bytes.
func (h *Header) Size() int64 { return headerSize + int64(len(h.Extra)) }

// readHeader reads the header at the start of r.
func readHeader(r io.ReaderAt) (*Header, error) {
	var buf [headerSize]byte
	n, err := r.ReadAt(buf[:], 0)
	if err != nil && err != io.EOF {
		return nil, err
	}
	h := new(Header)
	switch {
	case n >= 4 && binary.LittleEndian.Uint32(buf[:]) == magic:
		h.Order = binary.LittleEndian
	case n >= 4 && binary.BigEndian.Uint32(buf[:]) == magic:
		h.Order = binary.BigEndian
	case n == 0:
		return nil, fmt.Errorf("%w: it is empty", ErrNotJitdump)
	default:
		return nil, fmt.Errorf("%w: it begins with % x, not with the magic \"DTiJ\" (little-endian) or \"JiTD\"", ErrNotJitdump, buf[:min(n, 4)])
	}
	c := wire.NewCursor(FormatName, "file header", buf[:n], h.Order, 0)
	c.U32("magic")
	if h.Version = c.U32("version"); h.Version > 2 {
		c.Bad("version", "is %d; 0, 1 and 2 are known", h.Version)
	}
	size := c.U32("total_size")
	if size > maxHeaderSize {
		c.Bad("total_size", "is %d, more than any header needs", size)
	}
	h.Machine = c.U32("elf_mach")
	h.Pad = c.U32("pad1")
	h.PID = c.U32("pid")
	h.Timestamp = c.U64("timestamp")
	h.Flags = Flags(c.U64("flags"))
	if err := c.Err(); err != nil {
		return nil, err
	}
	// A total_size below 40 counts as 40, as in perf: the fields are there.
	if size > headerSize {
		h.Extra = make([]byte, size-headerSize)
		if n, err := r.ReadAt(h.Extra, headerSize); n < len(h.Extra) {
			if err == io.EOF {
				c.Fail("total_size", "is %d, but the file ends here, at %d", size, headerSize+n)
				err = c.Err()
			}
			return nil, err
		}
	}
	return h, nil
}

// append encodes h.
func (h *Header) append(b *wire.Buffer) {
	b.U32(magic)
	b.U32(h.Version)
	b.U32(uint32(h.Size()))
	b.U32(h.Machine)
	b.U32(h.Pad)
	b.U32(h.PID)
	b.U64(h.Timestamp)
	b.U64(uint64(h.Flags))
	b.Bytes(h.Extra)
}
