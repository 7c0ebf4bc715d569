package jitdump

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"io"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

// A listing has the functions of a dump, and the places of their records in the file. Only Scan and
// Describe change it.
type listing struct {
	source.Listing
	Unknown int // number of records of unused types

	header      *jitdump.Header
	assumed     bool // the machine is the recording's
	src         io.ReaderAt
	functions   []packedParts
	others      []otherParts      // of functions with more than a debug record before the load
	batches     []unwindBatch     // in the order of the file
	withoutCode map[int]int       // functions with loads that lack the bytes, and the indexes of their events
	memory      source.CodeMemory // for those
	sources     source.Sources
	listings    source.ListingsOf // cache for reading listings
	salt        salting
	traces      bool   // code runs in an interpreter frame
	high        uint64 // highest end address of code
}

// PID returns the process in the header, in its own pid namespace.
func (l *listing) PID() uint32 { return l.header.PID }

// NumFunctions returns how many functions were loaded. Function numbers, in events and for
// Reader.Function, are smaller.
func (l *listing) NumFunctions() int { return len(l.functions) }

// HasCode reports whether the bytes of a function are known.
func (l *listing) HasCode(function int) bool {
	i, lacks := l.withoutCode[function]
	return !lacks || l.memory.Has(function, l.Events[i].Addr, l.Events[i].Size)
}

// LacksCode reports whether loads lack the bytes of code.
func (l *listing) LacksCode() bool { return len(l.withoutCode) > 0 }

// DropEvents implements source.Lean. Code from a memory is found by its event.
func (l *listing) DropEvents() {
	if !l.LacksCode() {
		l.Listing.KeepEnds()
	}
}

// FillCode implements source.LackingCode.
func (l *listing) FillCode(sources []source.CodeSource, world source.CodeWorld) (late []int) {
	l.memory, late = source.NewCodeMemory(sources, l.Events, len(l.functions), world)
	return late
}

// order returns the byte order of the file.
func (l *listing) order() binary.ByteOrder { return l.header.Order }

// Target returns the target of the dump's code.
func (l *listing) Target() jitcode.Target {
	return jitcode.Target{Machine: l.header.Machine, Order: l.header.Order, HighAddress: l.high}
}

// codeStart returns the start of code that is called at addr. On 32-bit ARM, the lowest bit of an
// address marks code of the T32 instruction set.
func (l *listing) codeStart(addr uint64) uint64 {
	if elf.Machine(l.header.Machine) == elf.EM_ARM {
		return addr &^ 1
	}
	return addr
}

// FunctionAt returns the number of the function with its load at an offset of the dump.
func (l *listing) FunctionAt(offset int64) (int, bool) {
	return slices.BinarySearchFunc(l.functions, offset, func(p packedParts, offset int64) int { return cmp.Compare(p.load.span().Off, offset) })
}

// parts has the spans of a function's records. Spans of size 0 are of no record.
type parts struct {
	load, debug, inline, unwind source.Span
}

// The parts of all functions stay in memory for the whole run. So they are packed: 20 bytes each,
// and 36 more for functions with others than a debug record just before the load.

// A packedSpan is a source.Span in 12 bytes.
type packedSpan struct{ low, high, size uint32 }

func pack(s source.Span) packedSpan {
	return packedSpan{uint32(s.Off), uint32(s.Off >> 32), s.Size}
}

func (p packedSpan) span() source.Span {
	return source.Span{Off: int64(p.high)<<32 | int64(p.low), Size: p.size}
}

// packedParts are the parts of a function.
type packedParts struct {
	load   packedSpan
	debug  uint32 // size of the debug record, or 0; the load begins where it ends, unless others has it
	others uint32 // index + 1 in others of the dump, or 0
}

// otherParts are the parts that few functions have.
type otherParts struct{ debug, inline, unwind packedSpan }

// partsOf returns the parts of a function.
func (l *listing) partsOf(function int) (p parts) {
	packed := &l.functions[function]
	p.load = packed.load.span()
	p.debug = source.Span{Off: p.load.Off - int64(packed.debug), Size: packed.debug}
	if packed.others != 0 {
		o := &l.others[packed.others-1]
		p.debug, p.inline, p.unwind = o.debug.span(), o.inline.span(), o.unwind.span()
	}
	return p
}

// addrSize returns the size of addresses in the dump's code, in bytes.
func (l *listing) addrSize() int {
	switch elf.Machine(l.header.Machine) {
	case elf.EM_386, elf.EM_ARM, elf.EM_PPC, elf.EM_SPARC, elf.EM_68K, elf.EM_SH, elf.EM_PARISC, elf.EM_XTENSA, elf.EM_MICROBLAZE, elf.EM_OPENRISC:
		return 4
	case elf.EM_MIPS: // one number for 32 and 64 bits
		if l.high < 1<<32 {
			return 4
		}
	}
	return 8
}
