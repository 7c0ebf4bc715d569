package j9meta

import (
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// RegisterPointers says which registers point into the middle of an array.
type RegisterPointers struct {
	Size   uint8 // in bytes, of all that follows it; 0: not even a number of arrays follows
	Arrays []PinningArray
	Extra  []byte // what Size has behind the arrays
}

// A PinningArray is a slot that holds an array, and what points into it.
type PinningArray struct {
	Index    uint8   // of the slot, from InternalPointerMap.FirstIndex
	Pointers []uint8 // register numbers, or indexes of slots as Index
}

// registerPointers reads the part of a stack map that is called Internal Pointer Map.
func registerPointers(c *wire.Cursor) *RegisterPointers {
	p := &RegisterPointers{Size: c.U8("map size")}
	p.Arrays, p.Extra = pinningArrays(c, int(p.Size))
	return p
}

// pinningArrays reads size bytes: a number of arrays, the arrays, and whatever
// is left.
func pinningArrays(c *wire.Cursor, size int) (list []PinningArray, extra []byte) {
	if size == 0 {
		return nil, nil
	}
	start := c.Pos()
	list = pinningList(c, size)
	if n := size - (c.Pos() - start); n > 0 && c.Err() == nil {
		extra = c.Bytes("bytes after pinning arrays", uint64(n))
	}
	return list, extra
}

// pinningList reads a number of arrays and the arrays, of at most size bytes.
func pinningList(c *wire.Cursor, size int) []PinningArray {
	start := c.Pos()
	left := func() int { return size - (c.Pos() - start) }
	n := int(c.U8("number of distinct pinning arrays"))
	if c.Err() == nil && 2*n > left() {
		c.Bad("number of distinct pinning arrays", "%d of them need at least %d bytes, the map has %d", n, 2*n, left())
	}
	if c.Err() != nil {
		return nil
	}
	list := make([]PinningArray, n)
	for i := range list {
		list[i].Index = c.U8("index of pinning array")
		m := int(c.U8("number of derived pointers"))
		if c.Err() == nil && m+2*(n-1-i) > left() {
			c.Bad("number of derived pointers", "%d, the map has %d bytes left", m, left())
		}
		list[i].Pointers = c.Bytes("derived pointer", uint64(m))
		if c.Err() != nil {
			return nil
		}
	}
	return list
}

// An InternalPointerMap says which slots point into the middle of arrays, for all
// of the method: the section Internal Pointer Map in J9 Format.
type InternalPointerMap struct {
	Offset      int
	FirstMap    uint64 `show:"first_stack_map,hex"`              // address of the map that is in force at the method's entry
	Size        uint8  `show:"map_size"`                         // in bytes, of the number of arrays and all that follows it, modulo 256
	Pad         []byte `show:"alignment,id,opt"`                 // on 32-bit ARM one byte; what was in memory
	FirstIndex  int16  `show:"index_of_first_internal_pointer"`  // of the first slot that holds an internal pointer
	FirstOffset int16  `show:"offset_of_first_internal_pointer"` // of that slot in the frame
	// Arrays are those with pointers in slots, and those that only registers point
	// into, which have none.
	Arrays []PinningArray
	Extra  []byte // what Size has behind the arrays
}

// internalPointers reads the section Internal Pointer Map in J9 Format.
func (d *decoder) internalPointers(c *wire.Cursor) *InternalPointerMap {
	m := &InternalPointerMap{Offset: int(c.Offset())}
	m.FirstMap = d.pointer(c, "pointer to first stack map")
	m.Size = c.U8("map size")
	if d.layout.alignedMaps() {
		m.Pad = c.Bytes("alignment", 1)
	}
	m.FirstIndex = int16(c.U16("index of first internal pointer"))
	m.FirstOffset = int16(c.U16("offset of first internal pointer"))
	// The VM goes by the number of arrays and does not look at the size, which the
	// compiler lets overflow: it allows 255 arrays and pointers together.
	long := *c
	arrays := pinningList(&long, long.Len())
	if n := pinningSize(arrays); long.Err() == nil && n > math.MaxUint8 && uint8(n) == m.Size {
		*c, m.Arrays = long, arrays
		return m
	}
	m.Arrays, m.Extra = pinningArrays(c, int(m.Size))
	return m
}

// pinningSize is the number of bytes of arrays and the count before them.
func pinningSize(arrays []PinningArray) int {
	n := 1
	for _, a := range arrays {
		n += 2 + len(a.Pointers)
	}
	return n
}
