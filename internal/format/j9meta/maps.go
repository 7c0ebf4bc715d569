package j9meta

import "github.com/jitinject/jitinject/internal/wire"

// A StackMap is in force from its offset into the code up to that of the next.
type StackMap struct {
	Offset int          `show:"offset,offset,row:index"` // of the map in the blob
	Low    uint32       `show:"lowest_code_offset,hex"`  // offset from startPC
	LowPad [2]byte      // on 32-bit ARM behind 2-byte offsets; what was in memory
	Info   ByteCodeInfo `show:""` // the bytecode that the range belongs to
	// Shared says that there are no other fields: objects are where the map before
	// has them. It is Info.DoNotProfile.
	Shared bool `show:"shared"`

	HighWord     uint32 `show:"high_word_register_map,hex,opt"` // where Layout.HighWords
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
	if d.layout.HighWords {
		m.HighWord = c.U32("high word register map")
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
