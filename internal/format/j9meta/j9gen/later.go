package j9gen

import (
	"debug/elf"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// later draws the sections behind the stack atlas and its maps. Nothing decodes them, so their bytes
// are anything.
func (m *maker) later() {
	l := m.b.Layout
	if m.osr {
		m.raw(j9meta.OSRSection, 12+4*m.few(40))
	}
	if m.chance(4) {
		m.raw(j9meta.GPUSection, m.between(60, 400))
	}
	// POWER and z have the hardware for it.
	hardware := l.Machine == elf.EM_PPC64 || l.Machine == elf.EM_S390
	if m.chance(25) && hardware {
		m.raw(j9meta.BytecodeSection, 2*l.PointerSize*(1+m.few(20)))
	}
	place := l.HeaderSize > j9meta.HeaderSizes(l.PointerSize)[0]
	if m.chance(30) && place {
		m.raw(j9meta.InvokeBasicSection, 8+16*m.few(6))
	}
}

// raw draws the bytes of a section.
func (m *maker) raw(kind j9meta.SectionKind, size int) {
	m.b.Sections = append(m.b.Sections, j9meta.Section{Kind: kind, Bytes: m.bytes(size)})
}

func (m *maker) bytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.rng.Uint32())
	}
	return b
}
