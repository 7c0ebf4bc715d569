package jitobj_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A file is memory to write to.
type file struct{ data []byte }

func (f *file) WriteAt(p []byte, off int64) (int, error) {
	if need := int(off) + len(p); need > len(f.data) {
		f.data = append(f.data, make([]byte, need-len(f.data))...)
	}
	return copy(f.data[off:], p), nil
}

// A placed function is one with the address that it has in the bundle.
type placed struct {
	fn   *jitcode.Function
	addr uint64
}

// neighbours are functions of all kinds, side by side and with holes between them.
func neighbours() (list []placed) {
	addr := uint64(0x7f0000001010)
	for i := range 9 {
		fn := function()
		fn.Name = fmt.Appendf(nil, "JS:*fn%d", i)
		fn.Code[0] = byte(i)
		switch i % 4 {
		case 1:
			fn.Unwind = derived()
		case 2:
			fn.Unwind = sent()
		case 3:
			fn.Lines = nil
		}
		if i%3 == 0 {
			fn.Origins = []jitcode.Origin{{Name: fn.Name, File: 0, Line: 2}, {Name: []byte("inner"), File: 0, Line: 40}, {Name: []byte("innermost"), File: 1, Line: 50}}
			fn.Ranges = []jitcode.Range{{Offset: 8, Size: 40}, {Offset: 16, Size: 8}, {Offset: 32, Size: 4}}
			fn.Inlines = []jitcode.Inline{{Parent: -1, Origin: 1, Line: 3, First: 0, Last: 1}, {Parent: 0, Origin: 2, Line: 41, Column: 7, First: 1, Last: 3}}
		}
		list = append(list, placed{fn, addr})
		addr += uint64(len(fn.Code))
		switch i {
		case 2:
			addr += 7
		case 5:
			addr += 50000
		}
	}
	return list
}

// bundle makes a bundle in parts of the given size.
func bundle(t testing.TB, target jitcode.Target, opts jitobj.Options, place jitobj.Place, list []placed, size int) ([]byte, jitobj.Object, jitobj.Region) {
	t.Helper()
	last := list[len(list)-1]
	region := jitobj.Region{Low: list[0].addr, High: last.addr + uint64(len(last.fn.Code))}
	var f file
	var parts []*jitobj.Part
	for first := 0; first < len(list); first += size {
		b, err := jitobj.NewBuilder(target, opts) // whoever makes it
		if err != nil {
			t.Fatal(err)
		}
		if err := b.BeginPart(region, &f); err != nil {
			t.Fatal(err)
		}
		for _, p := range list[first:min(first+size, len(list))] {
			if err := b.AddFunction(p.fn, p.addr); err != nil {
				t.Fatal(err)
			}
		}
		part, err := b.EndPart()
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	b, err := jitobj.NewBuilder(target, opts)
	if err != nil {
		t.Fatal(err)
	}
	o, err := b.Join(&f, region, place, parts)
	if err != nil {
		t.Fatal(err)
	}
	return f.data, o, region
}

// What readelf, eu-elflint and llvm-dwarfdump say of bundles for every target.
func TestBundleObject_ToolsOfEveryTarget(t *testing.T) {
	readelf, lint, verify := testrec.Tool(t, "readelf"), testrec.Tool(t, "eu-elflint"), testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	dir := t.TempDir()
	var names []string
	for _, target := range targets() {
		for variant := range 8 {
			opts := jitobj.Options{DWARF: 4 + variant&1, Producer: "test", Tight: variant&2 != 0}
			var place jitobj.Place
			if variant&4 != 0 {
				place = jitobj.Place{Away: 0x10000000, Room: 10000}
			}
			list := neighbours()
			if elf.Machine(target.Machine) == elf.EM_ARM {
				list[1].fn.Thumb, list[4].fn.Thumb = true, true
			}
			data, o, _ := bundle(t, target, opts, place, list, 4)
			if o.Tables.Size == 0 {
				t.Fatal("no unwind tables")
			}
			name := fmt.Sprintf("%v-%v-%d.so", elf.Machine(target.Machine), target.Order, variant)
			if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
			if m := elf.Machine(target.Machine); m != elf.EM_MIPS && m != elf.EM_LOONGARCH {
				b, _ := testrec.Command(t, dir, lint, "--gnu-ld", name).CombinedOutput()
				out := string(b)
				if apart := place.Away != 0; !apart && out != "No errors\n" || apart && out != tablesApart {
					t.Errorf("%s: eu-elflint complains: %q", name, out)
				}
			}
		}
	}
	if _, errs := testrec.RunBoth(t, dir, readelf, append([]string{"-aW", "--debug-dump=info,decodedline,aranges,frames"}, names...)...); errs != "" {
		t.Errorf("readelf complains:\n%s", errs)
	}
	out := testrec.Run(t, dir, verify, append([]string{"--verify"}, names...)...)
	if n := strings.Count(out, "No errors."); n != len(names) || strings.Contains(out, "error:") || strings.Contains(out, "warning:") {
		t.Errorf("llvm-dwarfdump verifies %d of %d bundles:\n%s", n, len(names), out)
	}
}

// At every byte of every function, debuggers say the same of a bundle as of the object
// that the function has by itself.
func TestBundleObject_StacksAtEveryByte(t *testing.T) {
	dir := t.TempDir()
	for _, version := range []int{4, 5} {
		opts := jitobj.Options{DWARF: version, Producer: "test"}
		list := neighbours()
		target := targets()[0]
		data, _, region := bundle(t, target, opts, jitobj.Place{}, list, 2)
		all := filepath.Join(dir, "bundle.so")
		if err := os.WriteFile(all, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			if len(p.fn.Lines) == 0 && len(p.fn.Inlines) == 0 {
				continue
			}
			o := build(t, target, opts, p.fn)
			one := filepath.Join(dir, "one.so")
			if err := os.WriteFile(one, o.Bytes, 0o600); err != nil {
				t.Fatal(err)
			}
			var there, here []uint64
			for i := 0; i < len(p.fn.Code); i += 3 {
				there = append(there, region.Offset(p.addr)+uint64(i))
				here = append(here, jitobj.TextOffset+uint64(i))
			}
			for _, s := range testrec.Symbolizers(t) {
				if got, want := s.Stacks(t, all, there), s.Stacks(t, one, here); !reflect.DeepEqual(got, want) {
					t.Errorf("DWARF %d, %s, %s: %v in the bundle, %v by itself", version, s.Name, p.fn.Name, got, want)
				}
			}
		}
	}
}

// The code lies as it lay in memory, symbols say where, and each string is there once.
func TestBundleObject_CodeSymbolsStrings(t *testing.T) {
	list := neighbours()
	data, o, region := bundle(t, targets()[0], jitobj.Options{Producer: "test"}, jitobj.Place{}, list, 3)
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	note, _ := f.Section(".note.gnu.build-id").Data()
	if !bytes.HasSuffix(note, o.BuildID[:]) {
		t.Errorf("note % x does not end in % x", note, o.BuildID)
	}
	syms, err := f.Symbols()
	if err != nil || len(syms) != len(list) {
		t.Fatalf("%d symbols, %v", len(syms), err)
	}
	for i, p := range list {
		at := region.Offset(p.addr)
		if s := syms[i]; s.Name != string(p.fn.Name) || s.Value != at || s.Size != uint64(len(p.fn.Code)) {
			t.Errorf("symbol %+v of %s at %#x", s, p.fn.Name, at)
		}
		if at%64 != p.addr%64 || !bytes.Equal(data[at:at+uint64(len(p.fn.Code))], p.fn.Code) {
			t.Errorf("%s is not at %#x", p.fn.Name, at)
		}
	}
	for _, name := range []string{".debug_str", ".debug_line_str"} {
		b, err := f.Section(name).Data()
		if err != nil {
			t.Fatal(err)
		}
		seen := make(map[string]bool)
		for s := range strings.SplitSeq(strings.TrimSuffix(string(b), "\x00"), "\x00") {
			if seen[s] {
				t.Errorf("%q is in %s twice", s, name)
			}
			seen[s] = true
		}
	}
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	units := 0
	for r := d.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		units++
		lr, err := d.LineReader(e)
		if err != nil {
			t.Fatal(err)
		}
		for {
			var row dwarf.LineEntry
			if err := lr.Next(&row); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
	}
	if units != 8 { // one function has neither lines nor calls
		t.Errorf("%d units", units)
	}
}

// The smallest bundle has its code, too: headers go around it.
func TestBundleObject_Smallest(t *testing.T) {
	list := neighbours()[:2]
	data, _, region := bundle(t, targets()[0], jitobj.Options{}, jitobj.Place{}, list, 1)
	for _, p := range list {
		at := region.Offset(p.addr)
		if !bytes.Equal(data[at:at+uint64(len(p.fn.Code))], p.fn.Code) {
			t.Errorf("%s is not at %#x", p.fn.Name, at)
		}
	}
}

// However a bundle is divided among parts, it has the same code and symbols; and its id
// says when it is another.
func TestBundleObject_BuildIDs(t *testing.T) {
	x86, opts := targets()[0], jitobj.Options{Producer: "test"}
	_, base, _ := bundle(t, x86, opts, jitobj.Place{}, neighbours(), 3)
	seen := map[[jitobj.BuildIDSize]byte]string{base.BuildID: "the bundle itself"}
	for what, change := range map[string]func(list []placed) []placed{
		"name":        func(l []placed) []placed { l[4].fn.Name = []byte("other"); return l },
		"code":        func(l []placed) []placed { l[4].fn.Code[9]++; return l },
		"line":        func(l []placed) []placed { l[4].fn.Lines[0].Line++; return l },
		"frames":      func(l []placed) []placed { l[4].fn.Unwind = derived(); return l },
		"inner place": func(l []placed) []placed { l[8].addr += 8; return l },
		"place": func(l []placed) []placed {
			for i := range l {
				l[i].addr += 0x1000
			}
			return l
		},
		"one less": func(l []placed) []placed { return append(l[:3:3], l[4:]...) },
	} {
		_, o, _ := bundle(t, x86, opts, jitobj.Place{}, change(neighbours()), 3)
		if other, ok := seen[o.BuildID]; ok {
			t.Errorf("%s and %s have the same build id", what, other)
		}
		seen[o.BuildID] = what
	}
}

// A function outside of the stretch is refused.
func TestBundleObject_FunctionOutside(t *testing.T) {
	b, err := jitobj.NewBuilder(targets()[0], jitobj.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var f file
	if err := b.BeginPart(jitobj.Region{Low: 0x1000, High: 0x1100}, &f); err != nil {
		t.Fatal(err)
	}
	if err := b.AddFunction(function(), 0x1010); err == nil {
		t.Error("code that reaches beyond the stretch is taken")
	}
}
