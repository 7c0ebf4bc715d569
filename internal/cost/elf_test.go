package cost

import (
	"debug/elf"
	"encoding/binary"
	"strings"

	"github.com/jitinject/jitinject/internal/wire"
)

// A part is a section of an ELF file. Parts with one name share it.
type part struct {
	name       string
	kind       elf.SectionType
	flags      elf.SectionFlag
	addr, size uint64 // size is that of sections without content
	content    []byte
	link, info uint32 // numbers of sections: parts[0] is number 2
}

// elfFile returns an ELF file of 64 bit for amd64. Section 1 has the names of sections.
func elfFile(kind elf.Type, parts ...part) []byte {
	var names strings.Builder
	at := make(map[string]uint32)
	for _, name := range append([]string{"", ".shstrtab"}, namesOf(parts)...) {
		if _, ok := at[name]; !ok {
			at[name] = uint32(names.Len())
			names.WriteString(name + "\x00")
		}
	}
	parts = append([]part{{name: ".shstrtab", kind: elf.SHT_STRTAB, content: []byte(names.String())}}, parts...)
	b, headers := wire.NewBuffer(binary.LittleEndian), wire.NewBuffer(binary.LittleEndian)
	number := uint64(1 + len(parts))
	first := uint64(0)
	if number >= uint64(elf.SHN_LORESERVE) {
		first, number = number, 0 // it is in the first header
	}
	b.Zeros(64)
	header := func(name uint32, p *part, offset uint64) {
		headers.U32(name)
		headers.U32(uint32(p.kind))
		for _, v := range []uint64{uint64(p.flags), p.addr, offset, p.size} {
			headers.U64(v)
		}
		headers.U32(p.link)
		headers.U32(p.info)
		headers.U64(1)
		if p.kind == elf.SHT_SYMTAB { // perf divides by it
			headers.U64(elf.Sym64Size)
		} else {
			headers.U64(0)
		}
	}
	header(0, &part{size: first}, 0)
	for i := range parts {
		p := &parts[i]
		if len(p.content) > 0 {
			p.size = uint64(len(p.content))
		}
		header(at[p.name], p, uint64(b.Len()))
		b.Bytes(p.content)
	}
	h := wire.NewBuffer(binary.LittleEndian)
	h.Bytes([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"))
	h.U16(uint16(kind))
	h.U16(uint16(elf.EM_X86_64))
	h.U32(1)
	h.Zeros(16)
	h.U64(uint64(b.Len()))
	h.Zeros(4)
	for _, v := range []uint16{64, 56, 0, 64, uint16(number), 1} {
		h.U16(v)
	}
	copy(b.Data, h.Data)
	return append(b.Data, headers.Data...)
}

func namesOf(parts []part) (names []string) {
	for i := range parts {
		names = append(names, parts[i].name)
	}
	return names
}

// withSegments adds program headers to an ELF file.
func withSegments(file []byte, segments ...elf.Prog64) []byte {
	le := binary.LittleEndian
	le.PutUint64(file[32:], uint64(len(file)))
	le.PutUint16(file[54:], 56)
	if n := len(segments); n < 0xffff {
		le.PutUint16(file[56:], uint16(n))
	} else { // PN_XNUM: the number is in the first section header
		le.PutUint16(file[56:], 0xffff)
		le.PutUint32(file[le.Uint64(file[40:])+44:], uint32(n))
	}
	for _, p := range segments {
		file, _ = binary.Append(file, le, p)
	}
	return file
}

// symbols returns a symbol table of n functions in a section, each with size bytes. nameAt returns the
// offset of a name in the string table.
func symbols(n int, section uint16, addr, size uint64, nameAt func(i int) uint32) []byte {
	b := wire.NewBuffer(binary.LittleEndian)
	b.Zeros(elf.Sym64Size)
	for i := range n {
		b.U32(nameAt(i))
		b.U8(elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC))
		b.U8(0)
		b.U16(section)
		b.U64(addr + size*uint64(i))
		b.U64(size)
	}
	return b.Data
}

func first(int) uint32 { return 1 }

// long returns a string table with one name of n bytes.
func long(n int) []byte { return []byte("\x00" + strings.Repeat("A", n) + "\x00") }

// buildID returns a section with a build id.
func buildID(id string) part {
	b := wire.NewBuffer(binary.LittleEndian)
	b.U32(4)
	b.U32(uint32(len(id)))
	b.U32(3)
	b.Bytes([]byte("GNU\x00" + id))
	return part{name: ".note.gnu.build-id", kind: elf.SHT_NOTE, flags: elf.SHF_ALLOC, content: b.Data}
}
