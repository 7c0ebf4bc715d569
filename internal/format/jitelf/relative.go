package jitelf

import (
	"debug/elf"
	"sort"
)

// findRelative finds the sections in which values of symbols are offsets. All are in a relocatable
// object [gABI 4, Symbol Values]. wasmtime (since 0.20) registers a relocatable object under another
// type: it writes the load address into the header of .text and into the DWARF, and ET_DYN into the
// ELF header. The symbols stay as they were [wasmtime, create_gdbjit_image].
//
// In other objects, a section counts as one of these if all its functions lie in it so, none does by
// the value alone, and the DWARF has code that begins with one of them. An object with addresses of
// the file instead of the memory does not pass: its DWARF has these, too.
func (o *Object) findRelative() {
	if o.kind == elf.ET_REL {
		for i := range o.sections {
			o.sections[i].relative = true
		}
		return
	}
	values := make([][]uint64, len(o.sections))
	isAbsolute := make([]bool, len(o.sections))
	for i := range o.symbols.len() {
		s := o.symbol(i)
		if !s.mayBeFunction() || s.section == uint32(elf.SHN_UNDEF) || uint64(s.section) >= uint64(len(o.sections)) {
			continue
		}
		in := &o.sections[s.section]
		if !o.isCode(in) || s.value >= in.size || s.size > in.size-s.value || s.value >= in.addr {
			isAbsolute[s.section] = true
			continue
		}
		values[s.section] = append(values[s.section], s.value)
	}
	for i, offsets := range values {
		if len(offsets) == 0 || isAbsolute[i] {
			continue
		}
		o.read()
		s := &o.sections[i]
		for _, offset := range offsets {
			s.relative = s.relative || o.beginsAt(s.addr+offset)
		}
	}
}

// beginsAt reports whether a function of the DWARF, or a sequence of lines, begins at an address.
func (o *Object) beginsAt(addr uint64) bool {
	e, s := o.index.tree.extents, o.index.lines.sequences
	i := sort.Search(len(e), func(i int) bool { return e[i].low >= addr })
	k := sort.Search(len(s), func(k int) bool { return s[k].low >= addr })
	return i < len(e) && e[i].low == addr || k < len(s) && s[k].low == addr
}
