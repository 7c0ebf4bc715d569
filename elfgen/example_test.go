package elfgen_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"fmt"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/elfgen"
)

// An object of one jitted function, with a symbol and lines. The standard library reads
// it.
func Example() {
	code := []byte{0x31, 0xc0, 0x90, 0xc3}
	target := elfgen.TargetFor(elf.EM_X86_64, binary.LittleEndian, 0x7f0000001000)

	// The sections that DWARF refers to come first: their addresses are their offsets.
	var f elfgen.File
	f.Reset(target, elf.ET_DYN)
	id := f.Add(elfgen.BuildIDNote(nil, target.Order, []byte("twenty bytes of hash")))
	text := f.Add(elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: 16, Data: code})
	f.AddSegment(elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, First: id, Last: text, Align: 0x1000, FromStart: true})
	f.AddSymbol(elfgen.Symbol{Name: []byte("main"), Bind: elf.STB_GLOBAL, Type: elf.STT_FUNC, Section: text, Size: uint64(len(code))})
	low := f.Offset(text)

	// One unit: a function, and a row of the line table wherever the line changes.
	var unit dwarfgen.Unit
	unit.Reset(dwarfgen.Path(dwarf.AttrName, "app.toy"))
	unit.Low, unit.High = low, low+uint64(len(code))
	unit.Lines.Dir = "/src"
	app := unit.Lines.AddFile("app.toy")
	unit.Lines.AddRow(dwarfgen.Row{Addr: low, File: app, Line: 3})
	unit.Lines.AddRow(dwarfgen.Row{Addr: low + 3, File: app, Line: 4})
	unit.Lines.AddRow(dwarfgen.Row{Addr: unit.High, End: true})
	unit.Add(0, dwarf.TagSubprogram, dwarfgen.String(dwarf.AttrName, "main"),
		dwarfgen.Addr(dwarf.AttrLowpc, low), dwarfgen.Size(dwarf.AttrHighpc, uint64(len(code))))

	var debug dwarfgen.Builder
	if err := debug.Reset(dwarfgen.Encoding{Version: 5, AddrSize: 8, Order: target.Order}); err != nil {
		fmt.Println(err)
		return
	}
	debug.Add(&unit)
	sections, err := debug.Sections()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, s := range sections {
		f.Add(elfgen.Section{Name: s.Name, Type: elf.SHT_PROGBITS, Data: s.Data})
	}
	object, err := f.AppendTo(nil)
	if err != nil {
		fmt.Println(err)
		return
	}

	read, err := elf.NewFile(bytes.NewReader(object))
	if err != nil {
		fmt.Println(err)
		return
	}
	symbols, _ := read.Symbols()
	fmt.Printf("%s: %d bytes at %#x\n", symbols[0].Name, symbols[0].Size, symbols[0].Value)
	info, err := read.DWARF()
	if err != nil {
		fmt.Println(err)
		return
	}
	entry, _ := info.Reader().Next()
	lines, _ := info.LineReader(entry)
	var row dwarf.LineEntry
	for lines.Next(&row) == nil && !row.EndSequence {
		fmt.Printf("%#x is from %s:%d\n", row.Address, row.File.Name, row.Line)
	}
	// Output:
	// main: 4 bytes at 0x70
	// 0x70 is from /src/app.toy:3
	// 0x73 is from /src/app.toy:4
}
