package elfcore

import (
	"errors"
	"fmt"
	"io"
	"sort"
)

// A MissingError says that a core does not hold the memory at an address: nothing was
// there, or it was left out when the core was made. A running process (package procmem) may lack
// memory as well.
type MissingError struct {
	Addr    uint64 // the first one that is missing
	LeftOut bool   // the process had memory there, the core does not have what was in it
	Running bool   // the memory is that of a running process, and no core
}

func (e *MissingError) Error() string {
	switch {
	case e.Running:
		return fmt.Sprintf("the process has no memory at %#x that can be read", e.Addr)
	case e.LeftOut:
		return fmt.Sprintf("%s: what was in memory at %#x was left out", FormatName, e.Addr)
	}
	return fmt.Sprintf("%s: the process had no memory at %#x", FormatName, e.Addr)
}

// ReadCode fills p with what was in memory at addr. It returns a *MissingError where
// the core does not hold all of it.
func (c *Core) ReadCode(addr uint64, p []byte) error {
	for len(p) > 0 {
		n, err := c.read(addr, p)
		if err != nil {
			return err
		}
		if addr += uint64(n); addr < uint64(n) && n < len(p) {
			return &MissingError{Addr: addr}
		}
		p = p[n:]
	}
	return nil
}

// read reads from one segment.
func (c *Core) read(addr uint64, p []byte) (int, error) {
	s := c.segmentAt(addr)
	if s == nil {
		return 0, &MissingError{Addr: addr}
	}
	off := addr - s.Addr
	if off >= s.Stored {
		return 0, &MissingError{Addr: addr, LeftOut: true}
	}
	n := int(min(s.Stored-off, uint64(len(p))))
	at := s.Offset + int64(off)
	got, err := c.src.ReadAt(p[:n], at)
	switch {
	case got == n:
		return n, nil
	case errors.Is(err, io.EOF):
		return 0, fmt.Errorf("%s: memory at %#x should be at offset %#x: the file is cut off", FormatName, addr+uint64(got), at+int64(got))
	}
	return 0, fmt.Errorf("%s: memory at %#x, at offset %#x: %w", FormatName, addr, at, err)
}

// segmentAt returns the segment of an address, or nil. Of segments that overlap, which
// no process has, the one that begins last counts.
func (c *Core) segmentAt(addr uint64) *Segment {
	i := sort.Search(len(c.segments), func(i int) bool { return c.segments[i].Addr > addr })
	if i == 0 {
		return nil
	}
	s := &c.segments[i-1]
	if addr-s.Addr >= s.Size {
		return nil
	}
	return s
}
