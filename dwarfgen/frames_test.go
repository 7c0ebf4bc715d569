package dwarfgen_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/dwarfgen"
	"github.com/jitinject/jitinject/elfgen"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Registers by their DWARF numbers; 70 has no short form of instructions.
const (
	regA, regFP, regSP, regHigh, regRA = 3, 6, 7, 70, 16
)

var frameCIE = dwarfgen.CIE{
	CodeAlign: 1, DataAlign: -8, ReturnReg: regRA,
	Initial: dwarfgen.FrameRow{CFA: dwarfgen.CFA{Reg: regSP, Offset: 8}, Saved: []dwarfgen.SavedReg{{Reg: regRA, Offset: -8}}},
}

// frameFunctions is a function with a row of every kind, and one with none but the
// CIE's.
func frameFunctions() []dwarfgen.FDE {
	ra := dwarfgen.SavedReg{Reg: regRA, Offset: -8}
	row := func(offset, reg uint64, cfa int64, saved ...dwarfgen.SavedReg) dwarfgen.FrameRow {
		return dwarfgen.FrameRow{Offset: offset, CFA: dwarfgen.CFA{Reg: reg, Offset: cfa}, Saved: saved}
	}
	a, fp, high := dwarfgen.SavedReg{Reg: regA, Offset: -24}, dwarfgen.SavedReg{Reg: regFP, Offset: -16}, dwarfgen.SavedReg{Reg: regHigh, Offset: 32}
	return []dwarfgen.FDE{
		{Low: textAt + 0x30000, High: textAt + 0x30010},
		{Low: textAt, High: textAt + 0x20000, Rows: []dwarfgen.FrameRow{
			row(0, regSP, 8, ra),
			row(1, regSP, 16, fp, ra),
			row(4, regFP, 16, fp, ra),
			row(0x50, regFP, 16, a, fp, ra),
			row(0x200, regFP, 16, a, fp, ra, high),
			row(0x10200, regFP, 16, dwarfgen.SavedReg{Reg: regA, Lost: true}, fp, dwarfgen.SavedReg{Reg: regRA, Offset: -16}),
			row(0x10201, regFP, -24, fp, ra),
			row(0x10202, regSP, -32, fp, ra),
			row(0x10203, regSP, 8, ra),
		}},
	}
}

// frameObject makes an ELF file with both sections, and returns what went into it.
func frameObject(t testing.TB, enc dwarfgen.Encoding) (path string, frames, header []byte, framesAt uint64) {
	t.Helper()
	const textLen = 0x30010
	framesAt = textAt + textLen
	var w dwarfgen.Frames
	w.Reset(enc.Order, enc.AddrSize, framesAt)
	cie := w.AddCIE(frameCIE)
	for _, fde := range frameFunctions() {
		w.AddFDE(cie, fde)
	}
	section, err := w.Section()
	if err != nil {
		t.Fatal(err)
	}
	headerAt := (framesAt + uint64(len(section.Data)) + 3) &^ 3
	hdr, err := dwarfgen.AppendFrameHeader(nil, enc.Order, headerAt, framesAt, w.Entries())
	if err != nil {
		t.Fatal(err)
	}
	if len(hdr.Data) != dwarfgen.FrameHeaderSize(2) {
		t.Errorf("the header has %d bytes", len(hdr.Data))
	}
	var f elfgen.File
	f.Reset(elfgen.TargetFor(frameMachines[enc.AddrSize/8][enc.Order.String()], enc.Order, 1<<31), elf.ET_DYN)
	text := f.Add(elfgen.Section{Name: ".text", Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC | elf.SHF_EXECINSTR, Align: textAt, Data: bytes.Repeat([]byte{0}, textLen)})
	f.Add(elfgen.Section{Name: section.Name, Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Align: 8, Data: section.Data})
	last := f.Add(elfgen.Section{Name: hdr.Name, Type: elf.SHT_PROGBITS, Flags: elf.SHF_ALLOC, Align: 4, Data: hdr.Data})
	f.AddSegment(elfgen.Segment{Type: elf.PT_LOAD, Flags: elf.PF_R | elf.PF_X, First: text, Last: last, Align: 0x1000, FromStart: true})
	f.AddSegment(elfgen.Segment{Type: elf.PT_GNU_EH_FRAME, Flags: elf.PF_R, First: last, Last: last, Align: 4})
	out, err := f.AppendTo(nil)
	if err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "object.so")
	if err := os.WriteFile(path, out, 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := elf.NewFile(bytes.NewReader(out))
	if err != nil {
		t.Fatal(err)
	}
	if a, b := e.Section(".eh_frame").Addr, e.Section(".eh_frame_hdr").Addr; a != framesAt || b != headerAt {
		t.Fatalf("the sections are at %#x and %#x, want %#x and %#x", a, b, framesAt, headerAt)
	}
	return path, section.Data, hdr.Data, framesAt
}

var frameMachines = []map[string]elf.Machine{
	{"LittleEndian": elf.EM_386, "BigEndian": elf.EM_PPC},
	{"LittleEndian": elf.EM_X86_64, "BigEndian": elf.EM_S390},
}

// binutils' names of the registers that CFAs are in.
var frameNames = map[string]string{"rbp": "6", "rsp": "7", "esi": "6", "edi": "7", "r6": "6", "r7": "7", "%r6": "6", "%r7": "7"}

var interpRow = regexp.MustCompile(`(?m)^([0-9a-f]{8,16}) +(\S+?)([+-]\d+) +(.*?) *$`)

// readelf, which executes the instructions, sees the rows.
func TestFrame_RowsLikeReadelf(t *testing.T) {
	readelf := testrec.Tool(t, "readelf")
	forEachFrames(t, func(t *testing.T, enc dwarfgen.Encoding) {
		path, _, _, _ := frameObject(t, enc)
		out, errs := testrec.RunBoth(t, ".", readelf, "--debug-dump=frames-interp", path)
		if errs != "" {
			t.Errorf("readelf complains: %s", errs)
		}
		var got, want []string
		for _, m := range interpRow.FindAllStringSubmatch(out, -1) {
			got = append(got, fmt.Sprintf("%s %s%s %s", strings.TrimLeft(m[1], "0"), frameNames[m[2]], m[3], strings.Join(strings.Fields(m[4]), " ")))
		}
		for _, fde := range frameFunctions() {
			columns := []uint64{regRA}
			for _, row := range fde.Rows {
				for _, s := range row.Saved {
					if !slices.Contains(columns, s.Reg) {
						columns = append(columns, s.Reg)
					}
				}
			}
			slices.Sort(columns)
			for _, row := range fde.Rows { // readelf shows none where there are no instructions
				s := fmt.Sprintf("%x %d%+d", fde.Low+row.Offset, row.CFA.Reg, row.CFA.Offset)
				for _, reg := range columns {
					rule := " s"
					for _, saved := range row.Saved {
						switch {
						case saved.Reg == reg && saved.Lost:
							rule = " u"
						case saved.Reg == reg:
							rule = fmt.Sprintf(" c%+d", saved.Offset)
						}
					}
					s += rule
				}
				want = append(want, s)
			}
		}
		got = slices.DeleteFunc(got, func(s string) bool { return strings.HasPrefix(s, " ") }) // the CIE's own
		// readelf writes u for registers that no instruction has spoken of.
		for i := range got {
			if i < len(want) && strings.ReplaceAll(got[i], " u", " s") == strings.ReplaceAll(want[i], " u", " s") {
				got[i] = want[i]
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("readelf shows\n%s\nwant\n%s\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"), out)
		}
	})
}

// Two more readers find nothing wrong.
func TestFrame_ReadersAccept(t *testing.T) {
	euReadelf, dump := testrec.Tool(t, "eu-readelf"), testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	forEachFrames(t, func(t *testing.T, enc dwarfgen.Encoding) {
		path, _, _, _ := frameObject(t, enc)
		out, errs := testrec.RunBoth(t, ".", euReadelf, "--debug-dump=frames", path)
		if errs != "" || strings.Count(out, "FDE length=") != 2 {
			t.Errorf("eu-readelf complains: %s\n%s", errs, out)
		}
		if out = strings.Join(strings.Fields(out), " "); !strings.Contains(out, "fde_count: 2 ") {
			t.Errorf("eu-readelf does not see the search table: %s", out)
		}
		out, errs = testrec.RunBoth(t, ".", dump, "--eh-frame", path)
		if errs != "" || strings.Contains(out, "error") || strings.Count(out, " FDE cie=") != 2 {
			t.Errorf("llvm-dwarfdump complains: %s\n%s", errs, out)
		}
	})
}

// delve agrees at every row. Its DW_CFA_restore always gives "undefined".
func TestFrame_RowsLikeDelve(t *testing.T) {
	enc := dwarfgen.Encoding{AddrSize: 8, Order: binary.LittleEndian}
	_, frames, _, at := frameObject(t, enc)
	fdes, err := frame.Parse(frames, binary.LittleEndian, 0, 8, at)
	if err != nil {
		t.Fatal(err)
	}
	for _, fn := range frameFunctions() {
		for _, row := range fn.Rows {
			at := slices.IndexFunc(fdes, func(fde *frame.FrameDescriptionEntry) bool { return fde.Cover(fn.Low + row.Offset) })
			if at < 0 {
				t.Fatalf("no FDE for %#x", fn.Low+row.Offset)
			}
			ctx, err := fdes[at].EstablishFrame(fn.Low + row.Offset)
			if err != nil {
				t.Fatal(err)
			}
			if ctx.CFA.Reg != row.CFA.Reg || ctx.CFA.Offset != row.CFA.Offset {
				t.Errorf("at %#x the CFA is r%d%+d, want %v", row.Offset, ctx.CFA.Reg, ctx.CFA.Offset, row.CFA)
			}
			for _, s := range row.Saved {
				if r := ctx.Regs[s.Reg]; s.Lost && r.Rule != frame.RuleUndefined || !s.Lost && r.Rule != frame.RuleUndefined && (r.Rule != frame.RuleOffset || r.Offset != s.Offset) {
					t.Errorf("at %#x register %d is %v, want %v", row.Offset, s.Reg, r, s)
				}
			}
		}
	}
}

// The table is sorted, and points at the FDEs.
func TestFrame_HeaderIsSorted(t *testing.T) {
	forEachFrames(t, func(t *testing.T, enc dwarfgen.Encoding) {
		_, frames, header, framesAt := frameObject(t, enc)
		headerAt := (framesAt + uint64(len(frames)) + 3) &^ 3
		u32 := func(at int) uint64 { return uint64(int64(int32(enc.Order.Uint32(header[at:])))) }
		if header[0] != 1 || headerAt+4+u32(4) != framesAt || u32(8) != 2 || headerAt+u32(12) != textAt || headerAt+u32(20) != textAt+0x30000 {
			t.Errorf("header % x", header)
		}
		for _, at := range []int{16, 24} {
			fde := headerAt + u32(at) - framesAt
			pcAt := fde + 8
			if pc := framesAt + pcAt + uint64(int64(int32(enc.Order.Uint32(frames[pcAt:])))); pc != headerAt+u32(at-4) {
				t.Errorf("the entry for %#x points at the FDE for %#x", headerAt+u32(at-4), pc)
			}
		}
	})
}

// What cannot be written is refused.
func TestFrame_CannotBeWritten(t *testing.T) {
	for name, f := range map[string]func(w *dwarfgen.Frames){
		"far away":  func(w *dwarfgen.Frames) { w.AddFDE(w.AddCIE(frameCIE), dwarfgen.FDE{Low: 1 << 40, High: 1<<40 + 1}) },
		"too long":  func(w *dwarfgen.Frames) { w.AddFDE(w.AddCIE(frameCIE), dwarfgen.FDE{Low: 0, High: 1 << 40}) },
		"backwards": func(w *dwarfgen.Frames) { w.AddFDE(w.AddCIE(frameCIE), dwarfgen.FDE{Low: 1, High: 0}) },
		"uneven offset": func(w *dwarfgen.Frames) {
			w.AddFDE(w.AddCIE(frameCIE), dwarfgen.FDE{High: 8, Rows: []dwarfgen.FrameRow{{Saved: []dwarfgen.SavedReg{{Offset: 3}}}}})
		},
		"two rows at 0": func(w *dwarfgen.Frames) {
			w.AddFDE(w.AddCIE(frameCIE), dwarfgen.FDE{High: 8, Rows: make([]dwarfgen.FrameRow, 2)})
		},
		"return address": func(w *dwarfgen.Frames) { w.AddCIE(dwarfgen.CIE{CodeAlign: 1, DataAlign: -8, ReturnReg: 256}) },
	} {
		var w dwarfgen.Frames
		w.Reset(binary.LittleEndian, 8, 0x1000)
		f(&w)
		if _, err := w.Section(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := dwarfgen.AppendFrameHeader(nil, binary.LittleEndian, 1<<40, 0, nil); err == nil {
		t.Error("a header far from its frames: no error")
	}
}

func forEachFrames(t *testing.T, test func(t *testing.T, enc dwarfgen.Encoding)) {
	for _, size := range []int{4, 8} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			t.Run(fmt.Sprintf("%d-%v", 8*size, order), func(t *testing.T) { test(t, dwarfgen.Encoding{AddrSize: size, Order: order}) })
		}
	}
}
