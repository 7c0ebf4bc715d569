package xraymap

import (
	"cmp"
	"debug/elf"
	"slices"

	"github.com/ianlancetaylor/demangle"

	"github.com/jitinject/jitinject/internal/format/elffile"
)

// Limits of names: the file may be anything.
const (
	maxMangled   = 8 << 10 // longer names are not demangled
	maxDemangled = 16      // demangled names have up to 2^16 bytes
)

// A Symbol is what a program's symbol table calls a function.
type Symbol struct {
	Name string // demangled
	Link string // as it is in the table
	Size uint64 // in bytes; 0 if the table does not say
}

// Names reads the names of the program's functions, by number from 1 on, from its symbol
// table. Entry 0 is empty, and so are those of functions without a name there. f is the
// file that m was read from, or one with its debugging information: of the latter the
// caller has to know that it belongs to it.
func (m *Map) Names(f *elffile.File) []Symbol {
	names := make([]Symbol, len(m.functions)+1)
	best := make([]int, len(names))
	ids := make([]uint32, len(m.functions)) // in the order of addresses
	for i := range ids {
		ids[i] = uint32(i + 1)
	}
	slices.SortFunc(ids, func(a, b uint32) int { return cmp.Compare(m.functions[a-1], m.functions[b-1]) })
	for _, table := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		for y := range f.Symbols(table) {
			if !y.IsFunction() {
				continue
			}
			if f.Machine == elf.EM_ARM {
				y.Value &^= 1
			}
			i, _ := slices.BinarySearchFunc(ids, y.Value, func(id uint32, addr uint64) int { return cmp.Compare(m.functions[id-1], addr) })
			for ; i < len(ids) && m.functions[ids[i]-1] == y.Value; i++ {
				if r := rank(y.Bind); r > best[ids[i]] && y.Name() != "" {
					best[ids[i]], names[ids[i]] = r, Symbol{Link: y.Name(), Size: y.Size}
				}
			}
		}
	}
	for i := range names {
		names[i].Name = demangled(names[i].Link)
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

// demangled returns the name as a person would write it, if it is a mangled one that is not
// too long.
func demangled(name string) string {
	if len(name) > maxMangled {
		return name
	}
	return demangle.Filter(name, demangle.MaxLength(maxDemangled))
}
