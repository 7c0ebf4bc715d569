package checkgdbjit

import (
	"bytes"
	"cmp"
	"debug/elf"
	"fmt"
	"slices"
)

// object checks the object of an entry.
func (c *checker) object(at uint64, e *entry) {
	if e.size < minObject || e.size > maxObject {
		c.Violation("core/symfile", -1, "the entry at %#x has an object of %d bytes", at, e.size)
		return
	}
	var probe [1]byte
	if err := c.core.ReadCode(e.symfile+e.size-1, probe[:]); err != nil {
		c.Violation("core/symfile", -1, "the entry at %#x has an object of %d bytes at %#x: %v", at, e.size, e.symfile, err)
		return
	}
	image := make([]byte, e.size)
	if err := c.core.ReadCode(e.symfile, image); err != nil || string(image[:4]) != elf.ELFMAG {
		c.Violation("core/symfile", -1, "there is no ELF object at %#x, where the entry at %#x has one", e.symfile, at)
		return
	}
	f, symbols, err := parse(image)
	if err != nil {
		c.Violation("core/object", -1, "the object at %#x: %v", e.symfile, err)
		return
	}
	if f.Machine != c.core.Machine || f.Class != c.core.Class || f.ByteOrder != c.core.Order {
		c.Violation("core/machine", -1, "the object at %#x is of %v, %v, %v, and the process of %v, %v, %v", e.symfile, f.Machine, f.Class, f.ByteOrder, c.core.Machine, c.core.Class, c.core.Order)
		return
	}
	c.objects++
	before := len(c.functions)
	bases := c.bases(f, symbols)
	for i := range symbols {
		c.symbol(at, f, &symbols[i], bases)
	}
	if len(c.functions) == before {
		c.Violation("core/no-functions", -1, "the object at %#x has no function with an address", e.symfile)
	}
}

// parse reads the headers and symbols of an object. debug/elf makes no promises about files that were
// made to hurt.
func parse(image []byte) (f *elf.File, symbols []elf.Symbol, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it is invalid: %v", r)
		}
	}()
	if f, err = elf.NewFile(bytes.NewReader(image)); err != nil {
		return nil, nil, err
	}
	for _, s := range f.Sections {
		if (s.Type == elf.SHT_SYMTAB || s.Type == elf.SHT_STRTAB) && s.Flags&elf.SHF_COMPRESSED != 0 {
			return nil, nil, fmt.Errorf("its section %q is compressed", s.Name)
		}
	}
	symbols, err = f.Symbols()
	if err != nil {
		symbols, err = f.DynamicSymbols()
	}
	return f, symbols, err
}

// isFunction reports whether a symbol is a function in a section of the object.
func isFunction(f *elf.File, s *elf.Symbol) bool {
	return elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 && s.Section != elf.SHN_UNDEF && int(s.Section) < len(f.Sections)
}

// bases returns what the symbols of each section count from: 0, or the section's address. The latter
// holds in relocatable objects. wasmtime writes such objects under another type (ET_DYN). There, the
// memory tells: no function of the section was in executable memory by its value alone, and all are
// with the section's address.
func (c *checker) bases(f *elf.File, symbols []elf.Symbol) []uint64 {
	bases := make([]uint64, len(f.Sections))
	for i, section := range f.Sections {
		bases[i] = section.Addr
	}
	if f.Type == elf.ET_REL {
		return bases
	}
	for i := range symbols {
		s := &symbols[i]
		if !isFunction(f, s) {
			continue
		}
		base := bases[s.Section]
		if c.isExecutable(s.Value, s.Value+s.Size) || !c.isExecutable(base+s.Value, base+s.Value+s.Size) {
			bases[s.Section] = 0
		}
	}
	return bases
}

// symbol checks a symbol, if it is a function.
func (c *checker) symbol(entry uint64, f *elf.File, s *elf.Symbol, bases []uint64) {
	if !isFunction(f, s) || f.Type == elf.ET_REL && bases[s.Section] == 0 { // it was not loaded
		return
	}
	lo := s.Value + bases[s.Section]
	if f.Machine == elf.EM_ARM {
		lo &^= 1
	}
	hi := lo + s.Size
	if hi < lo {
		c.Violation("core/executable", -1, "function %q is at %#x, with %d bytes", s.Name, lo, s.Size)
		return
	}
	c.functions = append(c.functions, function{lo, hi, s.Name, entry})
	if !c.isExecutable(lo, hi) {
		c.Violation("core/executable", -1, "function %q at %#x, with %d bytes, is not in executable memory", s.Name, lo, s.Size)
		return
	}
	var b [1]byte
	if c.core.ReadCode(lo, b[:]) != nil || c.core.ReadCode(hi-1, b[:]) != nil {
		c.Violation("core/code", -1, "the code of function %q, at %#x, is not in the core", s.Name, lo)
	}
}

// isExecutable reports whether all memory from lo up to hi was executable.
func (c *checker) isExecutable(lo, hi uint64) bool {
	if c.executable == nil {
		c.executable = [][2]uint64{{}}
		for _, s := range c.core.Segments() { // in the order of their addresses
			if last := &c.executable[len(c.executable)-1]; s.Flags&elf.PF_X == 0 {
				continue
			} else if last[1] == s.Addr {
				last[1] += s.Size
			} else {
				c.executable = append(c.executable, [2]uint64{s.Addr, s.Addr + s.Size})
			}
		}
	}
	i, _ := slices.BinarySearchFunc(c.executable, lo, func(r [2]uint64, lo uint64) int {
		if r[0] <= lo {
			return -1
		}
		return 1
	})
	return i > 0 && hi <= c.executable[i-1][1]
}

// overlaps checks that functions of different objects share no addresses.
func (c *checker) overlaps() {
	slices.SortFunc(c.functions, func(a, b function) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi), cmp.Compare(a.entry, b.entry), cmp.Compare(a.name, b.name))
	})
	last := -1
	for i := range c.functions {
		f := &c.functions[i]
		if last >= 0 && c.functions[last].hi > f.lo && c.functions[last].entry != f.entry {
			o := &c.functions[last]
			c.Violation("core/overlap", -1, "function %q of the entry at %#x is at %#x, where function %q of the entry at %#x is", f.name, f.entry, f.lo, o.name, o.entry)
		}
		if last < 0 || f.hi > c.functions[last].hi {
			last = i
		}
	}
}
