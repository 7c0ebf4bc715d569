package elfgen

import (
	"debug/elf"
	"fmt"
	"math"
)

// Tables that elfgen makes itself: symbols, their names, section names.

// addSymtab adds .symtab and .strtab if there are symbols.
func (f *File) addSymtab() error {
	if len(f.symbols) == 0 {
		return nil
	}
	f.place() // values count from the sections' addresses
	b := &f.symtab
	b.Reset(f.target.Order)
	f.strtab = append(f.strtab[:0], 0)
	word := f.target.wordSize()
	entry := 24
	if word == 4 {
		entry = 16
	}
	b.Zeros(entry) // the null symbol
	locals := 1
	for i := range f.symbols {
		s := &f.symbols[i]
		if s.Bind == elf.STB_LOCAL {
			if locals != i+1 {
				return fmt.Errorf("elf: local symbol %q comes after a global one", s.Name)
			}
			locals++
		}
		if uint64(len(f.strtab))+uint64(len(s.Name)) >= math.MaxUint32 {
			return fmt.Errorf("elf: the names of %d symbols do not fit in 4 GiB", len(f.symbols))
		}
		name := uint32(len(f.strtab))
		f.strtab = append(append(f.strtab, s.Name...), 0)
		value := f.sections[s.Section].addr + s.Value
		info := uint8(s.Bind)<<4 | uint8(s.Type)
		b.U32(name)
		if word == 8 { // in 32-bit files, the fields have another order
			b.U8(info)
			b.U8(uint8(elf.STV_DEFAULT))
			b.U16(uint16(s.Section))
			b.U64(value)
			b.U64(s.Size)
		} else {
			b.U32(uint32(value))
			b.U32(uint32(s.Size))
			b.U8(info)
			b.U8(uint8(elf.STV_DEFAULT))
			b.U16(uint16(s.Section))
		}
	}
	f.Add(Section{
		Name: ".symtab", Type: elf.SHT_SYMTAB, Align: uint64(word), EntSize: uint64(entry),
		Link: SectionID(len(f.sections) + 1), Info: uint32(locals), Data: b.Data,
	})
	f.Add(Section{Name: ".strtab", Type: elf.SHT_STRTAB, Data: f.strtab})
	return nil
}

// addNames adds .shstrtab with the names of all sections, itself included.
func (f *File) addNames() {
	f.names = append(f.names[:0], 0)
	f.Add(Section{Name: ".shstrtab", Type: elf.SHT_STRTAB})
	for i := 1; i < len(f.sections); i++ {
		f.sections[i].nameAt = uint32(len(f.names))
		f.names = append(append(f.names, f.sections[i].Name...), 0)
	}
	f.sections[len(f.sections)-1].Data = f.names
}
