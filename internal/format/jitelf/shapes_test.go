package jitelf_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/jitinject/jitinject/internal/format/jitelf"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
)

// The objects that lli registered have these lines and inlined calls: gdb has the same.
func TestDescribe_ObjectsOfLLI(t *testing.T) {
	for _, name := range []string{"lli-dwarf2.elf", "lli-dwarf5.elf"} {
		fns := functions(t, real(t, name))
		if len(fns) != 3 {
			t.Fatalf("%s: got %d functions; want 3", name, len(fns))
		}
		second := &fns[1]
		if string(second.Name) != "second" || second.Size != 96 || second.Addr&0xfff != 0x50 || !slices.Equal(second.Files, []string{"/src/small.c"}) {
			t.Errorf("%s: got %s at %#x, %d bytes, files %q", name, second.Name, second.Addr, second.Size, second.Files)
		}
		lines := []jitcode.Line{{Offset: 0, Line: 10, Column: 4}, {Offset: 0xc, Line: 11, Column: 16}, {Offset: 0xf, Line: 1, Column: 75}, {Offset: 0x12}}
		if got := second.Lines[:4]; !slices.Equal(got, lines) {
			t.Errorf("%s: got lines %+v; want %+v", name, got, lines)
		}
		f := func(function string, line, column uint32) testrec.Frame {
			return testrec.Frame{Function: function, File: "/src/small.c", Line: line, Column: column}
		}
		for off, want := range map[uint64][]testrec.Frame{
			0x0e: {f("second", 11, 16)},
			0x10: {f("square", 1, 75), f("second", 11, 27)},
			0x20: {f("square", 1, 75), f("first", 5, 8), f("second", 11, 21)},
			0x4d: {f("first", 4, 26), f("second", 11, 21)},
			0x54: {f("square", 1, 75), f("second", 11, 9)},
			0x58: {f("second", 11, 19)},
		} {
			if got := stackAt(second, off); !slices.Equal(got, want) {
				t.Errorf("%s: got %v at offset %#x; want %v", name, got, off, want)
			}
		}
		main := jitcode.FrameTable{
			CIEs: []jitcode.FrameCIE{{CodeAlign: 1, DataAlign: -8, ReturnReg: 16, Instructions: []byte{0x0c, 7, 8, 0x90, 1}}},
			FDEs: []jitcode.FrameFDE{{Size: 25, Instructions: []byte{0x41, 0x0e, 16, 0x83, 2}}},
		}
		if got := fns[2].Unwind.Sent; !reflect.DeepEqual(got, main) {
			t.Errorf("%s: got unwind table %+v; want %+v", name, got, main)
		}
	}
}

// Readers of one object may run at once, and describe the same.
func TestDescribe_Concurrent(t *testing.T) {
	image := real(t, "lli-dwarf5.elf")
	want := functions(t, image)
	o := open(t, image)
	var wait sync.WaitGroup
	for range 8 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			r := o.NewReader()
			for range 10 {
				for i, s := range o.Functions() {
					fn := jitcode.Function{Name: s.Name, Addr: s.Addr, Size: s.Size}
					if problem := r.Describe(i, &fn); problem != nil || !reflect.DeepEqual(fn, want[i]) {
						t.Errorf("got %+v, problem %v; want %+v", fn, problem, want[i])
					}
				}
			}
		}()
	}
	wait.Wait()
	if p := o.Problems(); len(p) > 0 {
		t.Errorf("got problems %v; want none", p)
	}
}

// Of the symbols, these are functions.
func TestFunctions_Symbols(t *testing.T) {
	label := func(name string, value, size uint64) madeSymbol { return madeSymbol{name, 0, 1, value, size} }
	local := func(name string, value, size uint64) madeSymbol {
		return madeSymbol{name, elf.ST_INFO(elf.STB_LOCAL, elf.STT_FUNC), 1, value, size}
	}
	for name, test := range map[string]struct {
		symbols []madeSymbol
		want    string
	}{
		"sorted":                 {[]madeSymbol{function("b", 0x20, 8), function("a", 0x10, 4)}, "a 0x5010 4, b 0x5020 8"},
		"without sizes":          {[]madeSymbol{function("a", 0x10, 0), function("b", 0x20, 0)}, "a 0x5010 16, b 0x5020 224"},
		"sized labels":           {[]madeSymbol{function("a", 0, 32), label("inside", 16, 8), label("outside", 40, 8)}, "a 0x5000 32, outside 0x5028 8"},
		"labels without sizes":   {[]madeSymbol{label("a", 0, 0)}, ""},
		"several of an address":  {[]madeSymbol{local("z", 0, 32), function("a", 0, 32), label("b", 0, 64)}, "a 0x5000 32"},
		"overlapping":            {[]madeSymbol{function("a", 0, 32), function("b", 16, 32)}, "a 0x5000 16, b 0x5010 32"},
		"beyond their section":   {[]madeSymbol{function("a", 0xf0, 0x11), function("b", math.MaxUint64-4, 4)}, ""},
		"without names":          {[]madeSymbol{function("", 0, 32)}, ""},
		"undefined, of no code":  {[]madeSymbol{{"a", 0x12, 0, 0, 4}, {"b", 0x12, 2, 0, 4}, {"c", 0x12, 0xfff1, 0, 4}, {"d", 0x12, 77, 0, 4}}, ""},
		"of an unloaded section": {[]madeSymbol{{"a", 0x12, 3, 0, 4}}, ""},
	} {
		m := made{elf.ET_REL, []madeSection{text(0x5000, 0x100), {name: ".data", kind: elf.SHT_NOBITS, flags: elf.SHF_ALLOC, addr: 0x9000, size: 16}, text(0, 0x100)}, test.symbols}
		o := open(t, m.bytes())
		var got []string
		for _, f := range o.Functions() {
			got = append(got, fmt.Sprintf("%s %#x %d", f.Name, f.Addr, f.Size))
		}
		if strings.Join(got, ", ") != test.want {
			t.Errorf("%s: got %q; want %q", name, got, test.want)
		}
		wantProblem := name == "beyond their section" || name == "of an unloaded section"
		if p := o.Problems(); (len(p) > 0) != wantProblem {
			t.Errorf("%s: got problems %v", name, p)
		}
	}
}

// In an executable and a library, symbols have addresses.
func TestFunctions_Linked(t *testing.T) {
	for _, kind := range []elf.Type{elf.ET_EXEC, elf.ET_DYN} {
		m := made{kind, []madeSection{text(0x5000, 0x100)}, []madeSymbol{function("a", 0x5010, 8)}}
		o := open(t, m.bytes())
		if f := o.Functions(); len(f) != 1 || f[0].Addr != 0x5010 {
			t.Errorf("got %+v of %v; want a function at 0x5010", f, kind)
		}
		fn, problem := describe(t, o, 0)
		if want := (jitcode.Function{Name: []byte("a"), Addr: 0x5010, Size: 8}); problem != nil || !reflect.DeepEqual(fn, want) {
			t.Errorf("got %+v of %v, and problem %v; want %+v", fn, kind, problem, want)
		}
		if got := o.Target(); got.Machine != uint32(elf.EM_X86_64) || got.Order != binary.LittleEndian || got.HighAddress != 0x5018 {
			t.Errorf("got target %+v of %v; want one of x86-64", got, kind)
		}
	}
}

// An object may have only a symbol and unwind tables, as CPython's has.
func TestDescribe_OnlyFrames(t *testing.T) {
	frames := []byte{
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x00, 0x0c, 7, 8, 0x90, 1, 0, 0, // CIE: absolute pointers
		28, 0, 0, 0, 28, 0, 0, 0, 0x10, 0x50, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0x0e, 16, 0, 0, 0, 0,
		0, 0, 0, 0,
	}
	m := made{elf.ET_EXEC, []madeSection{text(0x5000, 0x100), {name: ".eh_frame", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, addr: 0x6000, data: frames}}, []madeSymbol{function("a", 0x5010, 8)}}
	o := open(t, m.bytes())
	fn, problem := describe(t, o, 0)
	if f := fn.Unwind.Sent.FDEs; problem != nil || len(o.Problems()) > 0 || len(f) != 1 || f[0].Offset != 0 || f[0].Size != 8 || !bytes.Equal(f[0].Instructions, []byte{0x41, 0x0e, 16}) {
		t.Errorf("got %+v, problem %v, %v; want one FDE", f, problem, o.Problems())
	}
}

// LuaJIT, and PHP after it, write DWARF 2 by hand: a unit without functions, abbreviations without an
// end, a line table with four opcodes, and pointers relative to .text. [src/lj_gdbjit.c]
func TestDescribe_LikeLuaJIT(t *testing.T) {
	le := binary.LittleEndian
	frames := []byte{
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x23, 0x0c, 7, 8, 0x90, 1, 0, 0,
		24, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0, 0x86, 2, 0x83, 3, 0x0e, 16, 0x41, 0x0e, 32, 0, 0,
	}
	info := append([]byte{0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 8, 1}, "/d/x.lua\x00"...)
	info = append(le.AppendUint64(le.AppendUint64(info, low), low+100), 0, 0, 0, 0)
	info[0] = byte(len(info) - 4)
	header := append([]byte{1, 1, 0, 2, 4, 0, 1, 1, 0}, "/d/x.lua\x00\x00\x00\x00\x00"...)
	program := slices.Concat(setLow, []byte{3, 41, 1, 2, 100, 0, 1, 1})
	table := append(le.AppendUint32([]byte{2, 0}, uint32(len(header))), append(header, program...)...)
	m := made{elf.ET_REL, []madeSection{
		text(low, 100),
		{name: ".eh_frame", kind: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: frames},
		debug(".debug_info", info),
		debug(".debug_abbrev", []byte{1, 0x11, 0, 0x03, 0x08, 0x11, 0x01, 0x12, 0x01, 0x10, 0x06, 0, 0}),
		debug(".debug_line", append(le.AppendUint32(nil, uint32(len(table))), table...)),
	}, []madeSymbol{function("TRACE_1", 0, 100)}}
	o := open(t, m.bytes())
	fn, problem := describe(t, o, 0)
	if p := o.Problems(); problem != nil || len(p) > 0 {
		t.Errorf("got problems %v, %v; want none", problem, p)
	}
	if got, want := stackAt(&fn, 50), (testrec.Frame{Function: "TRACE_1", File: "/d/x.lua", Line: 42}); fn.Addr != low || len(got) != 1 || got[0] != want {
		t.Errorf("got %v at %#x; want %v", got, fn.Addr, want)
	}
	if f := fn.Unwind.Sent.FDEs; len(f) != 1 || f[0].Offset != 0 || f[0].Size != 100 || !bytes.Equal(f[0].Instructions, frames[41:50]) {
		t.Errorf("got FDEs %+v; want one of 100 bytes", f)
	}
}

// compressed returns the content of a compressed section of 64 bits.
func compressed(t *testing.T, kind elf.CompressionType, size uint64, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, v := range []any{uint32(kind), uint32(0), size, uint64(1)} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	if kind == elf.COMPRESS_ZSTD {
		z, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		return z.EncodeAll(data, b.Bytes())
	}
	z := zlib.NewWriter(&b)
	z.Write(data)
	z.Close()
	return b.Bytes()
}

// Compressed sections are read like others.
func TestDescribe_Compressed(t *testing.T) {
	image := real(t, "lli-dwarf5.elf")
	want := functions(t, image)
	for _, kind := range []elf.CompressionType{elf.COMPRESS_ZLIB, elf.COMPRESS_ZSTD} {
		n := 0
		packed := rewritten(t, image, func(s *elf.Section) ([]byte, elf.SectionFlag) {
			if !strings.HasPrefix(s.Name, ".debug_") {
				return nil, 0
			}
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			n++
			return compressed(t, kind, uint64(len(data)), data), s.Flags | elf.SHF_COMPRESSED
		})
		if got := functions(t, packed); n < 5 || !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v from %d sections compressed by %v; want %+v", got, n, kind, want)
		}
	}
}

// Damage of a compressed section, and one that grows too much, is a problem. Functions remain.
func TestDescribe_CompressedDamage(t *testing.T) {
	image := real(t, "lli-dwarf5.elf")
	for want, pack := range map[string]func(data []byte) []byte{
		"ch_size": func(data []byte) []byte {
			return compressed(t, elf.COMPRESS_ZSTD, 1<<40, data)
		},
		"decompressed to": func(data []byte) []byte {
			return compressed(t, elf.COMPRESS_ZLIB, uint64(len(data))-1, data)
		},
		"want 2000": func(data []byte) []byte { return compressed(t, elf.COMPRESS_ZSTD, 2000, data) },
		"decompression stopped": func(data []byte) []byte {
			b := compressed(t, elf.COMPRESS_ZLIB, uint64(len(data)), data)
			return b[:len(b)-12]
		},
		"compressed by": func(data []byte) []byte { return compressed(t, 77, uint64(len(data)), data) },
		"needs 8 bytes": func([]byte) []byte { return []byte{1, 0, 0, 0, 0, 0, 0, 0} },
		"zlib": func([]byte) []byte {
			return append(make([]byte, 0, 40), append([]byte{1, 0, 0, 0}, make([]byte, 30)...)...)
		},
	} {
		damaged := rewritten(t, image, func(s *elf.Section) ([]byte, elf.SectionFlag) {
			if s.Name != ".debug_info" {
				return nil, 0
			}
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			return pack(data), s.Flags | elf.SHF_COMPRESSED
		})
		o := open(t, damaged)
		if p := o.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), want) || !strings.Contains(p[0].Error(), ".debug_info") {
			t.Errorf("got problems %v; want one with %q", p, want)
		}
		fn, _ := describe(t, o, 1)
		if len(o.Functions()) != 3 || len(fn.Lines) != 0 || len(fn.Unwind.Sent.FDEs) != 1 {
			t.Errorf("%s: got %d functions and %+v; want 3, with unwind tables only", want, len(o.Functions()), fn)
		}
	}
}

// Split DWARF has lines, and a problem that names the other file.
func TestDescribe_SplitDWARF(t *testing.T) {
	source, err := filepath.Abs(filepath.Join("testdata", "small.c"))
	if err != nil {
		t.Fatal(err)
	}
	for version := 4; version <= 5; version++ {
		dir := t.TempDir()
		object := filepath.Join(dir, "small.o")
		testrec.Run(t, dir, testrec.Tool(t, "clang-14", "clang"), "-O1", "-g", fmt.Sprintf("-gdwarf-%d", version), "-gsplit-dwarf", "-c", "-o", object, source)
		o := open(t, loadedAt(t, object, 0x7f1200400000))
		if p := o.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), "small.dwo") {
			t.Errorf("version %d: got problems %v; want one with small.dwo", version, p)
		}
		fn, problem := describe(t, o, 1)
		if problem != nil || string(fn.Name) != "second" || len(fn.Lines) < 8 || !slices.Equal(fn.Files, []string{source}) {
			t.Errorf("version %d: got %+v, problem %v; want the lines of second", version, fn, problem)
		}
	}
}

// A relocation of an unknown type costs the section it is for, and nothing else.
func TestDescribe_UnknownRelocation(t *testing.T) {
	for section, want := range map[string]string{
		".rela.debug_info": "type 5 of EM_X86_64, of a byte of .debug_info",
		".rela.debug_line": "type 5 of EM_X86_64, of a byte of .debug_line",
		".rela.eh_frame":   "type 5 of EM_X86_64, of a byte of .eh_frame",
	} {
		damaged := rewritten(t, real(t, "lli-dwarf2.elf"), func(s *elf.Section) ([]byte, elf.SectionFlag) {
			if s.Name != section {
				return nil, 0
			}
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			binary.LittleEndian.PutUint32(data[8:], uint32(elf.R_X86_64_COPY))
			return data, s.Flags
		})
		o := open(t, damaged)
		if p := o.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), want) {
			t.Errorf("%s: got problems %v; want one with %q", section, p, want)
		}
		fn, problem := describe(t, o, 1)
		if problem != nil || (len(fn.Unwind.Sent.FDEs) == 0) != (section == ".rela.eh_frame") || (len(fn.Lines) == 0) != strings.HasPrefix(section, ".rela.debug") || (len(fn.Inlines) == 0) != (section == ".rela.debug_info") {
			t.Errorf("%s: got %+v, problem %v", section, fn, problem)
		}
	}
}

// Sections at different addresses, and one that is not loaded, keep apart.
func TestDescribe_UnloadedSection(t *testing.T) {
	source := filepath.Join(t.TempDir(), "a.c")
	if err := os.WriteFile(source, []byte("int dead(int n) { return n + 1; }\nint live(int n) { return n * 7; }\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	object := filepath.Join(filepath.Dir(source), "a.o")
	testrec.Run(t, filepath.Dir(source), testrec.Tool(t, "clang-14", "clang"), "-O1", "-g", "-ffunction-sections", "-c", "-o", object, source)
	image, f := readObject(t, object)
	for i, s := range f.Sections {
		if s.Name == ".text.live" {
			load(image, f, i, 0x7f1200400000)
		}
	}
	o := open(t, image)
	if p := o.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), "functions in sections without a load address are left out: 1") {
		t.Errorf("got problems %v; want one about a function without an address", p)
	}
	fn, problem := describe(t, o, 0)
	if len(o.Functions()) != 1 || problem != nil || string(fn.Name) != "live" || len(fn.Lines) == 0 || fn.Lines[0].Line != 2 || len(fn.Unwind.Sent.FDEs) != 1 {
		t.Errorf("got %d functions, %+v, problem %v; want live, of line 2", len(o.Functions()), fn, problem)
	}
}

// Headers that make no sense are errors.
func TestOpen_Damage(t *testing.T) {
	good := real(t, "lli-dwarf2.elf")
	put := func(at int, b ...byte) []byte {
		image := bytes.Clone(good)
		copy(image[at:], b)
		return image
	}
	for want, image := range map[string][]byte{
		"does not begin as an ELF file":        []byte("\x7fELX000000000000000000"),
		"is no class":                          put(4, 9),
		"is no byte order":                     put(5, 9),
		"e_type":                               put(16, 4),
		"needs 8 bytes, 0 are left":            good[:40],
		"no section headers":                   put(40, make([]byte, 8)...),
		"section headers of 63 bytes; want 64": put(58, 63),
		"17 section headers at offset":         put(46, 1),
		"65280 section headers at offset":      put(60, 0, 0xff),
		"and the file has 2232 bytes":          good[:len(good)-2000],
	} {
		_, err := jitelf.Open(image)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v; want %q", err, want)
		}
	}
	if _, err := jitelf.Open(nil); !errors.Is(err, jitelf.ErrNotObject) {
		t.Errorf("got error %v; want ErrNotObject", err)
	}
}
