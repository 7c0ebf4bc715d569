package dwarfgen_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/elfgen"
)

// The function that tools are asked about, from address textAt on: what comes from
// where at each of its bytes. Calls that were inlined are in each other.
//
//	0       8   10    14    16        24   26    28    32        40        48       64
//	outer   middle                    middle                     outer              |
//	            leaf                       leaf
const (
	textAt   = 0x40
	textSize = 64
)

var (
	files     = []string{"/src/outer.js", "/src/lib/middle.js", "/src/lib/leaf.js"}
	functions = []string{"outer", "middle", "leaf"} // each in the file with its number
	sites     = []site{
		{-1, 0, 0, 0, []dwarfgen.Range{{Low: 0, High: textSize}}},
		{0, 1, 10, 5, []dwarfgen.Range{{Low: 8, High: 16}, {Low: 24, High: 32}}},
		{1, 2, 22, 7, []dwarfgen.Range{{Low: 10, High: 14}, {Low: 26, High: 28}}},
		{0, 0, 12, 9, []dwarfgen.Range{{Low: 40, High: 48}}},
		{0, 2, 13, 3, nil}, // nothing is left of this one
	}
	lines = []dwarfgen.Row{
		{Addr: 0, File: 0, Line: 2, Column: 1}, {Addr: 8, File: 1, Line: 20, Column: 2}, {Addr: 10, File: 2, Line: 30, Column: 3},
		{Addr: 14, File: 1, Line: 21, Column: 4}, {Addr: 16, File: 0, Line: 11, Column: 5}, {Addr: 24, File: 1, Line: 23, Column: 6},
		{Addr: 26, File: 2, Line: 31, Column: 7}, {Addr: 28, File: 1, Line: 24, Column: 8}, {Addr: 32, File: 0, Line: 13, Column: 9},
		{Addr: 40, File: 0, Line: 3, Column: 10}, {Addr: 48, File: 0, Line: 14, Column: 11}, {Addr: textSize, End: true},
	}
)

// A site is a function, or a call that was inlined into another site.
type site struct {
	caller       int // -1 for the function itself
	function     int
	line, column uint32 // of the call
	ranges       []dwarfgen.Range
}

// stack says what is at an offset, as "function file:line:column" from the
// innermost call to the outermost.
func stack(offset uint64) (frames []string) {
	at := -1
	for i, s := range sites { // callers stand in front of those they call
		if slices.ContainsFunc(s.ranges, func(r dwarfgen.Range) bool { return r.Low <= offset && offset < r.High }) {
			at = i
		}
	}
	var row dwarfgen.Row
	for _, r := range lines {
		if r.Addr <= offset {
			row = r
		}
	}
	line, column := row.Line, row.Column
	for ; at >= 0; at = sites[at].caller {
		s := sites[at]
		frames = append(frames, fmt.Sprintf("%s %s:%d:%d", functions[s.function], files[s.function], line, column))
		line, column = s.line, s.column
	}
	return frames
}

// describe makes the unit of sites.
func describe(u *dwarfgen.Unit) {
	u.Reset(dwarfgen.Shared(dwarf.AttrProducer, "test"), dwarfgen.Number(dwarf.AttrLanguage, 0xc), // DW_LANG_C99
		dwarfgen.Path(dwarf.AttrName, files[0]), dwarfgen.Path(dwarf.AttrCompDir, "/src"))
	u.Low, u.High = textAt, textAt+textSize
	u.Lines.Dir = "/src"
	for _, f := range files {
		u.Lines.AddFile(f)
	}
	for _, r := range lines {
		r.Addr += textAt
		u.Lines.AddRow(r)
	}

	// The functions themselves, one of them behind the calls that refer to it.
	origins := make([]dwarfgen.EntryID, len(functions))
	abstract := func(i int) {
		origins[i] = u.Add(0, dwarf.TagSubprogram, dwarfgen.String(dwarf.AttrName, functions[i]), dwarfgen.Flag(dwarf.AttrExternal),
			dwarfgen.File(dwarf.AttrDeclFile, dwarfgen.FileID(i)), dwarfgen.Number(dwarf.AttrDeclLine, uint64(10*i+1)), dwarfgen.Number(dwarf.AttrInline, 1))
	}
	abstract(0)
	abstract(1)
	entries := make([]dwarfgen.EntryID, len(sites))
	for i, s := range sites {
		if s.caller < 0 {
			entries[i] = u.Add(0, dwarf.TagSubprogram)
		} else {
			entries[i] = u.Add(entries[s.caller], dwarf.TagInlinedSubroutine, dwarfgen.File(dwarf.AttrCallFile, dwarfgen.FileID(sites[s.caller].function)),
				dwarfgen.Number(dwarf.AttrCallLine, uint64(s.line)), dwarfgen.Number(dwarf.AttrCallColumn, uint64(s.column)))
		}
		if len(s.ranges) == 1 {
			r := s.ranges[0]
			u.AddAttrs(entries[i], dwarfgen.Addr(dwarf.AttrLowpc, textAt+r.Low), dwarfgen.Size(dwarf.AttrHighpc, r.High-r.Low))
			continue
		}
		list := []dwarfgen.Range{{Low: textAt, High: textAt}} // an empty one must not end the list
		for _, r := range s.ranges {
			list = append(list, dwarfgen.Range{Low: textAt + r.Low, High: textAt + r.High}, dwarfgen.Range{Low: textAt + r.High, High: textAt + r.High})
		}
		u.AddAttrs(entries[i], u.Ranges(dwarf.AttrRanges, list))
	}
	abstract(2)
	for i, s := range sites {
		u.AddAttrs(entries[i], dwarfgen.Ref(dwarf.AttrAbstractOrigin, origins[s.function]))
	}
}

// object puts the sections of a unit into an ELF file and returns its path.
func object(t testing.TB, enc dwarfgen.Encoding, u *dwarfgen.Unit) string {
	t.Helper()
	machine := map[dwarfgen.Encoding]elf.Machine{
		{AddrSize: 8, Order: binary.LittleEndian}: elf.EM_X86_64,
		{AddrSize: 4, Order: binary.LittleEndian}: elf.EM_386,
		{AddrSize: 8, Order: binary.BigEndian}:    elf.EM_S390,
		{AddrSize: 4, Order: binary.BigEndian}:    elf.EM_PPC,
	}[dwarfgen.Encoding{AddrSize: enc.AddrSize, Order: enc.Order}]
	var b dwarfgen.Builder
	if err := b.Reset(enc); err != nil {
		t.Fatal(err)
	}
	b.Add(u)
	sections, err := b.Sections()
	if err != nil {
		t.Fatal(err)
	}
	var f elfgen.File
	f.Reset(elfgen.TargetFor(machine, enc.Order, 1<<31), elf.ET_DYN)
	text := f.Add(elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: textAt, Data: bytes.Repeat([]byte{0}, textSize)})
	for _, s := range sections {
		f.Add(elfgen.Section{Name: s.Name, Type: elf.SHT_PROGBITS, Data: s.Data})
	}
	f.AddSegment(elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, First: text, Last: text, Align: 0x1000, FromStart: true})
	f.AddSymbol(elfgen.Symbol{Name: []byte("outer"), Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Section: text, Size: textSize})
	out, err := f.AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "object.so")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
