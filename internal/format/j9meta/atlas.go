package j9meta

import "github.com/jitinject/jitinject/internal/wire"

// A StackAtlas is struct J9JITStackAtlas with the maps behind it: where the
// objects are, for the garbage collector, and which bytecode it is, by ranges of
// code.
type StackAtlas struct {
	Offset             int    // of the structure in the blob
	StackAllocMap      uint64 `show:"stackAllocMap,hex"`      // address of the section Stack Alloc Map, 0: none
	InternalPointerMap uint64 `show:"internalPointerMap,hex"` // address of the section Internal Pointer Map, 0: none
	NumberOfMaps       uint16 `show:"numberOfMaps"`
	NumberOfMapBytes   uint16 `show:"numberOfMapBytes"` // of each bit map, at least one
	ParmBaseOffset     int16  `show:"parmBaseOffset"`
	NumberOfParmSlots  uint16 `show:"numberOfParmSlots"`
	LocalBaseOffset    int16  `show:"localBaseOffset"`
	// SyncObjectTempOffset is where the frame of a synchronized method holds what
	// it synchronizes on; 0xffff: nowhere. The VM calls the field paddingTo32.
	SyncObjectTempOffset uint16  `show:"paddingTo32"`
	Pad                  [4]byte // with 8-byte pointers; what was in memory
	// Monitors are those of the compiled method itself, see InlinedSite.
	Monitors []byte     `show:"monitor_autos_map,id"`
	Maps     []StackMap `show:"stack_maps,picked"` // by growing offsets into the code
}

// atlas reads the structure and what follows up to the maps.
func (d *decoder) atlas(c *wire.Cursor) *StackAtlas {
	a := &StackAtlas{Offset: int(c.Offset())}
	a.StackAllocMap = d.pointer(c, "stackAllocMap")
	a.InternalPointerMap = d.pointer(c, "internalPointerMap")
	a.NumberOfMaps = c.U16("numberOfMaps")
	a.NumberOfMapBytes = c.U16("numberOfMapBytes")
	if c.Err() == nil && a.NumberOfMapBytes == 0 {
		c.Bad("numberOfMapBytes", "0, expected at least 1: the last byte of a map says whether live monitors follow")
	}
	a.ParmBaseOffset = int16(c.U16("parmBaseOffset"))
	a.NumberOfParmSlots = c.U16("numberOfParmSlots")
	a.LocalBaseOffset = int16(c.U16("localBaseOffset"))
	a.SyncObjectTempOffset = c.U16("paddingTo32")
	if d.layout.PointerSize == 8 {
		copy(a.Pad[:], c.Bytes("padding", 4))
	}
	a.Monitors = c.Bytes("monitor autos map", uint64(a.NumberOfMapBytes))
	return a
}
