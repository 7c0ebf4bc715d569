package dwarfgen_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/dwarfgen"
)

// storedRows has a stored CFA between two others, and a return address that moves.
func storedRows() []dwarfgen.FrameRow {
	ra := dwarfgen.SavedReg{Reg: regRA, Offset: -8}
	return []dwarfgen.FrameRow{
		{CFA: dwarfgen.CFA{Reg: regFP, Offset: 16}, Saved: []dwarfgen.SavedReg{{Reg: regFP, Offset: -16}, ra}},
		{Offset: 2, CFA: dwarfgen.CFA{Reg: regFP, Offset: 16, Stored: -8, Max: 1 << 20}, Saved: []dwarfgen.SavedReg{
			{Reg: regFP, Direct: true, Base: regFP}, {Reg: regRA, Direct: true, Base: regFP, Offset: 8}}},
		{Offset: 9, CFA: dwarfgen.CFA{Reg: regFP, Offset: 16}, Saved: []dwarfgen.SavedReg{ra}},
	}
}

// A stored CFA is an expression, after which a CFA is written whole.
func TestFrames_StoredCFA(t *testing.T) {
	var f dwarfgen.Frames
	f.Reset(binary.LittleEndian, 8, 0x2000)
	f.AddFDE(f.AddCIE(frameCIE), dwarfgen.FDE{Low: 0x1000, High: 0x1010, Rows: storedRows()})
	section, err := f.Section()
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{
		0x0c, 6, 16, 0x86, 2, // def_cfa r6+16; offset r6 at -16
		0x42,     // advance_loc 2
		0x0f, 21, // def_cfa_expression
		0x76, 0x78, 0x06, 0x76, 16, 0x1c, 0x12, 0x30, 0x2a, 0x14, 0x0c, 0, 0, 0x10, 0, 0x2c, 0x1a, 0x1e, 0x76, 16, 0x22,
		0x10, 6, 2, 0x76, 0, // expression r6: breg6 0
		0x10, 16, 2, 0x76, 8, // expression r16: breg6 8
		0x47,                  // advance_loc 7
		0x0c, 6, 16, 0xc0 | 6, // def_cfa r6+16; restore r6
		0xc0 | 16, // restore r16
	}
	if !bytes.Contains(section.Data, want) {
		t.Errorf("got % x, want % x in it", section.Data, want)
	}
}

// Registers that need more than a short operation are refused.
func TestFrames_StoredCFAOfRegister32(t *testing.T) {
	var f dwarfgen.Frames
	f.Reset(binary.LittleEndian, 8, 0x2000)
	f.AddFDE(f.AddCIE(frameCIE), dwarfgen.FDE{Low: 0x1000, High: 0x1010, Rows: []dwarfgen.FrameRow{{CFA: dwarfgen.CFA{Reg: 32, Stored: 8}}}})
	if _, err := f.Section(); err == nil || !strings.Contains(err.Error(), "register 32") {
		t.Errorf("got %v, want an error about register 32", err)
	}
}

// A CFA with a mark is an expression: that of the mark if its two words have the right values, or
// else the register plus the offset.
func TestFrames_MarkedCFA(t *testing.T) {
	var f dwarfgen.Frames
	f.Reset(binary.LittleEndian, 8, 0x2000)
	f.AddFDE(f.AddCIE(frameCIE), dwarfgen.FDE{Low: 0x1000, High: 0x1010, Rows: []dwarfgen.FrameRow{
		{CFA: dwarfgen.CFA{Reg: regFP, Offset: 16, Marked: dwarfgen.Marked{Reg: 7, Offset: 80, Zero: 0x18, One: 0x20}}},
		{Offset: 2, CFA: dwarfgen.CFA{Reg: regFP, Offset: 16}},
	}})
	section, err := f.Section()
	if err != nil {
		t.Fatal(err)
	}
	want := []byte{
		0x0f, 25, // def_cfa_expression
		0x77, 0x18, 0x06, 0x30, 0x29, // breg7 24; deref; lit0; eq
		0x77, 0x20, 0x06, 0x31, 0x29, 0x1a, // breg7 32; deref; lit1; eq; and
		0x77, 0xd0, 0, 0x76, 16, 0x1c, 0x1e, // breg7 80; breg6 16; minus; mul
		0x76, 16, 0x22, // breg6 16; plus
	}
	want[1] = byte(len(want) - 2)
	if !bytes.Contains(section.Data, want) {
		t.Errorf("got % x, want % x in it", section.Data, want)
	}
	if whole := []byte{0x42, 0x0c, 6, 16}; !bytes.Contains(section.Data, whole) { // advance_loc 2; def_cfa r6+16
		t.Errorf("got % x, want % x in it", section.Data, whole)
	}
}
