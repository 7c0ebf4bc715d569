package registered

import (
	"debug/elf"
	"encoding/binary"
)

// The dynamic symbols are found as the dynamic linker finds them: by the segment PT_DYNAMIC and a hash
// table. Section headers are not in memory.

// A dynamic has the entries of a PT_DYNAMIC that matter here: addresses in the image.
type dynamic struct{ symbols, strings, gnuHash, hash uint64 }

const (
	// maxDynamic bounds a PT_DYNAMIC, in bytes.
	maxDynamic = 64 << 10

	// maxChain bounds the symbols with one hash that are compared.
	maxChain = 4096
)

// dynamicSymbol returns the address in memory of a defined dynamic symbol.
func (im *image) dynamicSymbol(name string) (addr uint64, ok bool) {
	d, ok := im.dynamic()
	if !ok {
		return 0, false
	}
	if d.gnuHash != 0 {
		return im.gnuLookup(&d, name)
	}
	if d.hash != 0 {
		return im.sysvLookup(&d, name)
	}
	return 0, false
}

// dynamic reads PT_DYNAMIC.
func (im *image) dynamic() (d dynamic, ok bool) {
	for _, x := range im.progs {
		if x.kind != elf.PT_DYNAMIC {
			continue
		}
		b := make([]byte, min(x.memsz, maxDynamic))
		if im.read(x.vaddr, b) != nil {
			return d, false
		}
		word := im.p.word()
		for ; len(b) >= 2*word; b = b[2*word:] {
			value := im.own(im.number(b[word:]))
			switch elf.DynTag(im.number(b)) {
			case elf.DT_NULL:
				return d, d.symbols != 0 && d.strings != 0
			case elf.DT_SYMTAB:
				d.symbols = value
			case elf.DT_STRTAB:
				d.strings = value
			case elf.DT_GNU_HASH:
				d.gnuHash = value
			case elf.DT_HASH:
				d.hash = value
			}
		}
		return d, d.symbols != 0 && d.strings != 0
	}
	return d, false
}

// own returns an address of PT_DYNAMIC as one of the image: glibc replaces most of them by addresses in
// memory, other dynamic linkers leave them as they are.
func (im *image) own(addr uint64) uint64 {
	if addr >= im.start && addr < im.end {
		return addr - im.bias
	}
	return addr
}

// number returns the number of the size of an address at the start of b.
func (im *image) number(b []byte) uint64 {
	if im.p.word() == 4 {
		return uint64(im.p.Order.Uint32(b))
	}
	return im.p.Order.Uint64(b)
}

// numbers32 reads n numbers of 32 bits. n is small.
func (im *image) numbers32(addr uint64, n int) ([]uint32, bool) {
	b := make([]byte, 4*n)
	if im.read(addr, b) != nil {
		return nil, false
	}
	list := make([]uint32, n)
	for i := range list {
		list[i] = im.p.Order.Uint32(b[4*i:])
	}
	return list, true
}

// gnuLookup finds a symbol by DT_GNU_HASH: a header of four numbers (buckets, the first symbol in the
// table, words of a filter, its shift), the filter, the buckets, and the hashes of the symbols. The
// lowest bit of a hash ends a chain.
func (im *image) gnuLookup(d *dynamic, name string) (uint64, bool) {
	hash := uint32(5381)
	for _, c := range []byte(name) {
		hash = hash*33 + uint32(c)
	}
	head, ok := im.numbers32(d.gnuHash, 4)
	if !ok || head[0] == 0 {
		return 0, false
	}
	buckets := d.gnuHash + 16 + uint64(head[2])*uint64(im.p.word())
	first, ok := im.numbers32(buckets+4*uint64(hash%head[0]), 1)
	if !ok || first[0] < head[1] {
		return 0, false
	}
	chains := buckets + 4*uint64(head[0])
	for i := first[0]; i-first[0] < maxChain; i++ {
		other, ok := im.numbers32(chains+4*uint64(i-head[1]), 1)
		if !ok {
			return 0, false
		}
		if other[0]|1 == hash|1 {
			if addr, ok := im.symbol(d, i, name); ok {
				return addr, true
			}
		}
		if other[0]&1 != 0 {
			break
		}
	}
	return 0, false
}

// sysvLookup finds a symbol by DT_HASH: the numbers of buckets and of symbols, the buckets, and for each
// symbol the next one of its chain.
func (im *image) sysvLookup(d *dynamic, name string) (uint64, bool) {
	hash := uint32(0)
	for _, c := range []byte(name) {
		hash = hash<<4 + uint32(c)
		high := hash & 0xf0000000
		hash = (hash ^ high>>24) &^ high
	}
	head, ok := im.numbers32(d.hash, 2)
	if !ok || head[0] == 0 {
		return 0, false
	}
	at := d.hash + 8 + 4*uint64(hash%head[0])
	for range maxChain {
		i, ok := im.numbers32(at, 1)
		if !ok || i[0] == 0 || i[0] >= head[1] {
			break
		}
		if addr, ok := im.symbol(d, i[0], name); ok {
			return addr, true
		}
		at = d.hash + 8 + 4*uint64(head[0]) + 4*uint64(i[0])
	}
	return 0, false
}

// symbol returns the address in memory of the i-th symbol, if it has the name and is defined.
func (im *image) symbol(d *dynamic, i uint32, name string) (uint64, bool) {
	size := uint64(elf.Sym64Size)
	if im.p.word() == 4 {
		size = elf.Sym32Size
	}
	b := make([]byte, size)
	if im.read(d.symbols+uint64(i)*size, b) != nil {
		return 0, false
	}
	order := im.p.Order
	value, section := uint64(0), uint16(0)
	if size == elf.Sym64Size {
		value, section = order.Uint64(b[8:]), order.Uint16(b[6:])
	} else {
		value, section = uint64(order.Uint32(b[4:])), order.Uint16(b[14:])
	}
	if elf.SectionIndex(section) == elf.SHN_UNDEF || value == 0 {
		return 0, false
	}
	own := make([]byte, len(name)+1)
	if im.read(d.strings+uint64(order.Uint32(b)), own) != nil || string(own) != name+"\x00" {
		return 0, false
	}
	return im.bias + value, true
}

// maxSymbols bounds the symbol table of a file, in bytes. Four times as much is allowed for its names.
const maxSymbols = 64 << 20

// fileSymbol returns the address in memory of a symbol that only the file has. known is false if the
// file has no symbol table, or is not there.
func (im *image) fileSymbol(name string) (addr uint64, ok, known bool) {
	if !im.open() {
		return 0, false, false
	}
	f, err := elf.NewFile(im.file)
	if err != nil {
		return 0, false, false
	}
	table := f.SectionByType(elf.SHT_SYMTAB)
	if table == nil || table.Size > maxSymbols || int(table.Link) >= len(f.Sections) || f.Sections[table.Link].Size > 4*maxSymbols {
		return 0, false, false
	}
	symbols, err := table.Data()
	if err != nil {
		return 0, false, false
	}
	names, err := f.Sections[table.Link].Data()
	if err != nil {
		return 0, false, false
	}
	addr, ok = findSymbol(symbols, names, f.ByteOrder, f.Class, name)
	return im.bias + addr, ok, true
}

// findSymbol returns the value of a defined symbol in a table.
func findSymbol(symbols, names []byte, order binary.ByteOrder, class elf.Class, name string) (uint64, bool) {
	size := elf.Sym64Size
	if class == elf.ELFCLASS32 {
		size = elf.Sym32Size
	}
	for ; len(symbols) >= size; symbols = symbols[size:] {
		at := uint64(order.Uint32(symbols))
		if at+uint64(len(name)) >= uint64(len(names)) || string(names[at:at+uint64(len(name))]) != name || names[at+uint64(len(name))] != 0 {
			continue
		}
		value, section := uint64(0), uint16(0)
		if class == elf.ELFCLASS32 {
			value, section = uint64(order.Uint32(symbols[4:])), order.Uint16(symbols[14:])
		} else {
			value, section = order.Uint64(symbols[8:]), order.Uint16(symbols[6:])
		}
		if elf.SectionIndex(section) != elf.SHN_UNDEF && value != 0 {
			return value, true
		}
	}
	return 0, false
}
