package j9gen

import (
	"debug/elf"
	"math/rand/v2"
	"slices"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// Random draws a body and lays it out, so that it can be encoded as it is.
func Random(rng *rand.Rand, o Options) *j9meta.Body {
	m := &maker{rng: rng, o: o, b: &j9meta.Body{}}
	b := m.b
	b.Layout = m.layout()
	b.Base = o.Base
	if b.Base == 0 {
		b.Base = m.address(dataMemory) + uint64(b.Layout.PointerSize)
	}
	m.header()
	m.shape()
	m.inlines()
	m.exceptions()
	m.atlas()
	if m.chance(60) { // what is for the VM alone
		m.raw(j9meta.Other, 1+m.few(400))
	}
	Lay(b)
	return b
}

func (m *maker) header() {
	h := &m.b.Header
	h.ClassName = m.address(heapMemory)
	h.MethodName = m.address(heapMemory)
	h.MethodSignature = m.address(heapMemory)
	h.ConstantPool = m.address(heapMemory)
	if h.RAMMethod = m.o.Method; h.RAMMethod == 0 {
		h.RAMMethod = m.address(heapMemory)
	}
	m.codePlaces(h)
	h.TotalFrameSize = uint64(m.between(2, 80))
	h.Slots = int16(m.few(12))
	h.ScalarTempSlots = int16(m.few(30))
	h.ObjectTempSlots = int16(m.few(20))
	h.ProloguePushes = uint16(m.few(8))
	h.TempOffset = int16(m.few(10))
	h.RegisterSaveDescription = uint64(m.rng.Uint32N(1 << 20))
	h.BodyInfo = m.address(heapMemory)
	if m.chance(90) {
		h.NextMethod = m.address(dataMemory)
	}
	if m.chance(90) {
		h.PrevMethod = m.address(dataMemory)
	}
	if m.chance(30) {
		h.RuntimeAssumptionList = m.address(heapMemory)
	}
	h.Hotness = int32(m.rng.IntN(6))
	h.CodeCacheAlloc = h.StartPC - uint64(m.between(1, 4))*8
	newest := j9meta.HeaderSizes(m.b.Layout.PointerSize)[2]
	if m.b.Layout.HeaderSize >= newest && m.chance(30) {
		h.ConstRefArrays = m.address(heapMemory)
	}
	for range m.b.Layout.HeaderSize - newest { // of a VM to come
		h.Extra = append(h.Extra, byte(m.rng.Uint32()))
	}
}

// codePlaces draws where the code is, and how much there is.
func (m *maker) codePlaces(h *j9meta.Header) {
	if h.StartPC = m.o.StartPC; h.StartPC == 0 {
		h.StartPC = m.address(codeMemory) + uint64(m.rng.IntN(4))*4
	}
	size := m.o.CodeSize
	if size == 0 {
		switch n := m.rng.IntN(100); {
		case n < 40:
			size = uint32(m.between(40, 600))
		case n < 85:
			size = uint32(m.between(600, 12000))
		case n < 92: // about where offsets become wide
			size = uint32(m.between(65500, 65570))
		default:
			size = uint32(m.between(65536, 300000))
		}
		size &^= m.align() - 1
	}
	end := h.StartPC + uint64(size)
	h.EndWarmPC, h.EndPC = end, end
	if m.choose(m.o.Cold, 25) {
		if h.StartColdPC = m.o.ColdPC; h.StartColdPC == 0 {
			gap := uint64(m.between(1, 4000))
			if m.chance(30) {
				gap += coldSpacing
			}
			h.StartColdPC = (end + gap + 7) &^ 7
		}
		cold := m.o.ColdSize
		if cold == 0 {
			cold = uint32(m.between(16, 2000)) &^ 3
		}
		h.EndPC = h.StartColdPC + uint64(cold)
	}
	m.code = uint32(h.EndPC - h.StartPC)
}

// shape makes the choices that concern several sections.
func (m *maker) shape() {
	o, h := &m.o, &m.b.Header
	m.native = m.choose(o.Native, 3)
	m.fsd = m.chance(15)
	m.monitors = m.chance(35)
	if m.chance(10) {
		h.Flags |= j9meta.IsRemoteComp
	}
	if m.fsd && (m.b.Layout.HeaderSize > j9meta.HeaderSizes(m.b.Layout.PointerSize)[0] || m.chance(30)) {
		h.Flags |= j9meta.IsFSDComp // since 2023
	}
	if m.chance(5) {
		h.Flags |= j9meta.IsPrecheckpoint
	}
	if m.chance(3) && m.b.Layout.HeaderSize > j9meta.HeaderSizes(m.b.Layout.PointerSize)[1] {
		h.Flags |= j9meta.UsesVectors
	}
	m.slots = m.few(60)
	if m.monitors {
		m.slots = max(m.slots, 4)
	}
	m.mapBytes = (m.slots + 1 + 7) / 8 // one bit more, for the live monitors
	if m.b.Layout.Machine == elf.EM_ARM {
		m.mapBytes = (m.mapBytes + 3) &^ 3
	}
	switch {
	case o.Sites > 0:
		m.sites = o.Sites
	case o.Sites < 0 || m.native || m.chance(20):
	case m.chance(3):
		m.sites = m.between(100, 300)
	default:
		m.sites = 1 + m.few(24)
	}
}

// inlines draws the inlined sites, callers before what they call.
func (m *maker) inlines() {
	b := m.b
	methods := m.o.Inlines
	if methods == nil {
		for range 1 + m.few(12) {
			methods = append(methods, m.address(heapMemory))
		}
	}
	unloaded := m.choose(m.o.Unloaded, 10)
	for i := range m.sites {
		s := j9meta.InlinedSite{Method: methods[m.rng.IntN(len(methods))]}
		s.Info.CallerIndex = m.caller(i)
		s.Info.ByteCodeIndex = m.bytecode()
		if unloaded && m.chance(30) {
			s.Method = m.unload(s.Method)
		}
		s.Monitors = make([]byte, m.mapBytes)
		if m.monitors && m.chance(30) {
			s.Monitors = m.slotBits(2)
			s.Info.SameReceiver = !allZero(s.Monitors)
		}
		b.Sites = append(b.Sites, s)
	}
	if m.o.Unloaded == Always && m.sites > 0 {
		s := &b.Sites[m.rng.IntN(m.sites)]
		if !b.Layout.Unloaded(s.Method) {
			s.Method = m.unload(s.Method)
		}
	}
}

// caller draws one of n sites, or -1; that before it often, for deep stacks.
func (m *maker) caller(n int) int {
	switch {
	case n == 0 || m.chance(25):
		return -1
	case m.chance(50):
		return n - 1
	}
	return m.rng.IntN(n)
}

func (m *maker) bytecode() int {
	switch n := m.rng.IntN(100); {
	case n < 80:
		return m.rng.IntN(300)
	case n < 99:
		return m.rng.IntN(3000)
	}
	return m.rng.IntN(j9meta.MaxByteCodeIndex + 1)
}

// unload does what the VM does to the method of a site when its class goes.
func (m *maker) unload(method uint64) uint64 {
	switch m.b.Layout.Machine {
	case elf.EM_PPC, elf.EM_PPC64, elf.EM_ARM:
		return method | 1
	}
	if m.b.Layout.PointerSize == 4 {
		return 1<<32 - 1
	}
	return 1<<64 - 1
}

// slotBits draws a bit map with about one of every few bits set. The bits behind
// the last slot stay 0.
func (m *maker) slotBits(every int) []byte {
	bits := make([]byte, m.mapBytes)
	for i := range m.slots {
		if m.rng.IntN(every) == 0 {
			bits[i/8] |= 1 << (i % 8)
		}
	}
	return bits
}

func allZero(p []byte) bool { return !slices.ContainsFunc(p, func(b byte) bool { return b != 0 }) }

// exceptions draws an exception table, of which the bytes are anything.
func (m *maker) exceptions() {
	if m.native || !m.chance(60) {
		return
	}
	h := &m.b.Header
	h.NumExceptionRanges = uint16(1 + m.few(12))
	if m.code >= 65535 || m.chance(20) {
		h.NumExceptionRanges |= 0x8000
	}
	if m.fsd {
		h.NumExceptionRanges |= 0x4000
	}
	m.raw(j9meta.ExceptionInfo, m.b.Layout.ExceptionsSize(h))
}

// parts returns the offsets of the warm part's end and of the cold part's start.
func (m *maker) parts() (warm, cold uint32) {
	h := &m.b.Header
	warm = uint32(h.EndWarmPC - h.StartPC)
	if h.StartColdPC == 0 {
		return warm, warm
	}
	return warm, uint32(h.StartColdPC - h.StartPC)
}

// offset draws one of an instruction, in the warm or in the cold part.
func (m *maker) offset() uint32 {
	warm, cold := m.parts()
	n := m.rng.Uint32N(warm + m.code - cold)
	if n < warm {
		return n &^ (m.align() - 1)
	}
	return cold + (n-warm)&^(m.align()-1)
}

// offsets is how many different ones offset may draw.
func (m *maker) offsets() int {
	warm, cold := m.parts()
	a := m.align()
	return int((warm+a-1)/a + (m.code-cold+a-1)/a)
}

// align is what instructions begin at multiples of.
func (m *maker) align() uint32 {
	switch m.b.Layout.Machine {
	case elf.EM_X86_64, elf.EM_386:
		return 1
	case elf.EM_S390, elf.EM_RISCV:
		return 2
	}
	return 4
}

// raw draws the bytes of a section that is not decoded.
func (m *maker) raw(kind j9meta.SectionKind, size int) {
	b := make([]byte, size)
	for i := range b {
		b[i] = byte(m.rng.Uint32())
	}
	m.b.Sections = append(m.b.Sections, j9meta.Section{Kind: kind, Bytes: b})
}
