package checkdump

import (
	"github.com/jitinject/jitinject/internal/format/callframe"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/ehframe"
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

func (c *checker) unwinding(raw *jitdump.Raw) {
	if u := c.unwind.record; u != nil {
		c.Violation("dump/unwind-orphan", u.offset, "another unwinding record follows at offset %#x, and no load", raw.Offset)
		c.unwind.record = nil
	}
	u, err := raw.Unwinding()
	if err != nil {
		c.Violation("dump/unwind-size", raw.Offset, "%v", err)
		return
	}
	c.extra(raw, len(u.Extra), len(raw.Body))
	if size := uint64(len(u.Data)); u.MappedSize != 0 && (u.MappedSize < size || u.MappedSize > (size+15)&^15) {
		c.Violation("dump/unwind-mapped", raw.Offset, "mapped_size is %d, of %d bytes", u.MappedSize, size)
	}
	c.unwind.buf = append(c.unwind.buf[:0], u.Data...)
	c.unwind.record = &unwindRecord{raw.Offset, u.HeaderSize, c.unwind.buf}
}

// unwindOf checks the unwinding record in front of a load.
func (c *checker) unwindOf(raw *jitdump.Raw, l *jitdump.Load) {
	u := c.unwind.record
	c.unwind.record = nil
	if u == nil || len(u.data) == 0 {
		return
	}
	n := uint64(len(u.data))
	place := callframe.Place{
		Order: raw.Order, AddrSize: callframe.AddrSize(c.machine, l.CodeAddr), Machine: c.machine,
		Addr: (l.CodeAddr + l.CodeSize + 7) &^ 7, // where perf has them
	}
	frames, header := u.data[:n-u.headerSize], u.data[n-u.headerSize:]
	table, err := ehframe.Read(place, frames)
	if err != nil || u.headerSize > 0 && !callframe.IsHeader(header) {
		swapped, other := u.data[u.headerSize:], u.data[:u.headerSize]
		if addr, ok := callframe.FramesAddress(raw.Order, place.AddrSize, other); ok {
			place.Addr = addr
		}
		if table, serr := ehframe.Read(place, swapped); serr == nil && u.headerSize > 0 && callframe.IsHeader(other) {
			c.Violation("dump/unwind-order", u.offset, "the tables of %s begin with .eh_frame_hdr", verify.Quoted(l.Name))
			c.shared(u, table, l)
			return
		} else if u.headerSize > 0 && callframe.IsHeader(other) && !callframe.IsHeader(header) {
			err = serr
		}
		if err == nil {
			c.Violation("dump/unwind-frames", u.offset, "%s: the last %d bytes are no .eh_frame_hdr", verify.Quoted(l.Name), u.headerSize)
			return
		}
		c.Violation("dump/unwind-frames", u.offset, "%s: %v", verify.Quoted(l.Name), err)
		return
	}
	if len(table) == 0 {
		return // nothing is said: as the format has it for functions with frame pointers
	}
	for _, f := range table {
		if f.Low < l.CodeAddr || f.High > l.CodeAddr+l.CodeSize || f.Low > f.High {
			c.Violation("dump/unwind-place", u.offset, "%s has an FDE for %#x to %#x, its code is at %#x to %#x", verify.Quoted(l.Name), f.Low, f.High, l.CodeAddr, l.CodeAddr+l.CodeSize)
			return
		}
	}
	if low, high, ok := uncovered(table, l); ok {
		c.Violation("dump/unwind-cover", u.offset, "no FDE of %s is about its code from +%#x to +%#x, of %#x", verify.Quoted(l.Name), low, high, l.CodeSize)
	}
	if u.headerSize == 0 {
		c.Violation("dump/unwind-header", u.offset, "%s has FDEs and no .eh_frame_hdr", verify.Quoted(l.Name))
		return
	}
	if err := ehframe.CheckHeader(place, header, place.Addr+uint64(len(frames)), table); err != nil {
		c.Violation("dump/unwind-header", u.offset, "%s: %v", verify.Quoted(l.Name), err)
	}
}

// uncovered returns the first offsets of a function's code that no FDE is about. FDEs leave out padding,
// which is up to 7 bytes at the end, and up to a line of the cache before another function.
func uncovered(table []ehframe.Entry, l *jitdump.Load) (low, high uint64, ok bool) {
	const lineOfCache = 64
	end, most := l.CodeAddr, uint64(0)
	for _, f := range table {
		if f.Low > end+most {
			return end - l.CodeAddr, f.Low - l.CodeAddr, true
		}
		end, most = max(end, f.High), lineOfCache-1
	}
	return end - l.CodeAddr, l.CodeSize, l.CodeAddr+l.CodeSize > end+7
}

// shared says which FDEs of an unwinding record are about other code than that of its load,
// where the header tells what they are about.
func (c *checker) shared(u *unwindRecord, table []ehframe.Entry, l *jitdump.Load) {
	others := 0
	for _, f := range table {
		if f.High <= l.CodeAddr || f.Low >= l.CodeAddr+l.CodeSize {
			others++
		}
	}
	if others > 0 && len(table) > 1 {
		c.Violation("dump/unwind-shared", u.offset, "%d of the %d FDEs before the load of %s are about other code", others, len(table), verify.Quoted(l.Name))
	}
}
