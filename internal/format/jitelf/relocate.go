package jitelf

import (
	"bytes"
	"debug/elf"
	"fmt"
	"math"

	"github.com/jitinject/jitinject/internal/wire"
)

// Relocation of debugging information and unwind tables. LLVM's JITs relocate the sections that
// they load, and register a copy of the original object with only the load addresses set. So the
// sections here have the relocations of the compiler, with one difference from a linker's input:
// the final addresses are known.

// nowhereGap is the distance from the lowest code down to the address that stands for unknown ones.
const nowhereGap = 1 << 30

// frameAddress chooses the address that .eh_frame is relocated for, and read at.
func (o *Object) frameAddress(c *contents) {
	lowest := uint64(math.MaxUint64)
	for i := range o.sections {
		s := &o.sections[i]
		if s.name == ehFrame && c.frames == 0 {
			c.frames = s.addr
		}
		if o.isCode(s) && s.size > 0 {
			lowest = min(lowest, s.addr)
		}
	}
	if lowest == math.MaxUint64 {
		return
	}
	o.nowhere = o.mask(lowest - nowhereGap)
	if c.frames == 0 && o.kind == elf.ET_REL { // JITLink does not set it
		c.frames = lowest
	}
}

// relocate applies the relocations of all sections in c.
func (o *Object) relocate(c *contents) {
	copied := make(map[string]bool)
	total := uint64(0)
	for i := range o.sections {
		s := &o.sections[i]
		if s.kind != elf.SHT_REL && s.kind != elf.SHT_RELA || uint64(s.info) >= uint64(len(o.sections)) {
			continue
		}
		to := &o.sections[s.info]
		name := to.used
		data, ok := c.data[name]
		if !ok || to.kind == elf.SHT_NOBITS || c.faults[name] != nil {
			continue
		}
		table, err := o.stored(s)
		if total += uint64(len(table)); err == nil && total > uint64(len(o.image)) {
			err = fault(s, "sections of relocations overlap in the symfile")
		}
		if err == nil && (o.symbols.index == 0 || s.link != uint32(o.symbols.index)) {
			err = fault(s, "relocations refer to symbols of section %d, and the symbol table is section %d", s.link, o.symbols.index)
		}
		if err == nil {
			if !copied[name] {
				data = bytes.Clone(data)
				c.data[name], copied[name] = data, true
			}
			err = o.apply(s, table, data[to.joined:to.joined+to.length], c, name)
		}
		if err != nil {
			c.faults[name] = err
		}
	}
}

// apply applies a table of relocations to a section.
func (o *Object) apply(s *section, table, data []byte, c *contents, name string) error {
	types := machineTypes(o.machine)
	size := 2 * o.addrSize
	if s.kind == elf.SHT_RELA {
		size += o.addrSize
	}
	base := uint64(0)
	if to := &o.sections[s.info]; name == ehFrame {
		base = c.frames + to.joined
	}
	for at := 0; at+size <= len(table); at += size {
		r := o.relocation(table[at : at+size])
		fail := func(format string, args ...any) error {
			return &wire.Error{Format: FormatName, Record: "section " + printable(s.name), Field: "relocation", Offset: int64(s.offset) + int64(at), Text: fmt.Sprintf(format, args...)}
		}
		how, ok := types[r.kind]
		if !ok {
			return fail("type %d of %v, of a byte of %s: it is not supported", r.kind, o.machine, name)
		}
		if how.action == ignore {
			continue
		}
		if uint64(r.symbol) >= uint64(o.symbols.len()) {
			return fail("symbol %d of %d", r.symbol, o.symbols.len())
		}
		if left := uint64(len(data)) - min(r.offset, uint64(len(data))); left < uint64(how.size) || left == 0 {
			return fail("%d bytes at offset %#x of %s, which has %d", how.size, r.offset, name, len(data))
		}
		v, known := o.symbolAddress(int(r.symbol), c)
		field := data[r.offset:]
		if s.kind == elf.SHT_RELA {
			v += r.addend
		} else {
			v += o.addend(how, field)
		}
		if how.action == relative {
			v -= base + r.offset
		}
		if !how.apply(o.order, field, v) && known && o.addrSize == 8 {
			return fail("type %d of %v: %#x does not fit at offset %#x of %s", r.kind, o.machine, v, r.offset, name)
		}
	}
	return nil
}

// A relocation is an entry of a table of relocations.
type relocation struct {
	offset uint64 // in the section
	kind   uint32
	symbol uint32
	addend uint64
}

func (o *Object) relocation(b []byte) (r relocation) {
	if o.addrSize == 4 {
		r.offset = uint64(o.order.Uint32(b))
		info := o.order.Uint32(b[4:])
		r.kind, r.symbol = elf.R_TYPE32(info), elf.R_SYM32(info)
		if len(b) >= 12 {
			r.addend = uint64(int64(int32(o.order.Uint32(b[8:]))))
		}
		return r
	}
	r.offset = o.order.Uint64(b)
	info := o.order.Uint64(b[8:])
	r.kind, r.symbol = elf.R_TYPE64(info), elf.R_SYM64(info)
	if len(b) >= 24 {
		r.addend = o.order.Uint64(b[16:])
	}
	return r
}

// symbolAddress returns the address of a symbol, or its offset among all debugging information of
// that name. known is false for a symbol outside the object, or in a section without an address.
// The address is then one without code.
func (o *Object) symbolAddress(i int, c *contents) (addr uint64, known bool) {
	s := o.symbol(i)
	if s.section == uint32(elf.SHN_ABS)|1<<31 || i == 0 {
		return s.value, true
	}
	if s.section == uint32(elf.SHN_UNDEF) || uint64(s.section) >= uint64(len(o.sections)) {
		return o.nowhere, false
	}
	in := &o.sections[s.section]
	switch {
	case in.used == ehFrame:
		return o.mask(s.value + c.frames + in.joined), true
	case in.used != "":
		return s.value + in.joined, true
	case o.isLoaded(in):
		return o.mask(s.value + in.addr), true
	case in.flags&elf.SHF_ALLOC == 0:
		return s.value, true
	}
	return o.mask(o.nowhere + s.value), false
}
