package jitelf_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/format/jitelf"
	"github.com/jitinject/jitinject/internal/jitcode"
)

// A madeSection is a section of a made object.
type madeSection struct {
	name       string
	kind       elf.SectionType
	flags      elf.SectionFlag
	addr       uint64
	size       uint64 // of SHT_NOBITS
	data       []byte
	link, info uint32
}

// A madeSymbol is a symbol of a made object.
type madeSymbol struct {
	name        string
	info        uint8
	section     uint16
	value, size uint64
}

// A made is a little-endian object of 64 bits for x86-64.
type made struct {
	kind     elf.Type
	sections []madeSection // numbered from 1
	symbols  []madeSymbol  // numbered from 1
}

// function returns the symbol of a global function in section 1.
func function(name string, value, size uint64) madeSymbol {
	return madeSymbol{name, elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), 1, value, size}
}

// text returns a section of code that is only in memory.
func text(addr, size uint64) madeSection {
	return madeSection{name: ".text", kind: elf.SHT_NOBITS, flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, addr: addr, size: size}
}

// debug returns a section of debugging information.
func debug(name string, data []byte) madeSection {
	return madeSection{name: name, kind: elf.SHT_PROGBITS, data: data}
}

// bytes returns the object. Its symbol table follows the given sections.
func (m *made) bytes() []byte {
	le := binary.LittleEndian
	names, strings, table := []byte{0}, []byte{0}, make([]byte, 24)
	for _, s := range m.symbols {
		table = le.AppendUint32(table, uint32(len(strings)))
		table = le.AppendUint16(append(table, s.info, 0), s.section)
		table = le.AppendUint64(le.AppendUint64(table, s.value), s.size)
		strings = append(append(strings, s.name...), 0)
	}
	n := uint32(len(m.sections))
	sections := append([]madeSection{{}}, m.sections...)
	sections = append(sections, madeSection{name: ".symtab", kind: elf.SHT_SYMTAB, data: table, link: n + 2}, madeSection{name: ".strtab", kind: elf.SHT_STRTAB, data: strings}, madeSection{name: ".shstrtab", kind: elf.SHT_STRTAB})
	for _, s := range sections {
		names = append(append(names, s.name...), 0)
	}
	sections[len(sections)-1].data = names
	body := make([]byte, 64)
	var headers []byte
	at := uint32(1)
	for _, s := range sections {
		size := max(uint64(len(s.data)), s.size)
		headers = le.AppendUint32(le.AppendUint32(headers, at), uint32(s.kind))
		headers = le.AppendUint64(le.AppendUint64(headers, uint64(s.flags)), s.addr)
		headers = le.AppendUint64(le.AppendUint64(headers, uint64(len(body))), size)
		headers = le.AppendUint32(le.AppendUint32(headers, s.link), s.info)
		headers = le.AppendUint64(le.AppendUint64(headers, 1), 0)
		body = append(body, s.data...)
		at += uint32(len(s.name)) + 1
	}
	copy(body, elf.ELFMAG)
	body[4], body[5], body[6] = 2, 1, 1
	le.PutUint16(body[16:], uint16(m.kind))
	le.PutUint16(body[18:], uint16(elf.EM_X86_64))
	le.PutUint32(body[20:], 1)
	le.PutUint64(body[40:], uint64(len(body)))
	le.PutUint16(body[52:], 64)
	le.PutUint16(body[58:], 64)
	le.PutUint16(body[60:], uint16(len(sections)))
	le.PutUint16(body[62:], uint16(len(sections)-1))
	return append(body, headers...)
}

// open opens a made object.
func open(t *testing.T, image []byte) *jitelf.Object {
	t.Helper()
	o, err := jitelf.Open(image)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// describe describes a function, and returns the problem with it.
func describe(t *testing.T, o *jitelf.Object, i int) (fn jitcode.Function, problem error) {
	t.Helper()
	s := o.Functions()[i]
	fn = jitcode.Function{Name: s.Name, Addr: s.Addr, Size: s.Size}
	problem = o.NewReader().Describe(i, &fn)
	checkRules(t, &fn)
	return fn, problem
}

// real returns an object from testdata.
func real(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// rewritten returns a copy of an object of 64 bits with other sections at its end: f returns the new
// content and the new flags of each section, or no content to keep it.
func rewritten(t *testing.T, image []byte, f func(s *elf.Section) ([]byte, elf.SectionFlag)) []byte {
	t.Helper()
	file, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	image = bytes.Clone(image)
	shoff := file.ByteOrder.Uint64(image[40:])
	for i, s := range file.Sections {
		data, flags := f(s)
		if data == nil {
			continue
		}
		h := shoff + uint64(i)*64
		file.ByteOrder.PutUint64(image[h+8:], uint64(flags))
		file.ByteOrder.PutUint64(image[h+24:], uint64(len(image)))
		file.ByteOrder.PutUint64(image[h+32:], uint64(len(data)))
		image = append(image, data...)
	}
	return image
}

// A dwarfUnit is a unit of DWARF 4 in the making.
type dwarfUnit struct {
	info, ranges []byte
}

// Codes of the abbreviations of a dwarfUnit.
const (
	codeUnit = iota + 1
	codeFunction
	codeCall
	codeAbstract
)

var dwarfAbbrev = []byte{
	codeUnit, 0x11, 1, 0x11, 0x01, 0, 0, // compile_unit: low_pc addr
	codeFunction, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, // subprogram: name string, low_pc addr, high_pc data8
	codeCall, 0x1d, 1, 0x31, 0x13, 0x55, 0x17, 0x59, 0x0f, 0, 0, // inlined_subroutine: abstract_origin ref4, ranges sec_offset, call_line udata
	codeAbstract, 0x2e, 0, 0x03, 0x08, 0x31, 0x13, 0, 0, // subprogram: name string, abstract_origin ref4
	0,
}

// newUnit begins a unit with abstract functions, which have the given origins.
func newUnit(names []string, origins ...uint32) (u *dwarfUnit, offsets []uint32) {
	u = &dwarfUnit{info: []byte{0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 8}}
	u.info = append(append(u.info, codeUnit), make([]byte, 8)...)
	for i, name := range names {
		offsets = append(offsets, uint32(len(u.info)))
		u.info = append(append(append(u.info, codeAbstract), name...), 0)
		origin := uint32(0)
		if i < len(origins) {
			origin = origins[i]
		}
		u.info = binary.LittleEndian.AppendUint32(u.info, origin)
	}
	return u, offsets
}

// function begins a function. end ends it.
func (u *dwarfUnit) function(name string, low, size uint64) {
	u.info = append(append(append(u.info, codeFunction), name...), 0)
	u.info = binary.LittleEndian.AppendUint64(u.info, low)
	u.info = binary.LittleEndian.AppendUint64(u.info, size)
}

// call begins an inlined call with code from low to high, in pairs. end ends it.
func (u *dwarfUnit) call(origin uint32, line byte, lowHigh ...uint64) {
	u.info = binary.LittleEndian.AppendUint32(append(u.info, codeCall), origin)
	u.info = append(binary.LittleEndian.AppendUint32(u.info, uint32(len(u.ranges))), line)
	for _, addr := range append(lowHigh, 0, 0) {
		u.ranges = binary.LittleEndian.AppendUint64(u.ranges, addr)
	}
}

func (u *dwarfUnit) end() { u.info = append(u.info, 0) }

// object returns an object with the unit, and one function "f" of size bytes at addr.
func (u *dwarfUnit) object(addr, size uint64) []byte {
	info := append(bytes.Clone(u.info), 0)
	binary.LittleEndian.PutUint32(info, uint32(len(info)-4))
	m := made{elf.ET_DYN, []madeSection{text(addr, size), debug(".debug_info", info), debug(".debug_abbrev", dwarfAbbrev), debug(".debug_ranges", u.ranges)}, []madeSymbol{function("f", addr, size)}}
	return m.bytes()
}
