package elffile

import (
	"debug/elf"
	"encoding/binary"
	"io"
	"iter"
)

// maxSymbolName bounds names of symbols, in bytes: the rest is left out. Mangled names of templates have
// some thousands.
const maxSymbolName = 64 << 10

// A Symbol is an entry of a symbol table.
type Symbol struct {
	Bind        elf.SymBind
	Kind        elf.SymType
	Section     elf.SectionIndex
	Value, Size uint64

	NameAt uint32 // offset of the name in the string table
	names  *names
}

// Name returns the name, of at most 64 kB. It is a slice of the whole table. It is "" if it cannot be read.
func (y *Symbol) Name() string { return y.names.at(uint64(y.NameAt)) }

// Symbols returns the symbols in the first table of a type, SHT_SYMTAB or SHT_DYNSYM. There are none if
// the table is damaged, or cannot be read.
func (f *File) Symbols(table elf.SectionType) iter.Seq[Symbol] {
	return func(yield func(Symbol) bool) {
		s := f.SectionByType(table)
		if s == nil || s.Flags&elf.SHF_COMPRESSED != 0 || uint64(s.Link) >= uint64(len(f.Sections)) {
			return
		}
		names := &names{section: &f.Sections[s.Link]}
		size := int(f.choose(elf.Sym32Size, elf.Sym64Size))
		b := make([]byte, 2048*size)
		for r := s.Raw(); ; {
			n, err := io.ReadFull(r, b)
			for at := 0; at+size <= n; at += size {
				y := DecodeSymbol(b[at:][:size], f.Class, f.ByteOrder)
				y.names = names
				if !yield(y) {
					return
				}
			}
			if err != nil {
				return
			}
		}
	}
}

// DecodeSymbol decodes an entry of a symbol table, without its name. b has all of its bytes.
func DecodeSymbol(b []byte, class elf.Class, order binary.ByteOrder) (y Symbol) {
	y.NameAt = order.Uint32(b)
	info := byte(0)
	if class == elf.ELFCLASS32 {
		y.Value, y.Size = uint64(order.Uint32(b[4:])), uint64(order.Uint32(b[8:]))
		info, y.Section = b[12], elf.SectionIndex(order.Uint16(b[14:]))
	} else {
		info, y.Section = b[4], elf.SectionIndex(order.Uint16(b[6:]))
		y.Value, y.Size = order.Uint64(b[8:]), order.Uint64(b[16:])
	}
	y.Bind, y.Kind = elf.ST_BIND(info), elf.ST_TYPE(info)
	return y
}

// IsFunction reports whether a symbol is a function that the file has.
func (y *Symbol) IsFunction() bool {
	return (y.Kind == elf.STT_FUNC || y.Kind == elf.STT_GNU_IFUNC) && y.Section != elf.SHN_UNDEF
}

// names are the names of a table, which is read when the first is asked for.
type names struct {
	section *Section
	read    bool
	table   string
}

// at returns the name at an offset.
func (n *names) at(offset uint64) string {
	if !n.read {
		b, _ := n.section.Data()
		n.read, n.table = true, string(b)
	}
	return cString(n.table, offset, maxSymbolName)
}
