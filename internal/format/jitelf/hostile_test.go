package jitelf_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// uleb appends a ULEB128 number.
func uleb(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// units returns n units of DWARF 4 with the same content, which f completes with the number of each.
func units(n int, f func(i int) (abbrev uint32, content []byte)) (info []byte) {
	for i := range n {
		abbrev, content := f(i)
		info = binary.LittleEndian.AppendUint32(info, uint32(7+len(content)))
		info = binary.LittleEndian.AppendUint32(append(info, 4, 0), abbrev)
		info = append(append(info, 8), content...)
	}
	return info
}

// Objects that are made to need much time or memory get a problem in their place. Memory is at most
// some hundred times the size of the object.
func TestProblems_Hostile(t *testing.T) {
	const size = 200_000
	root := []byte{1, 0x11, 1, 0x11, 0x01, 0, 0} // compile_unit: low_pc addr
	unit := append([]byte{1}, make([]byte, 8)...)
	zeros := bytes.Repeat([]byte{0}, size)
	for name, test := range map[string]struct {
		sections []madeSection
		problem  string
	}{
		"deep tree": {[]madeSection{
			debug(".debug_abbrev", append(root, 2, 0x34, 1, 0, 0, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) { return 0, append(unit, bytes.Repeat([]byte{2}, size)...) })),
		}, ""},
		"deep calls": {[]madeSection{
			debug(".debug_abbrev", append(root, 2, 0x1d, 1, 0x11, 1, 0x12, 0x0b, 0, 0, 3, 0x2e, 1, 0x11, 1, 0x12, 0x0b, 0, 0, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) {
				at := binary.LittleEndian.AppendUint64(nil, low)
				return 0, append(append(bytes.Clone(unit), append(append([]byte{3}, at...), 100)...), bytes.Repeat(append(append([]byte{2}, at...), 100), size/10)...)
			})),
		}, "deeper than 255"},
		"attributes without bytes": {[]madeSection{
			debug(".debug_abbrev", append(append(append(root, 2, 0x34, 0), bytes.Repeat([]byte{0x3f, 0x19}, 100)...), 0, 0, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) { return 0, append(unit, bytes.Repeat([]byte{2}, size)...) })),
		}, "too much memory"},
		"many attributes": {[]madeSection{
			debug(".debug_abbrev", append(append(append(root, 2, 0x34, 0), bytes.Repeat([]byte{0x3f, 0x19}, 1000)...), 0, 0, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) { return 0, append(unit, 2) })),
		}, "more than 128 attributes"},
		"a long string": {[]madeSection{
			debug(".debug_abbrev", append(root, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) { return 0, unit })),
			debug(".debug_str", bytes.Repeat([]byte{'a'}, 300_000)),
		}, "a string of 300000 bytes"},
		"a string of many entries": {[]madeSection{
			debug(".debug_abbrev", append(root, 2, 0x34, 0, 0x03, 0x0e, 0, 0, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) { return 0, append(unit, bytes.Repeat([]byte{2, 0, 0, 0, 0}, size/5)...) })),
			debug(".debug_str", append(bytes.Repeat([]byte{'a'}, size), 0)),
		}, "too much memory"},
		"names of many functions": {[]madeSection{
			debug(".debug_abbrev", append(root, 2, 0x2e, 0, 0x03, 0x0e, 0, 0, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) {
				content := bytes.Clone(unit)
				for i := range uint32(size / 5) {
					content = binary.LittleEndian.AppendUint32(append(content, 2), i)
				}
				return 0, content
			})),
			debug(".debug_str", append(bytes.Repeat([]byte{'a'}, size), 0)),
		}, "too much memory"},
		"overlapping abbreviations": {[]madeSection{
			debug(".debug_abbrev", append(bytes.Repeat(root, size/7), 0)),
			debug(".debug_info", units(size/20, func(i int) (uint32, []byte) { return uint32(7 * i), unit })),
		}, "tables of the units overlap"},
		"overlapping line tables": {[]madeSection{
			debug(".debug_abbrev", []byte{1, 0x11, 0, 0x10, 0x17, 0, 0, 0}),
			debug(".debug_info", units(size/20, func(i int) (uint32, []byte) {
				return 0, binary.LittleEndian.AppendUint32([]byte{1}, uint32(9*i))
			})),
			debug(".debug_line", bytes.Repeat([]byte{0xff, 0xff, 1, 0, 4, 0, 10, 0, 0}, size/9)),
		}, "line tables overlap"},
		"overlapping lists of ranges": {[]madeSection{
			debug(".debug_abbrev", append(root, 2, 0x1d, 0, 0x55, 0x17, 0, 0, 3, 0x2e, 1, 0, 0, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) {
				content := append(bytes.Clone(unit), 3)
				for i := range uint32(size / 16) {
					content = binary.LittleEndian.AppendUint32(append(content, 2), 16*i)
				}
				return 0, content
			})),
			debug(".debug_ranges", append(bytes.Repeat(append(bytes.Repeat([]byte{0xff}, 8), 1, 2, 3, 4, 5, 6, 7, 8), size/16), zeros[:16]...)),
		}, "too much memory"},
		"many ranges of each call": {[]madeSection{
			debug(".debug_abbrev", append(root, 2, 0x1d, 0, 0x55, 0x17, 0, 0, 3, 0x2e, 1, 0, 0, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) {
				return 0, append(append(bytes.Clone(unit), 3), bytes.Repeat([]byte{2, 0, 0, 0, 0}, size/5)...)
			})),
			debug(".debug_ranges", append(bytes.Repeat([]byte{1, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}, size/16), zeros[:16]...)),
		}, "too much memory"},
		"numbers without an end": {[]madeSection{
			debug(".debug_abbrev", append(root, 0)),
			debug(".debug_info", units(1, func(int) (uint32, []byte) { return 0, append(unit, 0x80, 0x80, 0x80) })),
		}, ""},
		"directories of many files": {[]madeSection{
			debug(".debug_abbrev", []byte{1, 0x11, 0, 0x10, 0x17, 0, 0, 0}),
			debug(".debug_info", units(1, func(int) (uint32, []byte) { return 0, []byte{1, 0, 0, 0, 0} })),
			debug(".debug_line", hostileFiles(size)),
		}, ""},
		"a table of rows": {[]madeSection{
			debug(".debug_abbrev", []byte{1, 0x11, 0, 0x10, 0x17, 0, 0, 0}),
			debug(".debug_info", units(1, func(int) (uint32, []byte) { return 0, []byte{1, 0, 0, 0, 0} })),
			debug(".debug_line", line(append(append(bytes.Clone(setLow), bytes.Repeat([]byte{1}, size)...), 2, 100, 0, 1, 1)...)),
		}, ""},
		"entries of directories without bytes": {[]madeSection{
			debug(".debug_abbrev", []byte{1, 0x11, 0, 0x10, 0x17, 0, 0, 0}),
			debug(".debug_info", units(1, func(int) (uint32, []byte) { return 0, []byte{1, 0, 0, 0, 0} })),
			debug(".debug_line", []byte{40, 0, 0, 0, 5, 0, 8, 0, 30, 0, 0, 0, 1, 1, 1, 0xfb, 14, 1, 0, 0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}),
		}, "directory count"},
	} {
		m := made{3, append([]madeSection{text(low, 100)}, test.sections...), []madeSymbol{function("f", low, 100)}}
		image := m.bytes()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		o := open(t, image)
		describe(t, o, 0)
		runtime.ReadMemStats(&after)
		if got, want := after.TotalAlloc-before.TotalAlloc, uint64(512*len(image)+64<<20); got > want {
			t.Errorf("%s: got %d bytes allocated for an object of %d; want %d at most", name, got, len(image), want)
		}
		found := test.problem == ""
		for _, p := range o.Problems() {
			found = found || strings.Contains(p.Error(), test.problem)
		}
		if !found || len(o.Problems()) > 21 {
			t.Errorf("%s: got problems %v; want %q", name, o.Problems(), test.problem)
		}
		runtime.KeepAlive(o)
	}
}

// hostileFiles returns a line table with a directory of a quarter of its size, and many files in it
// that have rows.
func hostileFiles(size int) []byte {
	dir := bytes.Repeat([]byte{'d'}, size/4)
	header := append(append([]byte{1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1}, dir...), 0, 0)
	program := bytes.Clone(setLow)
	for i := range size / 10 {
		header = append(header, 'a', 0, 1, 0, 0)
		program = append(uleb(append(program, 4), uint64(i+1)), 1)
	}
	header = append(header, 0)
	program = append(program, 2, 100, 0, 1, 1)
	b := binary.LittleEndian.AppendUint32([]byte{4, 0}, uint32(len(header)))
	b = append(append(b, header...), program...)
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// Sections that share their content are a problem.
func TestProblems_OverlappingSections(t *testing.T) {
	image := real(t, "lli-dwarf2.elf")
	le := binary.LittleEndian
	f, err := elf.NewFile(bytes.NewReader(image))
	if err != nil {
		t.Fatal(err)
	}
	shoff, n := le.Uint64(image[40:]), len(f.Sections)
	info := slices.IndexFunc(f.Sections, func(s *elf.Section) bool { return s.Name == ".debug_info" })
	many := append(bytes.Clone(image), image[shoff:shoff+uint64(n)*64]...)
	for range 5000 {
		many = append(many, image[shoff+uint64(info)*64:][:64]...)
	}
	le.PutUint64(many[40:], uint64(len(image)))
	le.PutUint16(many[60:], uint16(n+5000))
	o := open(t, many)
	found := false
	for _, p := range o.Problems() {
		found = found || strings.Contains(p.Error(), "sections overlap in the symfile")
	}
	if !found {
		t.Errorf("got problems %v; want one about sections that overlap", o.Problems())
	}
}
