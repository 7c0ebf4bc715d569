package jitobj_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-delve/delve/pkg/dwarf/frame"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
)

// targets are machines and byte orders of jitted code.
func targets() (ts []jitcode.Target) {
	for _, m := range []elf.Machine{elf.EM_X86_64, elf.EM_386, elf.EM_AARCH64, elf.EM_ARM, elf.EM_PPC64, elf.EM_PPC, elf.EM_S390, elf.EM_RISCV, elf.EM_LOONGARCH, elf.EM_MIPS, elf.EM_SPARCV9} {
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			switch {
			case order == binary.BigEndian && (m == elf.EM_X86_64 || m == elf.EM_386 || m == elf.EM_RISCV || m == elf.EM_LOONGARCH),
				order == binary.LittleEndian && (m == elf.EM_S390 || m == elf.EM_PPC || m == elf.EM_SPARCV9):
				continue // there is no such machine
			}
			ts = append(ts, jitcode.Target{Machine: uint32(m), Order: order, HighAddress: 1 << 31})
		}
	}
	return ts
}

func function() *jitcode.Function {
	return &jitcode.Function{
		Name:  []byte("JS:*add /src/prog.js:2:49"),
		Addr:  0x7f0000001000,
		Size:  256,
		Code:  bytes.Repeat([]byte{0, 0, 0, 0}, 64),
		Files: []string{"/src/unused.js", "/src/prog.js", "/src/inlined.js"},
		Lines: []jitcode.Line{
			{Offset: 0, File: 1, Line: 2, Column: 49},
			{Offset: 4, File: 2, Line: 1000, Column: 0},
			{Offset: 100, Line: 0},
			{Offset: 104, File: 1, Line: 1, Column: 300},
		},
	}
}

// derived is what a function's code may show of its frame, with a hole in the middle.
func derived() jitcode.Unwind {
	row := func(offset uint64, reg uint8, cfa int64, saved ...jitcode.SavedReg) jitcode.FrameRow {
		return jitcode.FrameRow{Offset: offset, Known: true, CFA: jitcode.CFA{Reg: reg, Offset: cfa}, Saved: saved}
	}
	ra, fp := jitcode.SavedReg{Reg: 16, Offset: -8}, jitcode.SavedReg{Reg: 6, Offset: -16}
	return jitcode.Unwind{
		CIE: jitcode.FrameCIE{CodeAlign: 1, DataAlign: -8, ReturnReg: 16}, Initial: row(0, 7, 8, ra),
		Rows: []jitcode.FrameRow{row(0, 7, 8, ra), row(4, 7, 16, fp, ra), row(8, 6, 16, fp, ra), {Offset: 100}, row(200, 7, 8, ra)},
	}
}

// sent is what a producer may have sent: def_cfa r7+8 in the CIE, def_cfa_offset 16
// behind 4 bytes.
func sent() jitcode.Unwind {
	return jitcode.Unwind{Sent: jitcode.FrameTable{
		CIEs: []jitcode.FrameCIE{{CodeAlign: 1, DataAlign: -8, ReturnReg: 16, Instructions: []byte{0x0c, 7, 8, 0x90, 1}}},
		FDEs: []jitcode.FrameFDE{{Size: 256, Instructions: []byte{0x44, 0x0e, 16}}},
	}}
}

func build(t testing.TB, target jitcode.Target, opts jitobj.Options, fn *jitcode.Function) jitobj.Object {
	t.Helper()
	return buildAt(t, target, opts, fn, jitobj.Place{})
}

func buildAt(t testing.TB, target jitcode.Target, opts jitobj.Options, fn *jitcode.Function, place jitobj.Place) jitobj.Object {
	t.Helper()
	b, err := jitobj.NewBuilder(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	o, err := b.Build(fn, place)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestBuild_ReadByDebugElf(t *testing.T) {
	for _, target := range targets() {
		for _, version := range []int{4, 5} {
			t.Run(fmt.Sprint(elf.Machine(target.Machine), target.Order, version), func(t *testing.T) {
				fn := function()
				o := build(t, target, jitobj.Options{DWARF: version, Producer: "test"}, fn)
				f, err := elf.NewFile(bytes.NewReader(o.Bytes))
				if err != nil {
					t.Fatal(err)
				}
				if f.Machine != elf.Machine(target.Machine) || f.ByteOrder != target.Order {
					t.Errorf("header %+v", f.FileHeader)
				}
				text := f.Section(".text")
				if code, _ := text.Data(); !bytes.Equal(code, fn.Code) || text.Offset != jitobj.TextOffset || text.Addr != jitobj.TextOffset {
					t.Errorf(".text is %+v", text)
				}
				syms, err := f.Symbols()
				if err != nil || len(syms) != 1 || syms[0].Name != string(fn.Name) || syms[0].Value != jitobj.TextOffset || syms[0].Size != uint64(len(fn.Code)) {
					t.Errorf("symbols %+v, %v", syms, err)
				}
				note, _ := f.Section(".note.gnu.build-id").Data()
				if !bytes.HasSuffix(note, o.BuildID[:]) {
					t.Errorf("note % x does not end in % x", note, o.BuildID)
				}
				d, err := f.DWARF()
				if err != nil {
					t.Fatal(err)
				}
				checkDWARF(t, d, fn)
			})
		}
	}
}

func checkDWARF(t *testing.T, d *dwarf.Data, fn *jitcode.Function) {
	t.Helper()
	r := d.Reader()
	cu, err := r.Next()
	if err != nil {
		t.Fatal(err)
	}
	if cu.Val(dwarf.AttrName) != "/src/prog.js" || cu.Val(dwarf.AttrCompDir) != "." || cu.Val(dwarf.AttrProducer) != "test" {
		t.Errorf("unit %v", cu)
	}
	sub, err := r.Next()
	if err != nil || sub.Tag != dwarf.TagSubprogram || sub.Val(dwarf.AttrName) != string(fn.Name) || sub.Val(dwarf.AttrLinkageName) != nil {
		t.Errorf("subprogram %v, %v", sub, err)
	}
	for _, e := range []*dwarf.Entry{cu, sub} {
		if ranges, err := d.Ranges(e); err != nil || len(ranges) != 1 || ranges[0] != [2]uint64{jitobj.TextOffset, jitobj.TextOffset + uint64(len(fn.Code))} {
			t.Errorf("for %v: got ranges %x, %v; want one, of all code", e.Tag, ranges, err)
		}
	}
	lr, err := d.LineReader(cu)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		var e dwarf.LineEntry
		if err := lr.Next(&e); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if e.EndSequence {
			got = append(got, fmt.Sprintf("%#x end", e.Address))
		} else {
			got = append(got, fmt.Sprintf("%#x %s:%d:%d", e.Address, e.File.Name, e.Line, e.Column))
		}
	}
	want := "0x80 /src/prog.js:2:49, 0x84 /src/inlined.js:1000:0, 0xe4 /src/prog.js:0:0, 0xe8 /src/prog.js:1:300, 0x180 end"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("lines %s\nwant  %s", s, want)
	}
	for _, f := range lr.Files() {
		if f != nil && f.Name == "/src/unused.js" {
			t.Error("a file that no line refers to is in the table")
		}
	}
}

// tablesApart is the one thing that eu-elflint has against tables with a place of their
// own: no PT_LOAD has them.
const tablesApart = "section [ 4] '.eh_frame_hdr' must be allocated\n"

// What readelf, eu-elflint and llvm-dwarfdump say of objects for every target,
// with and without lines and unwind tables, tight and not.
func TestBuild_ToolsOfEveryTarget(t *testing.T) {
	readelf, lint, verify := testrec.Tool(t, "readelf"), testrec.Tool(t, "eu-elflint"), testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	dir := t.TempDir()
	var names []string
	for _, target := range targets() {
		for variant := range 48 {
			opts := jitobj.Options{DWARF: 4 + variant&1, Producer: "test", Tight: variant&2 != 0}
			fn := function()
			if variant&4 != 0 {
				fn.Lines = nil
			}
			if variant&8 != 0 {
				fn.Unwind = derived()
			}
			var place jitobj.Place
			switch {
			case variant >= 32:
				place = jitobj.Place{Away: 0x10000000, Room: 1000}
			case variant >= 16:
				fn.Unwind = sent()
			}
			name := fmt.Sprintf("%v-%v-%d.so", elf.Machine(target.Machine), target.Order, variant)
			if err := os.WriteFile(filepath.Join(dir, name), buildAt(t, target, opts, fn, place).Bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
			if m := elf.Machine(target.Machine); m != elf.EM_MIPS && m != elf.EM_LOONGARCH { // elfutils 0.188 does not know their flags
				b, _ := testrec.Command(t, dir, lint, "--gnu-ld", name).CombinedOutput()
				out := string(b)
				if apart := place.Away != 0; !apart && out != "No errors\n" || apart && out != tablesApart {
					t.Errorf("%s: eu-elflint complains: %q", name, out)
				}
			}
		}
	}
	if _, errs := testrec.RunBoth(t, dir, readelf, append([]string{"-aW"}, names...)...); errs != "" {
		t.Errorf("readelf complains:\n%s", errs)
	}
	out := testrec.Run(t, dir, verify, append([]string{"--verify"}, names...)...)
	if n := strings.Count(out, "No errors."); n != len(names) || strings.Contains(out, "error:") || strings.Contains(out, "warning:") {
		t.Errorf("llvm-dwarfdump verifies %d of %d objects:\n%s", n, len(names), out)
	}
}

// Whatever makes an object different makes its build id different.
func TestBuild_BuildIDOfEveryDifference(t *testing.T) {
	x86 := targets()[0]
	base := func() (*jitcode.Function, jitcode.Target, jitobj.Options) {
		return function(), x86, jitobj.Options{Producer: "test"}
	}
	fn, target, opts := base()
	first := build(t, target, opts, fn)
	seen := map[[jitobj.BuildIDSize]byte]string{first.BuildID: "the function itself"}
	for name, change := range map[string]func(*jitcode.Function, *jitcode.Target, *jitobj.Options){
		"address":  func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Addr++ },
		"name":     func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Name = []byte("other") },
		"code":     func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Code[7]++ },
		"line":     func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Lines[0].Line++ },
		"column":   func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Lines[0].Column++ },
		"file":     func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Files[1] = "/else" },
		"no lines": func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Lines = nil },
		"frames":   func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Unwind = derived() },
		"CFA": func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) {
			f.Unwind = derived()
			f.Unwind.Rows[1].CFA.Offset++
		},
		"marked CFA": func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) {
			f.Unwind = derived()
			f.Unwind.Rows[1].CFA.Marked = jitcode.Marked{Reg: 7, Offset: 80, Zero: 24, One: 32}
		},
		"saved register": func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) {
			f.Unwind = derived()
			f.Unwind.Rows[1].Saved[0].Offset = -24
		},
		"sent frames": func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Unwind = sent() },
		"sent instructions": func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) {
			f.Unwind = sent()
			f.Unwind.Sent.FDEs[0].Instructions[2]++
		},
		"T32":           func(f *jitcode.Function, _ *jitcode.Target, _ *jitobj.Options) { f.Thumb = true },
		"machine":       func(_ *jitcode.Function, t *jitcode.Target, _ *jitobj.Options) { t.Machine = uint32(elf.EM_AARCH64) },
		"byte order":    func(_ *jitcode.Function, t *jitcode.Target, _ *jitobj.Options) { t.Order = binary.BigEndian },
		"DWARF version": func(_ *jitcode.Function, _ *jitcode.Target, o *jitobj.Options) { o.DWARF = 4 },
		"producer":      func(_ *jitcode.Function, _ *jitcode.Target, o *jitobj.Options) { o.Producer = "else" },
		"directory":     func(_ *jitcode.Function, _ *jitcode.Target, o *jitobj.Options) { o.CompDir = "/else" },
		"tight":         func(_ *jitcode.Function, _ *jitcode.Target, o *jitobj.Options) { o.Tight = true },
	} {
		fn, target, opts := base()
		change(fn, &target, &opts)
		id := build(t, target, opts, fn).BuildID
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s have the same build id", name, other)
		}
		seen[id] = name
	}
	if again := build(t, target, opts, function()); again.BuildID != first.BuildID || !bytes.Equal(again.Bytes, first.Bytes) {
		t.Error("the same function gives another object")
	}
}

// Derived rows stand beside the FDEs that a producer sent, where these leave code to them.
func TestBuild_SentAndDerivedFrames(t *testing.T) {
	fn := function()
	fn.Unwind = derived()
	fn.Unwind.Sent = sent().Sent
	fn.Unwind.Sent.FDEs[0].Size = 100
	fn.Unwind.Rows = []jitcode.FrameRow{fn.Unwind.Rows[1], {Offset: 150}}
	fn.Unwind.Rows[0].Offset = 100
	o, err := elf.NewFile(bytes.NewReader(build(t, targets()[0], jitobj.Options{}, fn).Bytes))
	if err != nil {
		t.Fatal(err)
	}
	section := o.Section(".eh_frame")
	data, err := section.Data()
	if err != nil {
		t.Fatal(err)
	}
	table, err := frame.Parse(data, binary.LittleEndian, 0, 8, section.Addr)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range table {
		row, err := f.EstablishFrame(f.End() - 1)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%d-%d %d%+d", f.Begin()-o.Section(".text").Addr, f.End()-o.Section(".text").Addr, row.CFA.Reg, row.CFA.Offset))
	}
	if want := []string{"0-100 7+16", "100-150 7+16"}; !slices.Equal(got, want) {
		t.Errorf("got FDEs %q, want %q", got, want)
	}
}

// Mangled names: the symbol keeps them, DWARF has both.
func TestBuild_MangledName(t *testing.T) {
	for mangled, plain := range map[string]string{
		"_ZN3foo3barEi":             "foo::bar(int)",
		"_RNvC7mycrate3foo":         "mycrate::foo",
		"_Zthis is no mangled name": "_Zthis is no mangled name",
		"plain":                     "plain",
	} {
		fn := function()
		fn.Name = []byte(mangled)
		o := build(t, targets()[0], jitobj.Options{}, fn)
		f, err := elf.NewFile(bytes.NewReader(o.Bytes))
		if err != nil {
			t.Fatal(err)
		}
		syms, _ := f.Symbols()
		d, err := f.DWARF()
		if err != nil {
			t.Fatal(err)
		}
		r := d.Reader()
		r.Next()
		sub, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		linkage, _ := sub.Val(dwarf.AttrLinkageName).(string)
		if plain == mangled && linkage != "" || plain != mangled && linkage != mangled || sub.Val(dwarf.AttrName) != plain || syms[0].Name != mangled {
			t.Errorf("%s: symbol %s, DW_AT_name %v, DW_AT_linkage_name %q; want %s", mangled, syms[0].Name, sub.Val(dwarf.AttrName), linkage, plain)
		}
	}
}

// T32 code is marked as the ARM ABI wants it, and disassembles as such.
func TestBuild_ThumbCode(t *testing.T) {
	fn := function()
	fn.Thumb = true
	fn.Size, fn.Code = 4, []byte{0x70, 0x47, 0x00, 0xbf} // bx lr; nop
	o := build(t, jitcode.Target{Machine: uint32(elf.EM_ARM), Order: binary.LittleEndian, HighAddress: 1 << 20}, jitobj.Options{}, fn)
	f, err := elf.NewFile(bytes.NewReader(o.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	syms, err := f.Symbols()
	if err != nil || len(syms) != 2 || syms[0].Name != "$t" || syms[0].Value != jitobj.TextOffset || syms[1].Value != jitobj.TextOffset+1 {
		t.Errorf("symbols %+v, %v", syms, err)
	}
}

// Code for ARM says what it may use; without that LLVM knows ARMv4 only.
func TestBuild_ARMAttributes(t *testing.T) {
	readelf, objdump := testrec.Tool(t, "readelf"), testrec.Tool(t, "llvm-objdump-14", "llvm-objdump")
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		fn := function()
		fn.Code = []byte{ // instructions are little-endian whatever the data are
			0x1e, 0xff, 0x2f, 0xe1, // bx lr, ARMv4T
			0x11, 0xf1, 0x10, 0xe7, // sdiv r0, r1, r1, ARMv7 with division
			0xa0, 0x0d, 0x41, 0xf2, // vadd.f32 d16, d17, d16, Advanced SIMD
		}
		fn.Size = uint64(len(fn.Code))
		fn.Lines = nil
		path := filepath.Join(t.TempDir(), "arm.so")
		o := build(t, jitcode.Target{Machine: uint32(elf.EM_ARM), Order: order, HighAddress: 1 << 20}, jitobj.Options{}, fn)
		if err := os.WriteFile(path, o.Bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		if out, errs := testrec.RunBoth(t, ".", readelf, "-A", path); !strings.Contains(out, "Tag_CPU_arch: v8") || errs != "" {
			t.Errorf("for %v: got of readelf %s%s; want the attributes of ARM, no warnings", order, out, errs)
		}
		out := testrec.Run(t, ".", objdump, "-d", path)
		for _, want := range []string{"bx\tlr", "sdiv\tr0, r1, r1", "vadd.f32\td16, d17, d16"} {
			if !strings.Contains(out, want) || strings.Contains(out, "<unknown>") {
				t.Errorf("for %v: want %q; got of llvm-objdump\n%s", order, want, out)
			}
		}
	}
}

// A builder makes objects one after the other in the same memory.
func TestBuild_InUsedMemory(t *testing.T) {
	b, err := jitobj.NewBuilder(targets()[0], jitobj.Options{Producer: "test"})
	if err != nil {
		t.Fatal(err)
	}
	first, err := b.Build(function(), jitobj.Place{})
	if err != nil {
		t.Fatal(err)
	}
	want := bytes.Clone(first.Bytes)
	other := function()
	other.Name, other.Lines = []byte("a"), other.Lines[:1]
	if _, err := b.Build(other, jitobj.Place{}); err != nil {
		t.Fatal(err)
	}
	again, err := b.Build(function(), jitobj.Place{})
	if err != nil || !bytes.Equal(again.Bytes, want) {
		t.Errorf("after another function, the object differs: %v", err)
	}
	fn := function()
	if n := testing.AllocsPerRun(100, func() { b.Build(fn, jitobj.Place{}) }); n > 20 {
		t.Errorf("got %v allocations for an object; want 20 at most", n)
	}
}

func lineEntry(t testing.TB, lr *dwarf.LineReader) (e dwarf.LineEntry) {
	t.Helper()
	if err := lr.Next(&e); err != nil {
		t.Fatal(err)
	}
	return e
}

// Flags of processors that tools look at; the numbers are those of compilers.
func TestBuild_FlagsOfProcessors(t *testing.T) {
	for _, c := range []struct {
		machine elf.Machine
		order   binary.ByteOrder
		want    string
	}{
		{elf.EM_ARM, binary.LittleEndian, "0x5000000, Version5 EABI"},
		{elf.EM_ARM, binary.BigEndian, "0x5800000, Version5 EABI, BE8"},
		{elf.EM_PPC64, binary.LittleEndian, "0x2, abiv2"},
		{elf.EM_PPC64, binary.BigEndian, "0x1, abiv1"},
		{elf.EM_RISCV, binary.LittleEndian, "0x5, RVC, double-float ABI"},
		{elf.EM_LOONGARCH, binary.LittleEndian, "0x43, DOUBLE-FLOAT, OBJ-v1"},
		{elf.EM_MIPS, binary.BigEndian, "0x70001006, pic, cpic, o32, mips32r2"},
		{elf.EM_S390, binary.BigEndian, "0x0"},
		{elf.EM_X86_64, binary.LittleEndian, "0x0"},
	} {
		o := build(t, jitcode.Target{Machine: uint32(c.machine), Order: c.order, HighAddress: 1 << 31}, jitobj.Options{}, function())
		path := filepath.Join(t.TempDir(), "flags.so")
		if err := os.WriteFile(path, o.Bytes, 0o644); err != nil {
			t.Fatal(err)
		}
		if out := testrec.Run(t, ".", testrec.Tool(t, "readelf"), "-h", path); !strings.Contains(out, "Flags:                             "+c.want+"\n") {
			t.Errorf("for %v, %v: want flags %s; got\n%s", c.machine, c.order, c.want, out)
		}
	}
}

// A name that would need a stack of gigabytes to be demangled stays as it is.
func TestBuild_NameTooDeepToDemangle(t *testing.T) {
	fn := function()
	fn.Name = []byte("_Z1f" + strings.Repeat("P", 1<<20) + "i")
	o := build(t, targets()[0], jitobj.Options{}, fn)
	f, err := elf.NewFile(bytes.NewReader(o.Bytes))
	if err != nil {
		t.Fatal(err)
	}
	if syms, err := f.Symbols(); err != nil || !slices.ContainsFunc(syms, func(s elf.Symbol) bool { return s.Name == string(fn.Name) }) {
		t.Errorf("the name is lost: %v", err)
	}
}
