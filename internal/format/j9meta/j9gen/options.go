package j9gen

import (
	"debug/elf"
	"encoding/binary"
	"math/rand/v2"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// Options say what a body is to be like. What is zero is drawn.
type Options struct {
	// Layout: the fields that are zero are drawn, so that they fit to the others.
	Layout j9meta.Layout

	Base     uint64 // address of the blob
	StartPC  uint64 // address of the code
	CodeSize uint32 // bytes of the warm part, and of all of it if there is no cold part

	// Cold says whether there is a cold part. If so, ColdPC and ColdSize are where
	// it is, behind the warm part, and how many bytes it has.
	Cold     Choice
	ColdPC   uint64
	ColdSize uint32

	// The J9Method that was compiled, and those to inline.
	Method  uint64
	Inlines []uint64

	Sites int // inlined sites, -1: none
	Maps  int // stack maps, at most as many as the code has bytes

	Unloaded Choice // some of the inlined sites
	Native   Choice // a JNI native: no bytecodes, no sites
	GapMaps  Choice // as the very first VMs wrote them; drawn, there are none
}

// A Choice is one that Random makes, or not.
type Choice uint8

// What to do about a Choice.
const (
	Draw Choice = iota
	Always
	Never
)

// A maker makes one body.
type maker struct {
	rng *rand.Rand
	o   Options
	b   *j9meta.Body

	code      uint32 // bytes from startPC to endPC
	mapBytes  int
	slots     int // that maps describe
	monitors  bool
	fsd       bool
	native    bool
	sites     int
	registers bool // maps may have internal pointers in registers
}

// chance is true in percent of all cases.
func (m *maker) chance(percent int) bool { return m.rng.IntN(100) < percent }

// choose makes a choice; drawn, it is true in percent of all cases.
func (m *maker) choose(c Choice, percent int) bool {
	drawn := m.chance(percent)
	switch c {
	case Always:
		return true
	case Never:
		return false
	}
	return drawn
}

// between draws from lo to hi, both included.
func (m *maker) between(lo, hi int) int { return lo + m.rng.IntN(hi-lo+1) }

// few draws a number up to most, small ones more often.
func (m *maker) few(most int) int {
	if m.chance(60) {
		most = min(most, 8)
	}
	return m.rng.IntN(most + 1)
}

// A target is a machine that OpenJ9 runs on.
type target struct {
	machine elf.Machine
	pointer int
	order   binary.ByteOrder
}

var targets = []target{
	{elf.EM_X86_64, 8, binary.LittleEndian},
	{elf.EM_AARCH64, 8, binary.LittleEndian},
	{elf.EM_PPC64, 8, binary.LittleEndian},
	{elf.EM_PPC64, 8, binary.BigEndian},
	{elf.EM_S390, 8, binary.BigEndian},
	{elf.EM_RISCV, 8, binary.LittleEndian},
	{elf.EM_386, 4, binary.LittleEndian},
	{elf.EM_ARM, 4, binary.LittleEndian},
	{elf.EM_PPC, 4, binary.BigEndian},
	{elf.EM_S390, 4, binary.BigEndian},
}

// layout completes the layout that was asked for.
func (m *maker) layout() j9meta.Layout {
	l := m.o.Layout
	drawn := l.Machine == elf.EM_NONE
	var fit []target
	for _, t := range targets {
		if (drawn || l.Machine == t.machine) && (l.PointerSize == 0 || l.PointerSize == t.pointer) && (l.Order == nil || l.Order == t.order) {
			fit = append(fit, t)
		}
	}
	if len(fit) == 0 { // a machine that OpenJ9 does not run on
		fit = []target{{l.Machine, 8, binary.LittleEndian}}
	}
	t := fit[m.rng.IntN(len(fit))]
	l.Machine = t.machine
	if l.PointerSize == 0 {
		l.PointerSize = t.pointer
	}
	if l.Order == nil {
		l.Order = t.order
	}
	if l.HeaderSize == 0 {
		sizes := j9meta.HeaderSizes(l.PointerSize)
		l.HeaderSize = sizes[m.rng.IntN(len(sizes))]
	}
	return l
}

// address draws one as a VM may have it, in one of its memories.
func (m *maker) address(memory uint64) uint64 {
	offset := uint64(m.rng.IntN(1<<24)) &^ 0xf
	if m.b.Layout.PointerSize == 4 {
		return memory>>12&0xffffffff&^0xffffff | offset
	}
	return memory + offset
}

// Where a VM's memories are on Linux, more or less.
const (
	heapMemory  = 0x7e1200000000 // what malloc gives: classes, methods, names
	dataMemory  = 0x7e5400000000 // the data cache, with the metadata
	codeMemory  = 0x7e8600000000 // the code cache
	coldSpacing = 1 << 20
)
