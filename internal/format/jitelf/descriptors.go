package jitelf

import (
	"debug/elf"
	"slices"
)

// Function descriptors. On big-endian 64-bit PowerPC, the value of a function's symbol is the
// address of a descriptor in .opd, which has the address of the code [64-bit PowerPC ELF ABI 1.9,
// 3.2.5].

// A codePlace is an address in a section, as symbols have it: an offset in a relocatable object.
type codePlace struct {
	section *section
	value   uint64
}

// maxCode bounds the sections of code in a linked object. Linkers write three or four.
const maxCode = 16

// readDescriptors finds the code of all function descriptors.
func (o *Object) readDescriptors() {
	if o.machine != elf.EM_PPC64 || o.addrSize != 8 {
		return
	}
	i := slices.IndexFunc(o.sections, func(s section) bool { return string(s.name) == opd })
	if i < 0 {
		return
	}
	found := make(map[uint64]codePlace)
	o.symbols.descriptors = found
	if o.kind != elf.ET_REL {
		s := &o.sections[i]
		b, err := o.stored(s)
		if err != nil {
			o.problem(err)
			return
		}
		code := o.sections[:0:0]
		for _, s := range o.sections {
			if o.isCode(&s) && len(code) < maxCode {
				code = append(code, s)
			}
		}
		for at := 0; at+8 <= len(b); at += 8 {
			addr := o.order.Uint64(b[at:])
			in := slices.IndexFunc(code, func(s section) bool { return addr >= s.addr && addr-s.addr < s.size })
			if in >= 0 {
				found[s.addr+uint64(at)] = codePlace{&code[in], addr}
			}
		}
		return
	}
	for k := range o.sections {
		s := &o.sections[k]
		if s.kind != elf.SHT_RELA || int(s.info) != i || s.link != uint32(o.symbols.index) {
			continue
		}
		b, err := o.stored(s)
		if err != nil {
			o.problem(err)
			return
		}
		for ; len(b) >= 24; b = b[24:] {
			r := o.relocation(b[:24])
			if r.kind != uint32(elf.R_PPC64_ADDR64) || uint64(r.symbol) >= uint64(o.symbols.len()) {
				continue
			}
			if to := o.symbol(int(r.symbol)); uint64(to.section) < uint64(len(o.sections)) {
				found[r.offset] = codePlace{&o.sections[to.section], to.value + r.addend}
			}
		}
	}
}

// opd is the section of function descriptors.
const opd = ".opd"

// descriptor returns the code of a symbol that refers to a descriptor.
func (o *Object) descriptor(in *section, value uint64) (codePlace, bool) {
	if o.symbols.descriptors == nil || string(in.name) != opd {
		return codePlace{}, false
	}
	place, ok := o.symbols.descriptors[value]
	return place, ok
}
