package dwarfgen

import "debug/dwarf"

// unitHeader returns the length of a unit's header [7.5.1.1], in bytes.
func unitHeader(enc Encoding) uint32 {
	if enc.Version >= 5 {
		return 12 // unit_length, version, unit_type, address_size, debug_abbrev_offset
	}
	return 11 // without unit_type
}

// maxSection is the limit of offsets in the 32-bit format; higher lengths have other meanings
// [7.4].
const maxSection = 0xfffffff0

// Add appends a unit to the sections. The unit can be reset afterwards.
func (b *Builder) Add(u *Unit) {
	at := uint32(b.info.Len())
	u.finishRoot(b)
	u.resolve(b)
	end := u.place(b, uint64(unitHeader(b.enc)))
	if uint64(at)+end > maxSection {
		b.tooLarge = true
		return
	}
	w := &b.info
	w.U32(uint32(end) - 4)
	w.U16(uint16(b.enc.Version))
	if b.enc.Version >= 5 {
		w.U8(1) // DW_UT_compile
		w.U8(uint8(b.enc.AddrSize))
		b.refer(info, w, abbrevs, 0) // all units share one abbreviation table
	} else {
		b.refer(info, w, abbrevs, 0)
		w.U8(uint8(b.enc.AddrSize))
	}
	u.write(b)
	if u.High > u.Low {
		b.addAranges(at, u.Low, u.High)
	}
}

// finishRoot appends the attributes that Builder.Add computes to the root.
func (u *Unit) finishRoot(b *Builder) {
	if u.High > u.Low {
		u.AddAttrs(0, Addr(dwarf.AttrLowpc, u.Low), Size(dwarf.AttrHighpc, u.High-u.Low))
	}
	if len(u.Lines.rows) > 0 {
		u.AddAttrs(0, secOffset(dwarf.AttrStmtList, line, b.line.Len()))
		b.addLines(&u.Lines)
	}
}

// resolve stores strings and ranges in their sections and sets the entries' abbreviations. After
// it, the size of every attribute is known.
func (u *Unit) resolve(b *Builder) {
	u.placeRanges(b)
	for i := range u.entries {
		e := &u.entries[i]
		for j := e.first; j < e.last; j++ {
			u.attrs[j].resolve(b)
		}
		e.code = b.abbrev.code(e, u.attrs[e.first:e.last])
	}
}

// place computes the offsets of the entries. The first has the given offset. It returns the end of
// the last one. If that is beyond 4 GiB, the offsets are invalid.
func (u *Unit) place(b *Builder, offset uint64) uint64 {
	for id, more := EntryID(0), true; more; {
		e := &u.entries[id]
		e.offset = uint32(offset)
		offset += uint64(ulebSize(e.code))
		for i := e.first; i < e.last; i++ {
			offset += uint64(u.attrs[i].size(b.enc))
		}
		var ended int
		id, ended, more = u.following(id)
		offset += uint64(ended) // the null entries that end lists of children
	}
	return offset
}

// write appends the entries to .debug_info.
func (u *Unit) write(b *Builder) {
	for id, more := EntryID(0), true; more; {
		e := &u.entries[id]
		b.info.Uleb(e.code)
		for i := e.first; i < e.last; i++ {
			u.attrs[i].write(b, u)
		}
		var ended int
		id, ended, more = u.following(id)
		b.info.Zeros(ended)
	}
}

// following returns the entry after id in the section [2.3]. ended is the number of lists of
// children that end between the two. more is false after the last entry. Trees may be deep: nothing
// walks them by recursion.
func (u *Unit) following(id EntryID) (next EntryID, ended int, more bool) {
	e := &u.entries[id]
	if e.firstChild != 0 {
		return e.firstChild, 0, true
	}
	for id != 0 && e.next == 0 {
		id = e.parent
		e = &u.entries[id]
		ended++
	}
	return e.next, ended, e.next != 0
}

// addAranges appends the address range of the unit at offset unit of .debug_info [7.21]. elfutils
// needs it to find units.
func (b *Builder) addAranges(unit uint32, low, high uint64) {
	w, size := &b.aranges, b.enc.AddrSize
	at := w.Len()
	w.Prefixed32(func() {
		w.U16(2) // the version of this table in DWARF 2 to 5
		b.refer(aranges, w, info, unit)
		w.U8(uint8(size))
		w.U8(0) // no segment selectors
		for (w.Len()-at)%(2*size) != 0 {
			w.U8(0)
		}
		w.Word(low, size)
		w.Word(high-low, size)
		w.Word(0, size)
		w.Word(0, size)
	})
}

func ulebSize(v uint64) uint32 {
	n := uint32(1)
	for v >>= 7; v != 0; v >>= 7 {
		n++
	}
	return n
}
