package dwarfgen

import (
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

// An abbrevTable is .debug_abbrev: the shapes of entries, numbered from 1. Each shape is stored
// once for all units [7.5.3].
type abbrevTable struct {
	buf   wire.Buffer
	codes map[string]uint64 // by shape, encoded
	shape wire.Buffer
}

func (t *abbrevTable) reset() {
	t.buf.Reset(binary.LittleEndian) // its content has no byte order
	if t.codes == nil {
		t.codes = make(map[string]uint64)
	}
	clear(t.codes)
}

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
	if code, ok := t.codes[string(s.Data)]; ok {
		return code
	}
	code := uint64(len(t.codes) + 1)
	t.codes[string(s.Data)] = code
	t.buf.Uleb(code)
	t.buf.Bytes(s.Data)
	return code
}

// bytes returns the section with its terminator.
func (t *abbrevTable) bytes() []byte {
	if t.buf.Len() == 0 {
		return nil
	}
	return append(t.buf.Data, 0)
}
