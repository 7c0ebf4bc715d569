package registered

import (
	"debug/elf"
	"io/fs"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// The dynamic symbols are found as the dynamic linker finds them: by the segment PT_DYNAMIC and its hash
// table. Section headers are not in memory.

// A dynamic has the entries of a PT_DYNAMIC that matter here: addresses in the image.
type dynamic struct{ symbols, strings, gnuHash uint64 }

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
	return im.gnuLookup(&d, name)
}

// dynamic reads PT_DYNAMIC.
func (im *image) dynamic() (d dynamic, ok bool) {
	for _, x := range im.progs {
		if x.Type != elf.PT_DYNAMIC {
			continue
		}
		b := make([]byte, min(x.Memsz, maxDynamic))
		if im.read(x.Vaddr, b) != nil {
			return d, false
		}
		word := im.p.word()
		for ; len(b) >= 2*word; b = b[2*word:] {
			value := im.own(im.number(b[word:]))
			switch elf.DynTag(im.number(b)) {
			case elf.DT_NULL:
				return d, d.isWhole()
			case elf.DT_SYMTAB:
				d.symbols = value
			case elf.DT_STRTAB:
				d.strings = value
			case elf.DT_GNU_HASH:
				d.gnuHash = value
			}
		}
		return d, d.isWhole()
	}
	return d, false
}

func (d *dynamic) isWhole() bool { return d.symbols != 0 && d.strings != 0 && d.gnuHash != 0 }

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

// symbol returns the address in memory of the i-th dynamic symbol, if it has the name and is defined.
func (im *image) symbol(d *dynamic, i uint32, name string) (uint64, bool) {
	b := make([]byte, im.p.symbolSize())
	if im.read(d.symbols+uint64(i)*uint64(len(b)), b) != nil {
		return 0, false
	}
	at, value := im.p.symbol(b)
	if value == 0 {
		return 0, false
	}
	own := make([]byte, len(name)+1)
	if im.read(d.strings+uint64(at), own) != nil || string(own) != name+"\x00" {
		return 0, false
	}
	return im.bias + value, true
}

// symbolSize returns the size of a symbol, in bytes.
func (p *Process) symbolSize() int {
	if p.word() == 4 {
		return elf.Sym32Size
	}
	return elf.Sym64Size
}

// symbol returns the offset of a symbol's name, and its value, which is 0 if it is not defined.
func (p *Process) symbol(b []byte) (name uint32, value uint64) {
	y := elffile.DecodeSymbol(b, p.Class, p.Order)
	if y.Section == elf.SHN_UNDEF {
		y.Value = 0
	}
	return y.NameAt, y.Value
}

// fileSymbol returns the address in memory of a symbol that the file has. known is false if the file has no
// symbol table, or is not there.
func (im *image) fileSymbol(name string) (addr uint64, ok, known bool) {
	if !im.open() {
		return 0, false, false
	}
	// A core may name one file at thousands of addresses. It is read once.
	var file sys.Inode
	if opened, ok := im.file.(interface{ Stat() (fs.FileInfo, error) }); ok {
		if st, err := opened.Stat(); err == nil {
			file = sys.InodeOf(st)
		}
	}
	s, read := im.p.symbols[file]
	if !read {
		s = im.readSymbol(name)
		if im.p.symbols == nil {
			im.p.symbols = make(map[sys.Inode]fileSymbol)
		}
		if file != (sys.Inode{}) {
			im.p.symbols[file] = s
		}
	}
	return im.bias + s.value, s.value != 0, s.known
}

// A fileSymbol is a symbol of a file.
type fileSymbol struct {
	value uint64 // 0 if the file does not have it
	known bool   // the file has a symbol table
}

// readSymbol reads the symbol table of the open file.
func (im *image) readSymbol(name string) (s fileSymbol) {
	f, err := elffile.Open(im.file)
	if err != nil || f.Class != im.p.Class || f.ByteOrder != im.p.Order {
		return s
	}
	for y := range f.Symbols(elf.SHT_SYMTAB) {
		if s.known = true; y.Section != elf.SHN_UNDEF && y.Value != 0 && y.Name() == name {
			s.value = y.Value
			break
		}
	}
	return s
}
