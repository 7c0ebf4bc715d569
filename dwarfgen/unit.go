package dwarfgen

import (
	"debug/dwarf"
	"encoding/binary"
	"slices"

	"github.com/jitinject/jitinject/internal/wire"
)

// An EntryID identifies an entry of its unit. The unit's own entry, its root, is 0.
type EntryID int

// A Unit describes one compilation unit. It has to be Reset before first use.
type Unit struct {
	Lines LineTable // if it has rows, the root gets DW_AT_stmt_list

	// Low and High bound the addresses of the unit's code, [Low, High). Both are 0 for no code.
	Low, High uint64

	entries []entry
	attrs   []Attr
	ranges  []Range // lists, each followed by an empty range
}

// An entry is a debugging information entry. Its attributes are
// attrs[first:last] of its unit.
type entry struct {
	tag         dwarf.Tag
	first, last int
	code        uint64 // of its abbreviation
	offset      uint32 // from the start of the unit
	parent      EntryID
	firstChild  EntryID
	lastChild   EntryID
	next        EntryID // its next sibling
}

// Reset empties u and adds a root entry with the given attributes. Builder.Add appends address
// range and line table to it.
func (u *Unit) Reset(root ...Attr) {
	u.Lines.reset()
	u.Low, u.High = 0, 0
	u.entries = u.entries[:0]
	u.attrs = u.attrs[:0]
	u.ranges = u.ranges[:0]
	u.append(dwarf.TagCompileUnit, root)
}

func (u *Unit) append(tag dwarf.Tag, attrs []Attr) EntryID {
	first := len(u.attrs)
	u.attrs = append(u.attrs, attrs...)
	u.entries = append(u.entries, entry{tag: tag, first: first, last: len(u.attrs)})
	return EntryID(len(u.entries) - 1)
}

// Add adds an entry below parent, after the existing children.
func (u *Unit) Add(parent EntryID, tag dwarf.Tag, attrs ...Attr) EntryID {
	id := u.append(tag, attrs)
	u.entries[id].parent = parent
	p := &u.entries[parent]
	if p.firstChild == 0 {
		p.firstChild = id
	} else {
		u.entries[p.lastChild].next = id
	}
	p.lastChild = id
	return id
}

// AddAttrs appends attributes to an existing entry, such as a reference to an entry that was added
// after it.
func (u *Unit) AddAttrs(id EntryID, attrs ...Attr) {
	e := &u.entries[id]
	if e.last != len(u.attrs) { // an entry's attributes are adjacent
		own := u.attrs[e.first:e.last]
		e.first = len(u.attrs)
		u.attrs = append(u.attrs, own...)
	}
	u.attrs = append(u.attrs, attrs...)
	e.last = len(u.attrs)
}

// Grow makes room for more entries and attributes.
func (u *Unit) Grow(entries, attrs int) {
	u.entries, u.attrs = slices.Grow(u.entries, entries), slices.Grow(u.attrs, attrs)
}

// An abbrevTable is .debug_abbrev: the shapes of entries, numbered from 1. Each shape is stored
// once for all units [7.5.3].
type abbrevTable struct {
	buf    wire.Buffer
	shapes map[string]int // index in codes, by shape, encoded; shapes of earlier tables stay there
	codes  []uint64       // 0 for a shape that is not in the table
	last   uint64         // number of shapes in the table
	shape  wire.Buffer
}

func (t *abbrevTable) reset() {
	t.buf.Reset(binary.LittleEndian) // its content has no byte order
	if t.shapes == nil || len(t.codes) > maxShapes {
		t.shapes, t.codes = make(map[string]int), nil
	}
	clear(t.codes)
	t.last = 0
}

// maxShapes bounds how many shapes are remembered from table to table.
const maxShapes = 1000

// code returns the number of an entry's shape.
func (t *abbrevTable) code(e *entry, attrs []Attr) uint64 {
	s := &t.shape
	s.Reset(binary.LittleEndian)
	s.Uleb(uint64(e.tag))
	if e.firstChild != 0 {
		s.U8(1) // DW_CHILDREN_yes
	} else {
		s.U8(0)
	}
	for i := range attrs {
		s.Uleb(uint64(attrs[i].name))
		s.Uleb(uint64(attrs[i].form))
	}
	s.U16(0) // no more attributes
	i, ok := t.shapes[string(s.Data)]
	if !ok {
		i = len(t.codes)
		t.shapes[string(s.Data)] = i
		t.codes = append(t.codes, 0)
	}
	if t.codes[i] == 0 {
		t.last++
		t.codes[i] = t.last
		t.buf.Uleb(t.last)
		t.buf.Bytes(s.Data)
	}
	return t.codes[i]
}

// bytes returns the section with its terminator.
func (t *abbrevTable) bytes() []byte {
	if t.buf.Len() == 0 {
		return nil
	}
	return append(t.buf.Data, 0)
}
