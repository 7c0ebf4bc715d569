package dwarfgen

import (
	"debug/dwarf"
)

// An EntryID names an entry of the unit it was added to. The unit's own entry,
// its root, is 0.
type EntryID int

// A Unit describes one compilation unit. Reset comes before first use.
type Unit struct {
	Lines LineTable // if it has rows, the root gets DW_AT_stmt_list

	// Low and High are the addresses that the unit's code spans, [Low, High).
	Low, High uint64

	entries []entry
	attrs   []Attr
}

// An entry is a debugging information entry. Its attributes are
// attrs[first:last] of its unit.
type entry struct {
	tag         dwarf.Tag
	first, last int
	code        uint64 // of its abbreviation
	offset      uint32 // from the start of the unit
	firstChild  EntryID
	lastChild   EntryID
	next        EntryID // its next sibling
}

// Reset empties u and gives it a root entry with the given attributes, to which
// Builder.Add appends address range and line table.
func (u *Unit) Reset(root ...Attr) {
	u.Lines.reset()
	u.Low, u.High = 0, 0
	u.entries = u.entries[:0]
	u.attrs = u.attrs[:0]
	u.append(dwarf.TagCompileUnit, root)
}

func (u *Unit) append(tag dwarf.Tag, attrs []Attr) EntryID {
	first := len(u.attrs)
	u.attrs = append(u.attrs, attrs...)
	u.entries = append(u.entries, entry{tag: tag, first: first, last: len(u.attrs)})
	return EntryID(len(u.entries) - 1)
}

// Add adds an entry below parent, behind the children that are there.
func (u *Unit) Add(parent EntryID, tag dwarf.Tag, attrs ...Attr) EntryID {
	id := u.append(tag, attrs)
	p := &u.entries[parent]
	if p.firstChild == 0 {
		p.firstChild = id
	} else {
		u.entries[p.lastChild].next = id
	}
	p.lastChild = id
	return id
}

// unitHeader is the length of a unit's header [7.5.1.1].
func unitHeader(enc Encoding) uint32 {
	if enc.Version >= 5 {
		return 12 // unit_length, version, unit_type, address_size, debug_abbrev_offset
	}
	return 11 // without unit_type
}

// Add lays a unit out and appends it to the sections. The unit can be reset
// afterwards.
func (b *Builder) Add(u *Unit) {
	at := uint32(b.info.Len())
	u.finishRoot(b)
	u.resolve(b)
	end := u.place(b, 0, unitHeader(b.enc))
	w := &b.info
	w.U32(end - 4)
	w.U16(uint16(b.enc.Version))
	if b.enc.Version >= 5 {
		w.U8(1) // DW_UT_compile
		w.U8(uint8(b.enc.AddrSize))
		w.U32(0) // all units share one abbreviation table
	} else {
		w.U32(0)
		w.U8(uint8(b.enc.AddrSize))
	}
	u.write(b, 0)
	if u.High > u.Low {
		b.addAranges(at, u.Low, u.High)
	}
}

// finishRoot appends to the root's attributes what Builder.Add knows. They
// stand behind all others, so the root's are moved there.
func (u *Unit) finishRoot(b *Builder) {
	root := &u.entries[0]
	own := u.attrs[root.first:root.last]
	root.first = len(u.attrs)
	u.attrs = append(u.attrs, own...)
	if u.High > u.Low {
		u.attrs = append(u.attrs, Addr(dwarf.AttrLowpc, u.Low), Size(dwarf.AttrHighpc, u.High-u.Low))
	}
	if len(u.Lines.rows) > 0 {
		u.attrs = append(u.attrs, secOffset(dwarf.AttrStmtList, uint32(b.line.Len())))
		b.addLines(&u.Lines)
	}
	root.last = len(u.attrs)
}

// resolve puts strings into their sections and gives entries their
// abbreviations: after it, the size of every attribute is known.
func (u *Unit) resolve(b *Builder) {
	for i := range u.attrs {
		u.attrs[i].resolve(b)
	}
	for i := range u.entries {
		e := &u.entries[i]
		e.code = b.abbrev.code(e, u.attrs[e.first:e.last])
	}
}

// place gives the entry id, which begins at offset, and those below it their
// offsets and returns where they end.
func (u *Unit) place(b *Builder, id EntryID, offset uint32) uint32 {
	e := &u.entries[id]
	e.offset = offset
	offset += ulebSize(e.code)
	for i := e.first; i < e.last; i++ {
		offset += u.attrs[i].size(b.enc)
	}
	if e.firstChild == 0 {
		return offset
	}
	for c := e.firstChild; c != 0; c = u.entries[c].next {
		offset = u.place(b, c, offset)
	}
	return offset + 1 // the null entry that ends the children
}

func (u *Unit) write(b *Builder, id EntryID) {
	e := &u.entries[id]
	b.info.Uleb(e.code)
	for i := e.first; i < e.last; i++ {
		u.attrs[i].write(&b.info, b.enc, u)
	}
	if e.firstChild == 0 {
		return
	}
	for c := e.firstChild; c != 0; c = u.entries[c].next {
		u.write(b, c)
	}
	b.info.U8(0)
}

// addAranges appends the address range of the unit at offset unit of
// .debug_info [7.21]. elfutils finds units by it.
func (b *Builder) addAranges(unit uint32, low, high uint64) {
	w, size := &b.aranges, b.enc.AddrSize
	at := w.Len()
	w.Prefixed32(func() {
		w.U16(2) // the version of this table in DWARF 2 to 5
		w.U32(unit)
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
