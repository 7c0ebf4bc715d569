package jitelf

import (
	"cmp"
	"debug/elf"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/wire"
)

// A Symbol is a function. Its name aliases the image.
type Symbol struct {
	Name  []byte // possibly mangled; no NUL
	Addr  uint64 // load address, without ARM's bit for T32 code
	Size  uint64 // in bytes, at least one
	Thumb bool   // ARM: the code is in the T32 instruction set

	section uint32 // with the code
}

// maxName bounds the names of functions, in bytes: any number of them may share one in the string table.
const maxName = jitcode.MaxOriginName

// A symbolTable is the symbol table of the object. Relocations refer to its entries.
type symbolTable struct {
	table    []byte
	entry    int // size of a symbol, in bytes
	strings  []byte
	sections []byte // indexes of sections too large for a symbol, 4 bytes for each symbol
	index    int    // of the section; 0 without a table
}

// A symbol is an entry of the symbol table.
type symbol struct {
	name    uint32 // offset in the string table
	bind    elf.SymBind
	kind    elf.SymType
	section uint32 // index of the section, or one of the reserved values
	value   uint64
	size    uint64
}

// reserved is the lowest section number that is none.
const reserved = uint32(elf.SHN_LORESERVE)

// readSymbols finds the symbol table and the functions in it. The table of a static link precedes
// that of a dynamic one, which has fewer symbols.
func (o *Object) readSymbols() {
	for _, kind := range []elf.SectionType{elf.SHT_SYMTAB, elf.SHT_DYNSYM} {
		i := slices.IndexFunc(o.sections, func(s section) bool { return s.kind == kind })
		if i < 0 {
			continue
		}
		if err := o.readSymbolTable(i); err != nil {
			o.problem(err)
			continue
		}
		o.findFunctions()
		return
	}
	if slices.ContainsFunc(o.sections, func(s section) bool { return s.name == ".gnu_debugdata" }) {
		o.problem(fmt.Errorf("%s: the symbols are in .gnu_debugdata, compressed by xz, which is not supported", FormatName))
		return
	}
	o.problem(fmt.Errorf("%s: no symbol table, so no functions", FormatName))
}

// readSymbolTable finds the parts of a symbol table.
func (o *Object) readSymbolTable(i int) (err error) {
	s := &o.sections[i]
	t := symbolTable{entry: elf.Sym64Size, index: i}
	if o.addrSize == 4 {
		t.entry = elf.Sym32Size
	}
	if t.table, err = o.stored(s); err != nil {
		return err
	}
	if s.entrySize != 0 && s.entrySize != uint64(t.entry) {
		return &wire.Error{Format: FormatName, Record: "section " + printable(s.name), Field: "sh_entsize", Offset: s.at, Text: fmt.Sprintf("%d, and symbols have %d bytes", s.entrySize, t.entry)}
	}
	if uint64(s.link) >= uint64(len(o.sections)) {
		return &wire.Error{Format: FormatName, Record: "section " + printable(s.name), Field: "sh_link", Offset: s.at, Text: fmt.Sprintf("%d, and there are %d sections", s.link, len(o.sections))}
	}
	if t.strings, err = o.stored(&o.sections[s.link]); err != nil {
		return err
	}
	for k := range o.sections {
		if x := &o.sections[k]; x.kind == elf.SHT_SYMTAB_SHNDX && uint64(x.link) == uint64(i) {
			if t.sections, err = o.stored(x); err != nil {
				return err
			}
			break
		}
	}
	o.symbols = t
	return nil
}

// len returns the number of symbols.
func (t *symbolTable) len() int {
	if t.entry == 0 {
		return 0
	}
	return len(t.table) / t.entry
}

// symbol returns the i-th symbol of the object, which must exist.
func (o *Object) symbol(i int) (s symbol) {
	t := &o.symbols
	b := t.table[i*t.entry:][:t.entry]
	y := elffile.DecodeSymbol(b, o.class, o.order)
	s = symbol{name: y.NameAt, bind: y.Bind, kind: y.Kind, section: uint32(y.Section), value: y.Value, size: y.Size}
	if y.Section == elf.SHN_XINDEX {
		s.section = uint32(elf.SHN_UNDEF)
		if at := 4 * i; at+4 <= len(t.sections) {
			s.section = o.order.Uint32(t.sections[at:])
		}
	} else if s.section >= reserved {
		s.section |= 1 << 31 // not the index of a section
	}
	return s
}

// mayBeFunction reports whether a symbol is of a function if its section has code.
func (s *symbol) mayBeFunction() bool {
	return s.kind == elf.STT_FUNC || s.kind == elf.STT_GNU_IFUNC || s.kind == elf.STT_NOTYPE && s.size > 0
}

// A candidate is a symbol that may be a function.
type candidate struct {
	Symbol
	end  uint64 // of its section
	rank int    // the lowest one is the best of several at an address
}

// findFunctions lists the functions of the symbol table.
func (o *Object) findFunctions() {
	var found []candidate
	o.findRelative()
	unloaded, odd := 0, 0
	for i := range o.symbols.len() {
		s := o.symbol(i)
		if s.section == uint32(elf.SHN_UNDEF) || uint64(s.section) >= uint64(len(o.sections)) {
			continue
		}
		in := &o.sections[s.section]
		if !s.mayBeFunction() || in.flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		if !o.isLoaded(in) {
			unloaded++
			continue
		}
		f := candidate{Symbol: Symbol{Name: cString(o.symbols.strings, uint64(s.name)), Addr: s.value, Size: s.size, section: s.section}, end: in.addr + in.size}
		if len(f.Name) == 0 {
			continue
		}
		if o.machine == elf.EM_ARM && s.kind == elf.STT_FUNC {
			f.Thumb = f.Addr&1 != 0
			f.Addr &^= 1
		}
		if in.relative {
			f.Addr = o.mask(f.Addr + in.addr)
		}
		if f.Addr < in.addr || f.end < in.addr || f.Addr >= f.end || f.Size > f.end-f.Addr {
			odd++
			continue
		}
		if f.rank = int(s.bind); s.bind == elf.STB_LOCAL {
			f.rank = 1 << 8
		}
		if s.kind == elf.STT_NOTYPE {
			f.rank += 1 << 9
		}
		if f.Size == 0 {
			f.rank += 1 << 10
		}
		found = append(found, f)
	}
	if unloaded > 0 {
		o.problem(fmt.Errorf("%s: functions in sections without a load address are left out: %d", FormatName, unloaded))
	}
	if odd > 0 {
		o.problem(fmt.Errorf("%s: functions that extend beyond their section are left out: %d", FormatName, odd))
	}
	o.functions = distinct(found)
	o.boundNames()
}

// distinct returns the best candidate of each address, sorted. A function ends where the next one
// begins, at the latest. Functions without a size extend to the next one, or to the end of their
// section.
func distinct(found []candidate) []Symbol {
	sorting.Stable(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.Addr, b.Addr), cmp.Compare(a.rank, b.rank), -cmp.Compare(a.Size, b.Size))
	})
	// A sized symbol without a type is a label if it is in a function.
	covered := uint64(0)
	found = slices.DeleteFunc(found, func(f candidate) bool {
		if f.rank&(1<<9) != 0 && f.Addr < covered {
			return true
		}
		if f.rank&(1<<9) == 0 {
			covered = max(covered, f.Addr+f.Size)
		}
		return false
	})
	found = slices.CompactFunc(found, func(a, b candidate) bool { return a.Addr == b.Addr })
	functions := make([]Symbol, 0, len(found))
	for i, f := range found {
		end := f.Addr + f.Size
		if f.Size == 0 {
			end = f.end
		}
		if i+1 < len(found) {
			end = min(end, found[i+1].Addr)
		}
		f.Size = end - f.Addr
		functions = append(functions, f.Symbol)
	}
	return functions
}
