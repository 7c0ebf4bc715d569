package verify

import (
	"debug/elf"
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
	"github.com/jitinject/jitinject/jitdump"
)

// A pendingUnwind is an unwinding record that waits for its load.
type pendingUnwind struct {
	record *unwindRecord
	buf    []byte
}

type unwindRecord struct {
	offset     int64
	headerSize uint64
	data       []byte
}

// unwinding checks the sizes of an unwinding record.
func (c *dumpCheck) unwinding(raw *jitdump.Raw) {
	if u := c.unwind.record; u != nil {
		c.broken("dump/unwind-orphan", u.offset, "another unwinding record follows at offset %#x, and no load", raw.Offset)
		c.unwind.record = nil
	}
	u, err := raw.Unwinding()
	if err != nil {
		c.broken("dump/unwind-size", raw.Offset, "%v", err)
		return
	}
	c.extra(raw, len(u.Extra), len(raw.Body))
	if size := uint64(len(u.Data)); u.MappedSize != 0 && (u.MappedSize < size || u.MappedSize > (size+15)&^15) {
		c.broken("dump/unwind-mapped", raw.Offset, "mapped_size is %d, of %d bytes", u.MappedSize, size)
	}
	c.unwind.buf = append(c.unwind.buf[:0], u.Data...)
	c.unwind.record = &unwindRecord{raw.Offset, u.HeaderSize, c.unwind.buf}
}

// unwindOf checks the unwinding record in front of a load.
func (c *dumpCheck) unwindOf(raw *jitdump.Raw, l *jitdump.Load) {
	u := c.unwind.record
	c.unwind.record = nil
	if u == nil || len(u.data) == 0 {
		return
	}
	order, n := raw.Order, uint64(len(u.data))
	// Where perf has the frames and the header.
	framesAt := (l.CodeAddr + l.CodeSize + 7) &^ 7
	frames, header := u.data[:n-u.headerSize], u.data[n-u.headerSize:]
	table, err := readFrames(order, c.addrSize(l.CodeAddr), frames, framesAt)
	if err != nil || u.headerSize > 0 && !isFrameHeader(header) {
		swapped, other := u.data[u.headerSize:], u.data[:u.headerSize]
		if addr, ok := framesAddress(order, c.addrSize(l.CodeAddr), other); ok {
			framesAt = addr
		}
		if table, serr := readFrames(order, c.addrSize(l.CodeAddr), swapped, framesAt); serr == nil && u.headerSize > 0 && isFrameHeader(other) {
			c.broken("dump/unwind-order", u.offset, "the tables of %s begin with .eh_frame_hdr", quoted(l.Name))
			c.shared(u, table, l)
			return
		}
		if err == nil {
			c.broken("dump/unwind-frames", u.offset, "%s: the last %d bytes are no .eh_frame_hdr", quoted(l.Name), u.headerSize)
			return
		}
		c.broken("dump/unwind-frames", u.offset, "%s: .eh_frame: %v", quoted(l.Name), err)
		return
	}
	if len(table) == 0 {
		return // nothing is said: as the format has it for functions with frame pointers
	}
	var covered uint64
	for _, f := range table {
		if f.low < l.CodeAddr || f.high > l.CodeAddr+l.CodeSize || f.low > f.high {
			c.broken("dump/unwind-place", u.offset, "%s has an FDE for %#x to %#x, its code is at %#x to %#x", quoted(l.Name), f.low, f.high, l.CodeAddr, l.CodeAddr+l.CodeSize)
			return
		}
		covered += f.high - f.low
	}
	// Code may end in padding, which FDEs leave out.
	if covered+8 <= l.CodeSize {
		c.broken("dump/unwind-cover", u.offset, "the FDEs of %s are about %d bytes, its code has %d", quoted(l.Name), covered, l.CodeSize)
	}
	if u.headerSize == 0 {
		c.broken("dump/unwind-header", u.offset, "%s has FDEs and no .eh_frame_hdr", quoted(l.Name))
		return
	}
	if err := checkFrameHeader(order, c.addrSize(l.CodeAddr), header, framesAt+uint64(len(frames)), framesAt, table); err != nil {
		c.broken("dump/unwind-header", u.offset, "%s: %v", quoted(l.Name), err)
	}
}

// framesAddress returns the address of .eh_frame, if the header has it as it is
// [LSB Core 10.6.2].
func framesAddress(order binary.ByteOrder, addrSize int, header []byte) (addr uint64, ok bool) {
	if len(header) < 4 || header[1] == peOmit || header[1]&0xf0 != 0 {
		return 0, false
	}
	e := entryReader{c: wire.NewCursor(".eh_frame_hdr", "", header[4:], order, 0), addrSize: addrSize}
	addr, err := e.pointer(header[1])
	return addr, err == nil && e.c.Err() == nil && addr != 0
}

// shared says which FDEs of an unwinding record are about other code than that of its load,
// where the header tells what they are about.
func (c *dumpCheck) shared(u *unwindRecord, table []frameEntry, l *jitdump.Load) {
	others := 0
	for _, f := range table {
		if f.high <= l.CodeAddr || f.low >= l.CodeAddr+l.CodeSize {
			others++
		}
	}
	if others > 0 && len(table) > 1 {
		c.broken("dump/unwind-shared", u.offset, "%d of the %d FDEs in front of the load of %s are about other code", others, len(table), quoted(l.Name))
	}
}

// addrSize returns the size of addresses in tables, in bytes.
func (c *dumpCheck) addrSize(addr uint64) int { return addrSizeOf(c.machine, addr) }

func addrSizeOf(m elf.Machine, addr uint64) int {
	switch m {
	case elf.EM_386, elf.EM_ARM, elf.EM_PPC, elf.EM_SPARC, elf.EM_68K, elf.EM_SH, elf.EM_PARISC, elf.EM_XTENSA:
		return 4
	case elf.EM_MIPS:
		if addr < 1<<32 {
			return 4
		}
	}
	return 8
}
