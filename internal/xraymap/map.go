package xraymap

import (
	"debug/elf"
	"errors"
	"fmt"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/mangled"
)

// ErrNoMap is the error for a program that was not built with -fxray-instrument.
var ErrNoMap = errors.New("it has no section xray_instr_map: it was not built with -fxray-instrument")

// A Map knows the instrumented functions of a program by their numbers. It may be used by
// several goroutines at once.
type Map struct {
	BuildID string // the raw bytes of its build id; empty if there is none
	Machine elf.Machine

	// Relocated says that the program may be loaded at any address: it is a shared
	// object or a position-independent program.
	Relocated bool

	// Indexed says that xray_fn_idx gave the numbers.
	Indexed bool

	// LogsArguments says that calls of some functions are logged with an argument, LogsEvents
	// that the program logs events of its own.
	LogsArguments, LogsEvents bool

	functions []uint64 // addresses of the functions 1, 2, …
	loads     []elf.ProgHeader
}

// Read reads the map of a program. The error is ErrNoMap for one without. f is not kept.
func Read(f *elffile.File) (*Map, error) {
	if f.Type != elf.ET_EXEC && f.Type != elf.ET_DYN {
		return nil, fmt.Errorf("it is an ELF file of type %v, not a program or shared object", f.Type)
	}
	sleds, err := readSleds(f)
	if err != nil {
		return nil, err
	}
	m := &Map{BuildID: f.BuildID(), Machine: f.Machine, Relocated: f.Type == elf.ET_DYN, LogsArguments: sleds.arguments, LogsEvents: sleds.events}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			m.loads = append(m.loads, p.ProgHeader)
		}
	}
	if m.functions, err = readIndex(f, sleds); err != nil {
		return nil, err
	}
	m.Indexed = m.functions != nil
	if !m.Indexed {
		m.functions = sleds.count()
	}
	return m, nil
}

// Len returns how many functions there are. Their numbers are 1 to Len.
func (m *Map) Len() int { return len(m.functions) }

// Address returns where a function is in the address space that the program was linked
// for. ok is false for numbers that no function has, and for a function that was removed
// when the program was linked.
func (m *Map) Address(id uint32) (addr uint64, ok bool) {
	if id == 0 || uint64(id) > uint64(len(m.functions)) {
		return 0, false
	}
	addr = m.functions[id-1]
	return addr, addr != 0
}

// Bias returns how far above its own addresses a program lies; its bytes from off
// on are mapped at addr. ok is false if that is no place of executable code in it. A kernel
// maps whole pages, so off may be a little before where code begins in the file.
func (m *Map) Bias(addr, off uint64) (bias uint64, ok bool) {
	const page = 64 << 10 // the largest that is in use
	for _, p := range m.loads {
		align := max(min(p.Align, page), 1)
		if p.Flags&elf.PF_X == 0 || align&(align-1) != 0 {
			continue
		}
		start := p.Off &^ (align - 1)
		if off >= start && off < p.Off+p.Filesz {
			return addr - (off - p.Off + p.Vaddr), true
		}
	}
	return 0, false
}

// Fits reports whether the executable mappings of a program may be those of the bytes from off
// to end of a file, in whole pages. Where code comes first in the file, the kernel maps it as
// long as all of the program, for a moment.
func (m *Map) Fits(off, end uint64) bool {
	for i, p := range m.loads {
		if p.Flags&elf.PF_X == 0 || p.Filesz == 0 || p.Off+p.Filesz < p.Off {
			continue
		}
		for _, page := range []uint64{4 << 10, 16 << 10, 64 << 10} {
			last := (p.Off + p.Filesz + page - 1) &^ (page - 1)
			if off == p.Off&^(page-1) && (end == last || i == 0 && end > last) {
				return true
			}
		}
	}
	return false
}

// A Symbol is what a program's symbol table calls a function.
type Symbol struct {
	Name string // demangled
	Size uint64 // in bytes; 0 if the table does not say
}

// Names reads the names of the program's functions, by number from 1 on, from its symbol
// table. Entry 0 is empty, and so are those of functions without a name there. f is the
// file that m was read from, or one with its debugging information: of the latter the
// caller has to know that it belongs to it.
func (m *Map) Names(f *elffile.File) []Symbol {
	ranks := make(map[uint64]int, len(m.functions)) // of the symbols at functions, by address
	for _, addr := range m.functions {
		ranks[addr] = 0
	}
	best := make(map[uint64]Symbol)
	for _, table := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for y := range f.Symbols(table) {
			if f.Machine == elf.EM_ARM {
				y.Value &^= 1
			}
			if old, ok := ranks[y.Value]; ok && y.IsFunction() && rank(y.Bind) > old && y.Name() != "" {
				ranks[y.Value], best[y.Value] = rank(y.Bind), Symbol{mangled.Demangle(y.Name()), y.Size}
			}
		}
	}
	names := []Symbol{{}}
	for _, addr := range m.functions {
		names = append(names, best[addr])
	}
	return names
}

// rank orders symbols of one address: perf prefers global ones over weak and local ones.
func rank(bind elf.SymBind) int {
	switch bind {
	case elf.STB_GLOBAL:
		return 3
	case elf.STB_WEAK:
		return 2
	}
	return 1
}
