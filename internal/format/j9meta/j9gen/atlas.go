package j9gen

import (
	"debug/elf"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

func (m *maker) atlas() {
	b := m.b
	a := &j9meta.StackAtlas{
		NumberOfMapBytes:     uint16(m.mapBytes),
		ParmBaseOffset:       int16(m.b.Layout.PointerSize * m.few(12)),
		NumberOfParmSlots:    uint16(min(m.slots, int(b.Header.Slots))),
		LocalBaseOffset:      -int16(m.b.Layout.PointerSize * m.few(60)),
		SyncObjectTempOffset: 0xffff,
		Monitors:             make([]byte, m.mapBytes),
	}
	b.Atlas = a
	if m.monitors {
		a.Monitors = m.slotBits(3)
		if m.chance(60) {
			a.SyncObjectTempOffset = uint16(int(a.LocalBaseOffset) + m.b.Layout.PointerSize)
		}
	}
	if m.registers = m.chance(30); m.registers { // maps may have such registers
		a.InternalPointerMap = m.address(dataMemory)
	}
	a.Maps = m.maps()
}

// maps draws the stack maps: that of the method's entry first, then as many as
// there are offsets, growing.
func (m *maker) maps() []j9meta.StackMap {
	n := m.o.Maps
	if n == 0 {
		n = 1 + m.few(max(8, min(int(m.code)/12, 200)))
	}
	n = min(n, m.offsets())
	offsets := []uint32{0}
	seen := map[uint32]bool{0: true}
	for len(offsets) < n {
		if o := m.offset(); !seen[o] {
			seen[o] = true
			offsets = append(offsets, o)
		}
	}
	slices.Sort(offsets)
	gaps := m.o.GapMaps == Always && !m.registers // their register maps have the pointers' bit
	list := make([]j9meta.StackMap, n)
	for i := range list {
		s := &list[i]
		s.Low = offsets[i]
		s.Info = j9meta.ByteCodeInfo{CallerIndex: -1}
		if i > 0 {
			s.Info = j9meta.ByteCodeInfo{CallerIndex: m.rng.IntN(m.sites+1) - 1, ByteCodeIndex: m.bytecode(), SameReceiver: m.chance(10)}
		}
		if m.native {
			s.Info.ByteCodeIndex = -1
		}
		// The entry's map is never shared, and full speed debug shares none.
		if i > 1 && !m.fsd && m.chance(45) {
			s.Info.DoNotProfile = true
			s.Shared = true
			continue
		}
		if gaps && i > 0 && m.chance(20) {
			s.Info = j9meta.ByteCodeInfo{}
			s.RegisterMap = j9meta.GapMap
			s.Bits = make([]byte, m.mapBytes)
			continue
		}
		m.stackMap(s)
	}
	return list
}

// stackMap draws what a map has that is not shared.
func (m *maker) stackMap(s *j9meta.StackMap) {
	pointerBit := uint32(1) << 31
	if m.b.Layout.Machine == elf.EM_PPC || m.b.Layout.Machine == elf.EM_PPC64 {
		pointerBit = 1 << 18
	}
	s.RegisterSave = m.rng.Uint32N(1 << 20)
	if m.chance(60) {
		s.RegisterMap = m.rng.Uint32N(1<<17) & m.rng.Uint32N(1<<17)
	}
	if m.registers && m.chance(25) {
		s.RegisterMap |= pointerBit
		s.Pointers = make([]byte, m.few(9))
	}
	s.Bits = m.slotBits(3)
	if m.monitors && m.chance(30) {
		s.LiveMonitors = m.liveMonitors()
	}
}

// liveMonitors draws some of the slots that hold monitors of the method or of an
// inlined one.
func (m *maker) liveMonitors() []byte {
	live := m.slotBits(2)
	for i := range live {
		masks := m.b.Atlas.Monitors[i]
		for _, s := range m.b.Sites {
			masks |= s.Monitors[i]
		}
		live[i] &= masks
	}
	return live
}
