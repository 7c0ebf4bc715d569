package j9meta

import (
	"encoding/binary"

	"github.com/jitinject/jitinject/internal/wire"
)

// A StackMap is in force from its offset into the code up to that of the next.
type StackMap struct {
	Offset int          `show:"offset,offset,row:index"` // of the map in the blob
	Low    uint32       `show:"lowest_code_offset,hex"`  // offset from startPC
	LowPad [2]byte      // on 32-bit ARM behind 2-byte offsets; what was in memory
	Info   ByteCodeInfo `show:""` // the bytecode that the range belongs to
	// Shared says that there are no other fields: objects are where the map before
	// has them. It is Info.DoNotProfile.
	Shared bool `show:"shared"`

	RegisterSave uint32 `show:"register_save_description,hex,opt"`
	RegisterMap  uint32 `show:"register_map,hex,opt"`        // registers that hold objects; GapMap
	Pointers     []byte `show:"internal_pointer_map,id,opt"` // which registers point into arrays, after its size; nil: none
	Bits         []byte `show:"map_bits,id,opt"`             // slots that hold objects; numberOfMapBytes, lowest bit first
	LiveMonitors []byte `show:"live_monitor_bits,id,opt"`    // slots that hold monitors; nil: there are none
}

// GapMap is the RegisterMap of maps with which early VMs filled ranges without
// objects.
const GapMap = 0xfadecafe

// Gap says whether the map is one of nothing, with which early VMs filled ranges that no
// map was for. The 0 that it has as byte code is neither site 0 nor its first byte code.
func (m *StackMap) Gap() bool { return m.RegisterMap == GapMap && m.Info == (ByteCodeInfo{}) }

// liveMonitors is the bit of the last byte of StackMap.Bits that says that
// LiveMonitors follow.
const liveMonitors = 0x80

// minMapSize is the number of bytes that the smallest map has.
func (l Layout) minMapSize(f Flags) int { return l.lowSize(f) + 4 }

// lowSize is the number of bytes of a map's offset.
func (l Layout) lowSize(f Flags) int {
	if f&GCMap32BitOffsets != 0 || l.alignedMaps() {
		return 4
	}
	return 2
}

// maps reads all maps of the atlas a.
func (d *decoder) maps(c *wire.Cursor, a *StackAtlas) []StackMap {
	if need := int(a.NumberOfMaps) * d.layout.minMapSize(d.body.Header.Flags); c.Err() == nil && need > c.Len() {
		c.Fail("stack maps", "%d of them need at least %d bytes, %d are left", a.NumberOfMaps, need, c.Len())
	}
	if c.Err() != nil {
		return nil
	}
	list := make([]StackMap, a.NumberOfMaps)
	for i := range list {
		d.stackMap(c, a, &list[i])
		if c.Err() != nil {
			return nil
		}
	}
	return list
}

func (d *decoder) stackMap(c *wire.Cursor, a *StackAtlas, m *StackMap) {
	m.Offset = int(c.Offset())
	if d.body.Header.Flags&GCMap32BitOffsets != 0 {
		m.Low = c.U32("lowest code offset")
	} else {
		m.Low = uint32(c.U16("lowest code offset"))
		if d.layout.alignedMaps() {
			copy(m.LowPad[:], c.Bytes("alignment", 2))
		}
	}
	m.Info = d.byteCodeInfo(c)
	if m.Shared = m.Info.DoNotProfile; m.Shared {
		return
	}
	m.RegisterSave = c.U32("register save description")
	m.RegisterMap = c.U32("register map")
	if m.RegisterMap&d.layout.internalPointerBit() != 0 && a.InternalPointerMap != 0 {
		m.Pointers = c.Bytes("internal pointer map", uint64(c.U8("map size")))
	}
	m.Bits = c.Bytes("map bits", uint64(a.NumberOfMapBytes))
	if n := len(m.Bits); n > 0 && m.Bits[n-1]&liveMonitors != 0 {
		m.LiveMonitors = c.Bytes("live monitor bits", uint64(n))
	}
}

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

// A ByteCodeInfo names a bytecode of the compiled method or of one that was
// inlined into it. In the blob it is the 32 bits of struct TR_ByteCodeInfo. Its
// bit fields begin at the lowest bit on little-endian machines, and at the highest
// on big-endian ones:
//
//	bits  little endian  big endian
//	 1     0             31          doNotProfile
//	 1     1             30          isSameReceiver
//	13     2 to 14       29 to 17    callerIndex, signed
//	17    15 to 31       16 to 0     byteCodeIndex, signed
type ByteCodeInfo struct {
	// DoNotProfile says of a stack map that it has nothing but its offset and
	// this, see StackMap.Shared.
	DoNotProfile bool
	// SameReceiver says of an inlined site that its monitor mask is not all zeros.
	SameReceiver bool
	// CallerIndex is the inlined site that the bytecode belongs to; -1: to the
	// compiled method itself.
	CallerIndex int `show:"callerIndex"`
	// ByteCodeIndex is the offset of the bytecode in its method; -1 in JNI
	// natives, which have none.
	ByteCodeIndex int `show:"byteCodeIndex"`
}

// Bounds of the fields of a ByteCodeInfo.
const (
	MaxCallerIndex   = 1<<12 - 1
	MaxByteCodeIndex = 1<<16 - 1
)

// byteCodeInfo takes v apart.
func byteCodeInfo(order binary.ByteOrder, v uint32) ByteCodeInfo {
	if order == binary.ByteOrder(binary.BigEndian) {
		return ByteCodeInfo{
			DoNotProfile:  v>>31 != 0,
			SameReceiver:  v>>30&1 != 0,
			CallerIndex:   int(int32(v<<2) >> 19),
			ByteCodeIndex: int(int32(v<<15) >> 15),
		}
	}
	return ByteCodeInfo{
		DoNotProfile:  v&1 != 0,
		SameReceiver:  v&2 != 0,
		CallerIndex:   int(int32(v<<17) >> 19),
		ByteCodeIndex: int(int32(v) >> 15),
	}
}
