package j9gen

import (
	"debug/elf"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// later draws the sections behind the stack atlas and its maps.
func (m *maker) later() {
	l := m.b.Layout
	if m.osr {
		m.osrInfo()
	}
	if m.chance(4) {
		m.gpu()
	}
	// POWER and z have the hardware for it.
	hardware := l.Machine == elf.EM_PPC64 || l.Machine == elf.EM_S390
	if m.chance(25) && hardware {
		m.bytecodes()
	}
	place := l.HeaderSize > j9meta.HeaderSizes(l.PointerSize)[0]
	if m.chance(30) && place {
		v := &j9meta.InvokeBasicInfo{}
		for range 1 + m.few(6) {
			call := m.offset()
			s := j9meta.InvokeBasicSite{ReturnOffset: min(call+m.align(), m.endOfPart(call)), ArgSlots: uint8(m.few(12))}
			if m.chance(50) {
				s.J2IThunk = m.address(codeMemory)
			}
			v.Sites = append(v.Sites, s)
		}
		m.b.InvokeBasic = v
	}
}

func (m *maker) osrInfo() {
	r := &j9meta.OSRInfo{}
	m.b.OSR = r
	for range 1 + m.sites {
		block := uint32(0)
		if m.chance(70) {
			block = m.offset()
		}
		r.CatchBlocks = append(r.CatchBlocks, block)
	}
	if r.SizeOnly = m.chance(30); r.SizeOnly {
		return
	}
	r.MaxScratchSize = uint32(8 * m.few(60))
	var offsets []uint32
	for range m.few(10) {
		offsets = append(offsets, m.offset())
	}
	slices.Sort(offsets)
	for _, pc := range slices.Compact(offsets) {
		e := j9meta.OSRMapping{PC: pc}
		for range m.few(5) {
			s := j9meta.OSRSlot{
				Site:          int32(m.rng.IntN(m.sites+1) - 1),
				BufferOffset:  uint32(8 * m.few(40)),
				ScratchOffset: uint32(8 * m.few(40)),
				Size:          4 << m.rng.IntN(2),
			}
			r.MaxScratchSize = max(r.MaxScratchSize, s.ScratchOffset+s.Size)
			e.Slots = append(e.Slots, s)
		}
		r.Mappings = append(r.Mappings, e)
	}
}

func (m *maker) gpu() {
	g := &j9meta.GPUInfo{MaxCachedDevices: 8, Signature: []byte("Vector.sum([D[D)V")}
	for i := range 1 + m.rng.IntN(3) {
		text := fmt.Sprintf(".version 3.2\n.target sm_20\n.visible .entry _gpu_%d() { ret; }\n", i)
		g.Kernels = append(g.Kernels, j9meta.GPUKernel{Line: uint32(m.between(10, 900)), Text: []byte(text)})
	}
	if m.chance(60) { // with CUDA
		g.CUModules = make([]byte, len(g.Kernels)*int(g.MaxCachedDevices)*m.b.Layout.PointerSize)
	}
	m.b.GPU = g
}

func (m *maker) bytecodes() {
	r := &j9meta.BytecodeMap{}
	code := m.address(heapMemory)
	for range m.few(20) {
		r.Entries = append(r.Entries, j9meta.BytecodeEntry{
			BytecodePC:  code + uint64(m.bytecode()),
			Instruction: m.b.Header.StartPC + uint64(m.offset()),
		})
	}
	m.b.Bytecodes = r
}
