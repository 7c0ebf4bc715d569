package jitobj_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Functions of which nobody knows the bytes.

// noBytes is what eu-elflint says of a .text without bytes, which it knows from files with
// debugging information only.
const noBytes = "section [ 2] '.text' has wrong type: expected PROGBITS, is NOBITS\n" +
	"section [ 2] '.text' has unexpected type 8 for an executable section\n" +
	"loadable segment [0] is executable but contains no executable sections\n"

func withoutCode(fn *jitcode.Function) *jitcode.Function {
	fn.Code = nil
	return fn
}

// bundleWithoutCode is as bundle.
func bundleWithoutCode(t testing.TB, target jitcode.Target, opts jitobj.Options, place jitobj.Place, list []placed) ([]byte, jitobj.Object, jitobj.Region) {
	t.Helper()
	last := list[len(list)-1]
	region := jitobj.Region{Low: list[0].addr, High: last.addr + last.fn.Size, NoCode: true}
	b, err := jitobj.NewBuilder(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := b.BeginPart(region, &f); err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if err := b.AddFunction(withoutCode(p.fn), p.addr); err != nil {
			t.Fatal(err)
		}
	}
	part, err := b.EndPart()
	if err != nil {
		t.Fatal(err)
	}
	o, err := b.Join(&f, region, place, []*jitobj.Part{part})
	if err != nil {
		t.Fatal(err)
	}
	return f.data, o, region
}

// What readelf, eu-elflint and llvm-dwarfdump say of them, for every target, with and
// without lines and unwind tables, tight and not, alone and in bundles. A .text without
// bytes is all that eu-elflint has to complain of.
func TestNoCode_ToolsOfEveryTarget(t *testing.T) {
	readelf, lint, verify := testrec.Tool(t, "readelf"), testrec.Tool(t, "eu-elflint"), testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	dir := t.TempDir()
	var names []string
	for _, target := range targets() {
		for variant := range 48 {
			opts := jitobj.Options{DWARF: 4 + variant&1, Producer: "test", Tight: variant&2 != 0}
			fn := withoutCode(function())
			if variant&4 != 0 {
				fn.Lines = nil
			}
			if variant&8 != 0 {
				fn.Unwind = derived()
			}
			var place jitobj.Place
			if variant >= 32 {
				place = jitobj.Place{Away: 0x10000000, Room: 10000}
			}
			var data []byte
			if variant >= 16 && variant&4 == 0 {
				data, _, _ = bundleWithoutCode(t, target, opts, place, neighbours())
			} else {
				data = buildAt(t, target, opts, fn, place).Bytes
			}
			name := fmt.Sprintf("%v-%v-%d.so", elf.Machine(target.Machine), target.Order, variant)
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
			if m := elf.Machine(target.Machine); m != elf.EM_MIPS && m != elf.EM_LOONGARCH {
				b, _ := testrec.Command(t, dir, lint, "--gnu-ld", name).CombinedOutput()
				want := noBytes
				if place.Away != 0 {
					want = tablesApart + want
				}
				if out := strings.TrimSpace(string(b)) + "\n"; out != want {
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

// The section has a size and no bytes; what is said of the function is the same.
func TestNoCode_SectionWithoutBytes(t *testing.T) {
	for _, target := range targets() {
		for _, unwind := range []bool{false, true} {
			t.Run(fmt.Sprint(elf.Machine(target.Machine), target.Order, unwind), func(t *testing.T) {
				fn := withoutCode(function())
				if unwind {
					fn.Unwind = derived()
				}
				o := build(t, target, jitobj.Options{Producer: "test"}, fn)
				f, err := elf.NewFile(bytes.NewReader(o.Bytes))
				if err != nil {
					t.Fatal(err)
				}
				text := f.Section(".text")
				if text.Type != elf.SHT_NOBITS || text.Size != fn.Size || text.Offset != jitobj.TextOffset || text.Addr != jitobj.TextOffset {
					t.Errorf(".text is %+v", text.SectionHeader)
				}
				load := f.Progs[0]
				if load.Type != elf.PT_LOAD || load.Off != 0 || load.Vaddr != 0 || load.Filesz > jitobj.TextOffset || load.Memsz != jitobj.TextOffset+fn.Size || load.Flags != elf.PF_R|elf.PF_X {
					t.Errorf("PT_LOAD is %+v", load.ProgHeader)
				}
				if unwind {
					frames, tables := f.Section(".eh_frame"), f.Progs[1]
					if tables.Type != elf.PT_LOAD || tables.Vaddr != frames.Addr || tables.Off != frames.Offset || tables.Vaddr < jitobj.TextOffset+fn.Size || tables.Vaddr != tables.Off {
						t.Errorf("the tables are at %#x, in PT_LOAD %+v", frames.Addr, tables.ProgHeader)
					}
					if o.Tables.Offset != frames.Offset || o.Tables.Size == 0 {
						t.Errorf("the tables are said to be at %+v, they are at %#x", o.Tables, frames.Offset)
					}
				}
				syms, err := f.Symbols()
				if err != nil || len(syms) != 1 || syms[0].Name != string(fn.Name) || syms[0].Value != jitobj.TextOffset || syms[0].Size != fn.Size {
					t.Errorf("symbols %+v, %v", syms, err)
				}
				if at := o.Bytes[jitobj.TextOffset:][:fn.Size]; !bytes.Equal(at, bytes.Repeat(at[:1], len(at))) || at[0] != 0xff && f.Machine != elf.EM_PPC && f.Machine != elf.EM_PPC64 {
					t.Errorf("where the code would be is % x", at)
				}
				d, err := f.DWARF()
				if err != nil {
					t.Fatal(err)
				}
				fn.Code = make([]byte, fn.Size)
				checkDWARF(t, d, fn)
			})
		}
	}
}

// Debuggers say the same of a function whether its bytes are there or not.
func TestNoCode_StacksLikeWithBytes(t *testing.T) {
	dir := t.TempDir()
	for _, target := range []jitcode.Target{targets()[0], {Machine: uint32(elf.EM_386), Order: binary.LittleEndian, HighAddress: 1 << 31}} {
		for _, version := range []int{4, 5} {
			opts := jitobj.Options{DWARF: version, Producer: "test"}
			list := neighbours()
			_, _, region := bundle(t, target, opts, jitobj.Place{}, list, 2)
			var objects []string
			for i, p := range list {
				if len(p.fn.Lines) == 0 && len(p.fn.Inlines) == 0 {
					objects = append(objects, "")
					continue
				}
				name := filepath.Join(dir, fmt.Sprintf("one%d.so", i))
				if err := os.WriteFile(name, build(t, target, opts, p.fn).Bytes, 0o600); err != nil {
					t.Fatal(err)
				}
				objects = append(objects, name)
			}
			data, _, _ := bundleWithoutCode(t, target, opts, jitobj.Place{}, list) // has no code from here on
			all, bare := filepath.Join(dir, "bundle.so"), filepath.Join(dir, "bare.so")
			if err := os.WriteFile(all, data, 0o600); err != nil {
				t.Fatal(err)
			}
			for i, p := range list {
				if objects[i] == "" {
					continue
				}
				if err := os.WriteFile(bare, build(t, target, opts, p.fn).Bytes, 0o600); err != nil {
					t.Fatal(err)
				}
				var there, here []uint64
				for at := uint64(0); at < p.fn.Size; at += 7 {
					there = append(there, region.Offset(p.addr)+at)
					here = append(here, jitobj.TextOffset+at)
				}
				for _, s := range testrec.Symbolizers(t) {
					want := s.Stacks(t, objects[i], here)
					if got := s.Stacks(t, bare, here); !reflect.DeepEqual(got, want) {
						t.Errorf("DWARF %d, %s, %s: %v without code, %v with it", version, s.Name, p.fn.Name, got, want)
					}
					if got := s.Stacks(t, all, there); !reflect.DeepEqual(got, want) {
						t.Errorf("DWARF %d, %s, %s: %v in the bundle, %v with code", version, s.Name, p.fn.Name, got, want)
					}
				}
			}
		}
	}
}

// A function that only a damaged log can tell of takes little of the disk.
func TestNoCode_HugeFunction(t *testing.T) {
	for _, place := range []jitobj.Place{{}, {Away: 0x10000000, Room: 1000}} {
		fn := withoutCode(function())
		fn.Size, fn.Unwind = 200<<20, derived()
		o := buildAt(t, targets()[0], jitobj.Options{}, fn, place)
		f, err := elf.NewFile(bytes.NewReader(o.Bytes))
		if err != nil || len(o.Bytes) > 70<<10 {
			t.Fatalf("got %v, %v; want no error, at most 70<<10 bytes", len(o.Bytes), err)
		}
		text, load := f.Section(".text"), f.Progs[0]
		if text.Size != fn.Size || text.Type != elf.SHT_NOBITS || load.Memsz != jitobj.TextOffset+fn.Size || len(f.Progs) != 2+int(min(place.Away, 1)) {
			t.Errorf(".text is %+v, segments %v", text.SectionHeader, f.Progs)
		}
		if s := f.Section(".eh_frame"); (s == nil) != (place.Away == 0) {
			t.Errorf("with tables at %#x, .eh_frame is %+v", place.Away, s)
		}
	}
}

func TestNoCode_BuildIDs(t *testing.T) {
	x86, opts := targets()[0], jitobj.Options{}
	seen := make(map[[jitobj.BuildIDSize]byte]string)
	add := func(what string, id [jitobj.BuildIDSize]byte) {
		if other, ok := seen[id]; ok {
			t.Errorf("%s and %s have the same build id", what, other)
		}
		seen[id] = what
	}
	bare := func(size uint64) *jitcode.Function {
		fn := withoutCode(function())
		fn.Size, fn.Lines = size, nil
		return fn
	}
	with := function()
	with.Lines = nil
	add("code", build(t, x86, opts, with).BuildID)
	add("no code", build(t, x86, opts, bare(256)).BuildID)
	add("another size", build(t, x86, opts, bare(257)).BuildID)
	list := neighbours()
	_, o, _ := bundle(t, x86, opts, jitobj.Place{}, list, 9)
	add("bundle", o.BuildID)
	_, o, _ = bundleWithoutCode(t, x86, opts, jitobj.Place{}, list)
	add("bundle without code", o.BuildID)
	list[3].fn.Size--
	_, o, _ = bundleWithoutCode(t, x86, opts, jitobj.Place{}, list)
	add("another size in it", o.BuildID)
}

// A bundle with bytes takes no function without: there would be zeros in its place.
func TestBundleObject_FunctionWithoutBytes(t *testing.T) {
	b, err := jitobj.NewBuilder(targets()[0], jitobj.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := b.BeginPart(jitobj.Region{Low: 0x1000, High: 0x2000}, &f); err != nil {
		t.Fatal(err)
	}
	if err := b.AddFunction(function(), 0x1000); err != nil {
		t.Fatal(err)
	}
	if err := b.AddFunction(withoutCode(function()), 0x1200); err == nil || !strings.Contains(err.Error(), "not known") {
		t.Errorf("a function without code: %v", err)
	}
}
