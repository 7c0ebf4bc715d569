package dwarfgen

import (
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

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
