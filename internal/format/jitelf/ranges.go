package jitelf

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/format/dwarfdata"
	"github.com/jitinject/jitinject/internal/wire"
)

// A rangeReader reads the code ranges of the entries of a unit. debug/dwarf could, but takes a list
// of any length for each entry: lists may overlap.
type rangeReader struct {
	order    binary.ByteOrder
	addrSize int
	version  int
	base     uint64 // address that lists count from
	addrBase uint64 // offset of the unit's addresses in .debug_addr
	addrs    []byte // .debug_addr
	lists    []byte // .debug_ranges or .debug_rnglists
	section  string // name of that
	ranges   []codeRange
}

// newRangeReader returns a reader for the unit with a root entry.
func newRangeReader(o *Object, c *contents, u *dwarfdata.Unit, root *dwarf.Entry) rangeReader {
	r := rangeReader{order: o.order, addrSize: u.AddrSize, version: u.Version, addrs: c.data[dwarfdata.Addr], section: dwarfdata.Ranges}
	if u.Version >= 5 {
		r.section = dwarfdata.RngLists
	}
	r.lists = c.data[r.section]
	var ok bool
	if r.base, ok = root.Val(dwarf.AttrLowpc).(uint64); !ok {
		r.base, _ = root.Val(dwarf.AttrEntrypc).(uint64) // gcc before 4.4
	}
	if n, ok := root.Val(dwarf.AttrAddrBase).(int64); ok {
		r.addrBase = uint64(n)
	}
	return r
}

// read returns the code of an entry, without empty ranges, and the size of the list, in bytes. The
// ranges are valid until the next call.
func (r *rangeReader) read(e *dwarf.Entry) (ranges []codeRange, size int, err error) {
	r.ranges = r.ranges[:0]
	if low, ok := e.Val(dwarf.AttrLowpc).(uint64); ok {
		switch high := e.Val(dwarf.AttrHighpc).(type) {
		case uint64:
			r.add(low, high)
		case int64:
			r.add(low, low+uint64(high))
		}
	}
	at := uint64(0)
	switch v := e.Val(dwarf.AttrRanges).(type) {
	case int64:
		at = uint64(v)
	case uint64: // rnglistx: debug/dwarf looked it up
		at = v
	default:
		return r.ranges, 0, nil
	}
	c := wire.NewCursor("DWARF", r.section, r.lists, r.order, 0)
	c.Bytes("DW_AT_ranges", at)
	base := r.base
	for c.Err() == nil {
		more := false
		if r.version >= 5 {
			more = r.entry5(&c, &base)
		} else {
			more = r.entry2(&c, &base)
		}
		if !more {
			break
		}
	}
	if c.Err() != nil {
		return nil, c.Pos(), fmt.Errorf("entry at offset %#x: %w", e.Offset, c.Err())
	}
	return r.ranges, c.Pos() - int(at), nil
}

// add adds a range unless it is empty.
func (r *rangeReader) add(low, high uint64) {
	if r.addrSize == 4 {
		low, high = low&math.MaxUint32, high&math.MaxUint32
	}
	if low < high {
		r.ranges = append(r.ranges, codeRange{low, high})
	}
}

func (r *rangeReader) address(c *wire.Cursor) uint64 {
	if r.addrSize == 4 {
		return uint64(c.U32("address"))
	}
	return c.U64("address")
}

// entry2 reads an entry of a list of DWARF 2 to 4 [DWARF4 2.17.3]. It reports whether others follow.
func (r *rangeReader) entry2(c *wire.Cursor, base *uint64) (more bool) {
	low, high := r.address(c), r.address(c)
	switch highest := uint64(math.MaxUint64) >> (64 - 8*r.addrSize); {
	case c.Err() != nil || low == 0 && high == 0:
		return false
	case low == highest:
		*base = high
	default:
		r.add(*base+low, *base+high)
	}
	return true
}

// entry5 reads an entry of a list of DWARF 5 [DWARF5 2.17.3]. It reports whether others follow.
func (r *rangeReader) entry5(c *wire.Cursor, base *uint64) (more bool) {
	switch kind := c.U8("kind of entry"); kind {
	case 0: // end_of_list
		return false
	case 1: // base_addressx
		*base = r.indexed(c)
	case 2: // startx_endx
		low := r.indexed(c)
		r.add(low, r.indexed(c))
	case 3: // startx_length
		low := r.indexed(c)
		r.add(low, low+c.Uleb("length"))
	case 4: // offset_pair
		low := *base + c.Uleb("offset")
		r.add(low, *base+c.Uleb("offset"))
	case 5: // base_address
		*base = r.address(c)
	case 6: // start_end
		low := r.address(c)
		r.add(low, r.address(c))
	case 7: // start_length
		low := r.address(c)
		r.add(low, low+c.Uleb("length"))
	default:
		c.Bad("kind of entry", "%#x is not supported", kind)
	}
	return c.Err() == nil
}

// indexed reads the index of an address in .debug_addr, and returns that address.
func (r *rangeReader) indexed(c *wire.Cursor) uint64 {
	i, size := c.Uleb("index of an address"), uint64(r.addrSize)
	all := uint64(len(r.addrs))
	if r.addrBase > all || i >= (all-r.addrBase)/size {
		c.Fail("index of an address", "%d; %s has %d bytes from offset %#x on", i, dwarfdata.Addr, all-min(r.addrBase, all), r.addrBase)
		return 0
	}
	b := r.addrs[r.addrBase+i*size:]
	if size == 4 {
		return uint64(r.order.Uint32(b))
	}
	return r.order.Uint64(b)
}
