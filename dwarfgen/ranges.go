package dwarfgen

import "debug/dwarf"

// A Range is the addresses [Low, High) of code.
type Range struct{ Low, High uint64 }

// Ranges returns a list of ranges as DW_AT_ranges, for entries with several ranges of code. The
// attribute is for entries of u, until its next Reset. The list is copied.
//
// Ranges are sorted by address and do not overlap. Empty ranges are dropped, and so are addresses
// outside of u.Low and u.High at the time of Builder.Add. So a list can become empty.
func (u *Unit) Ranges(name dwarf.Attr, list []Range) Attr {
	a := Attr{name: name, form: formRanges, num: uint64(len(u.ranges))}
	for _, r := range list {
		if r.Low < r.High {
			u.ranges = append(u.ranges, r)
		}
	}
	u.ranges = append(u.ranges, Range{}) // an empty range ends the list, here as in the section
	return a
}

// Kinds of entries of .debug_rnglists [7.25].
const (
	rleEndOfList  = 0x00
	rleOffsetPair = 0x04
)

// placeRanges appends the unit's lists of ranges to .debug_rnglists [7.28] or, in version 4,
// .debug_ranges [DWARF 4, 7.24]. It replaces their attributes by references.
//
// The references are offsets from the start of these sections, DW_FORM_sec_offset, which needs
// neither a table of offsets nor DW_AT_rnglists_base. The lists have offsets from the unit's
// DW_AT_low_pc, as compilers write for code in one piece: all readers support them.
func (u *Unit) placeRanges(b *Builder) {
	if len(u.ranges) == 0 {
		return
	}
	if b.enc.Version < 5 {
		u.eachRanges(func(a *Attr) { b.addRangesV4(a, u) })
		return
	}
	w := &b.ranges
	w.Prefixed32(func() {
		w.U16(5)
		w.U8(uint8(b.enc.AddrSize))
		w.U8(0)  // segment_selector_size
		w.U32(0) // offset_entry_count
		u.eachRanges(func(a *Attr) { b.addRangesV5(a, u) })
	})
}

// eachRanges calls f for each attribute that is a list of ranges.
func (u *Unit) eachRanges(f func(*Attr)) {
	for i := range u.entries {
		e := &u.entries[i]
		for j := e.first; j < e.last; j++ {
			if u.attrs[j].form == formRanges {
				f(&u.attrs[j])
			}
		}
	}
}

func (b *Builder) addRangesV5(a *Attr, u *Unit) {
	w := &b.ranges
	list := u.ranges[a.num:]
	*a = secOffset(a.name, ranges, w.Len())
	for ; list[0] != (Range{}); list = list[1:] {
		if low, high := max(list[0].Low, u.Low), min(list[0].High, u.High); low < high {
			w.U8(rleOffsetPair)
			w.Uleb(low - u.Low)
			w.Uleb(high - u.Low)
		}
	}
	w.U8(rleEndOfList)
}

// addRangesV4 writes pairs of addresses. Two pairs have a special meaning, and cannot occur. Two
// zeros end the list, but empty ranges are not written. The highest address selects a base, but no
// range begins there.
func (b *Builder) addRangesV4(a *Attr, u *Unit) {
	w, size := &b.ranges, b.enc.AddrSize
	list := u.ranges[a.num:]
	*a = secOffset(a.name, ranges, w.Len())
	for ; list[0] != (Range{}); list = list[1:] {
		if low, high := max(list[0].Low, u.Low), min(list[0].High, u.High); low < high {
			w.Word(low-u.Low, size)
			w.Word(high-u.Low, size)
		}
	}
	w.Word(0, size)
	w.Word(0, size)
}
