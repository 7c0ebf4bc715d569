package jitelf_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ianlancetaylor/demangle"

	"github.com/jitinject/jitinject/internal/format/jitelf"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
)

// compiled compiles testdata/inlines.cc, and links it without other objects. It returns both paths.
func compiled(t *testing.T, compiler string, flags ...string) (object, linked string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"inlines.cc", "inlines.h", "inlines.inc", "body.inc"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	object, linked = filepath.Join(dir, "inlines.o"), filepath.Join(dir, "inlines")
	args := append([]string{"-O2", "-g", "-c", "-fno-exceptions", "-ffreestanding", "-fPIE", "-o", object, filepath.Join(dir, "inlines.cc")}, flags...)
	testrec.Run(t, dir, compiler, args...)
	testrec.Run(t, dir, testrec.Tool(t, "ld"), "-e", "main", "-Ttext-segment=0x7f1200400000", "-o", linked, object)
	return object, linked
}

// readObject returns the bytes of an object, and their headers.
func readObject(t *testing.T, path string) (image []byte, f *elf.File) {
	t.Helper()
	image, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if f, err = elf.NewFile(bytes.NewReader(image)); err != nil {
		t.Fatal(err)
	}
	return image, f
}

// load sets the load address of a section in the image of f.
func load(image []byte, f *elf.File, section int, addr uint64) {
	if f.Class == elf.ELFCLASS32 {
		shoff := uint64(f.ByteOrder.Uint32(image[32:]))
		f.ByteOrder.PutUint32(image[shoff+uint64(section)*40+12:], uint32(addr))
		return
	}
	shoff := f.ByteOrder.Uint64(image[40:])
	f.ByteOrder.PutUint64(image[shoff+uint64(section)*64+16:], addr)
}

// registered returns an object as a JIT registers it: with the load addresses of sections, which
// are those in the linked file, and without relocation.
func registered(t *testing.T, object, linked string) []byte {
	t.Helper()
	image, f := readObject(t, object)
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	addrs := addresses(t, linked)
	for _, s := range symbols {
		addr, ok := addrs[s.Name]
		if !ok || s.Name == "" || int(s.Section) >= len(f.Sections) || elf.ST_TYPE(s.Info) == elf.STT_SECTION || elf.ST_TYPE(s.Info) == elf.STT_FILE {
			continue
		}
		load(image, f, int(s.Section), addr-s.Value)
	}
	return image
}

// addresses returns the symbols of a linked file with their addresses.
func addresses(t *testing.T, linked string) map[string]uint64 {
	t.Helper()
	f, err := elf.Open(linked)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	addrs := make(map[string]uint64)
	for _, s := range symbols {
		addrs[s.Name] = s.Value
	}
	return addrs
}

// functions opens an object and describes all functions. It fails on any problem.
func functions(t *testing.T, image []byte) []jitcode.Function {
	t.Helper()
	o, err := jitelf.Open(image)
	if err != nil {
		t.Fatal(err)
	}
	if p := o.Problems(); len(p) > 0 {
		t.Errorf("got problems %v; want none", p)
	}
	fns := make([]jitcode.Function, len(o.Functions()))
	for i, s := range o.Functions() {
		fns[i] = jitcode.Function{Name: s.Name, Addr: s.Addr, Size: s.Size, Thumb: s.Thumb}
		if err := o.NewReader().Describe(i, &fns[i]); err != nil {
			t.Errorf("%s: got problem %v; want none", s.Name, err)
		}
		checkRules(t, &fns[i])
	}
	return fns
}

// checkRules checks the rules of jitcode for lines and inlined calls.
func checkRules(t *testing.T, fn *jitcode.Function) {
	t.Helper()
	for i, l := range fn.Lines {
		if l.Offset >= fn.Size || i > 0 && l.Offset <= fn.Lines[i-1].Offset || l.File < 0 || l.File >= len(fn.Files) {
			t.Fatalf("%s: got line %d %+v of %d bytes and %d files", fn.Name, i, l, fn.Size, len(fn.Files))
		}
	}
	for i, o := range fn.Origins {
		if o.File < -1 || o.File >= len(fn.Files) || len(o.Name) == 0 {
			t.Fatalf("%s: got origin %d %+v; there are %d files", fn.Name, i, o, len(fn.Files))
		}
	}
	within := func(r jitcode.Range, ranges []jitcode.Range) bool {
		return slices.ContainsFunc(ranges, func(p jitcode.Range) bool { return r.Offset >= p.Offset && r.Offset+r.Size <= p.Offset+p.Size })
	}
	taken := make(map[int][]jitcode.Range)
	for i, c := range fn.Inlines {
		if c.Parent < -1 || c.Parent >= i || c.Origin <= 0 || c.Origin >= len(fn.Origins) || c.First >= c.Last || c.Last > len(fn.Ranges) || c.Elsewhere && (c.File < 0 || c.File >= len(fn.Files)) {
			t.Fatalf("%s: got inlined call %d %+v", fn.Name, i, c)
		}
		outer := []jitcode.Range{{Offset: 0, Size: fn.Size}}
		if c.Parent >= 0 {
			outer = fn.Ranges[fn.Inlines[c.Parent].First:fn.Inlines[c.Parent].Last]
		}
		for k, r := range fn.Ranges[c.First:c.Last] {
			if r.Size == 0 || !within(r, outer) || k > 0 && r.Offset < fn.Ranges[c.First+k-1].Offset+fn.Ranges[c.First+k-1].Size {
				t.Fatalf("%s: got range %+v of call %d %+v; its caller has %v", fn.Name, r, i, c, outer)
			}
			for _, other := range taken[c.Parent] {
				if r.Offset < other.Offset+other.Size && other.Offset < r.Offset+r.Size {
					t.Fatalf("%s: got range %+v of call %d %+v; another call has %+v", fn.Name, r, i, c, other)
				}
			}
		}
		taken[c.Parent] = append(taken[c.Parent], fn.Ranges[c.First:c.Last]...)
	}
}

// stackAt returns the functions at an offset, the innermost first.
func stackAt(fn *jitcode.Function, off uint64) (stack []testrec.Frame) {
	var at testrec.Frame
	for _, l := range fn.Lines {
		if l.Offset > off {
			break
		}
		if at = (testrec.Frame{Line: l.Line, Column: l.Column}); l.Line > 0 {
			at.File = fn.Files[l.File]
		}
	}
	chain := []int{}
	for i, c := range fn.Inlines {
		for _, r := range fn.Ranges[c.First:c.Last] {
			if off >= r.Offset && off < r.Offset+r.Size {
				chain = append(chain, i)
			}
		}
	}
	for k := len(chain) - 1; k >= 0; k-- {
		c := &fn.Inlines[chain[k]]
		at.Function = string(fn.Origins[c.Origin].Name)
		stack = append(stack, at)
		caller := 0
		if k > 0 {
			caller = fn.Inlines[chain[k-1]].Origin
		}
		file := fn.Origins[caller].File
		if c.Elsewhere {
			file = c.File
		}
		at = testrec.Frame{File: fn.Files[file], Line: c.Line, Column: c.Column}
	}
	at.Function = string(fn.Name)
	return append(stack, at)
}

// Lines and inlined calls of a registered object are those that debuggers find in the linked file,
// at every byte.
func TestDescribe_AgreesWithSymbolizers(t *testing.T) {
	clang, gcc := testrec.Tool(t, "clang-14", "clang"), testrec.Tool(t, "gcc")
	for _, compiler := range []string{clang, gcc} {
		for version := 2; version <= 5; version++ {
			for _, flag := range []string{"-ffunction-sections", "-gz=zlib"} {
				t.Run(fmt.Sprintf("%s-gdwarf-%d%s", filepath.Base(compiler), version, flag), func(t *testing.T) {
					flags := []string{fmt.Sprintf("-gdwarf-%d", version), flag}
					if compiler == clang {
						flags = append(flags, "-gdwarf-aranges") // for elfutils
					}
					object, linked := compiled(t, compiler, flags...)
					fns := functions(t, registered(t, object, linked))
					var addrs []uint64
					var want [][]testrec.Frame
					for i := range fns {
						for off := range fns[i].Size {
							addrs = append(addrs, fns[i].Addr+off)
							want = append(want, stackAt(&fns[i], off))
						}
					}
					if !slices.ContainsFunc(fns, func(f jitcode.Function) bool {
						return slices.ContainsFunc(f.Inlines, func(c jitcode.Inline) bool { return c.Elsewhere })
					}) {
						t.Errorf("got no call outside the file of its caller; want those of body.inc")
					}
					if len(addrs) < 600 {
						t.Fatalf("got %d bytes of code in %d functions; want more", len(addrs), len(fns))
					}
					for _, s := range testrec.Symbolizers(t) {
						switch {
						case compiler == clang && version == 5 && s.Name == "addr2line -i":
							continue // libbfd 2.40 finds no calls with several ranges there
						case compiler == gcc && flag != "-ffunction-sections" && !strings.HasPrefix(s.Name, "llvm"):
							continue // they end a list of ranges at a range without code; see tree.cover
						}
						compare(t, &s, linked, addrs, s.Stacks(t, linked, addrs), want)
					}
				})
			}
		}
	}
}

// compare compares our stacks with those of a tool.
func compare(t *testing.T, s *testrec.Symbolizer, linked string, addrs []uint64, theirs, ours [][]testrec.Frame) {
	t.Helper()
	differ, deep := 0, 0
	statements := statementLines(t, linked)
	for i := range addrs {
		a, b := plain(ours[i], s), plain(theirs[i], s)
		if len(a) > 2 {
			deep++
		}
		if s.Name == "gdb" && len(a) == len(b) && (a[0].Line == 0 || slices.Contains(statements(addrs[i]), b[0].Line)) {
			// Of several rows at an address, gdb takes one that begins a statement. It ignores rows
			// without a line. addr2line and llvm-symbolizer do neither.
			a[0].File, a[0].Line = b[0].File, b[0].Line
		}
		if !slices.Equal(a, b) {
			if differ++; differ <= 5 {
				t.Errorf("%s: %#x has %v; got %v", s.Name, addrs[i], b, a)
			}
		}
	}
	t.Logf("%s: %d of %d addresses differ; %d have two inlined calls or more", s.Name, differ, len(addrs), deep)
	if deep < 50 {
		t.Errorf("got %d addresses with two inlined calls; want 50 or more", deep)
	}
}

// statementLines returns a function that returns the lines of the rows at or before an address that
// share the address of the last one, and begin a statement.
func statementLines(t *testing.T, linked string) func(addr uint64) []uint32 {
	t.Helper()
	f, err := elf.Open(linked)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	d, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[uint64][]uint32)
	all := make(map[uint64]bool)
	for r := d.Reader(); ; r.SkipChildren() {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		} else if e == nil {
			break
		}
		lr, err := d.LineReader(e)
		if err != nil || lr == nil {
			continue
		}
		for {
			var row dwarf.LineEntry
			if lr.Next(&row) != nil {
				break
			}
			if all[row.Address] = true; row.IsStmt && !row.EndSequence {
				at[row.Address] = append(at[row.Address], uint32(row.Line))
			}
		}
	}
	return func(addr uint64) []uint32 {
		for !all[addr] {
			addr--
		}
		return at[addr]
	}
}

// plain returns a stack in the form that all tools print.
func plain(stack []testrec.Frame, s *testrec.Symbolizer) []testrec.Frame {
	stack = slices.Clone(stack)
	for i := range stack {
		f := &stack[i]
		if !s.Columns {
			f.Column = 0
		}
		if f.Line == 0 {
			f.File, f.Column = "", 0
		}
		if s.Name != "eu-addr2line -i" || i == len(stack)-1 { // elfutils prints the names as they are
			f.Function = base(f.Function)
		}
		if s.Name == "addr2line -i" && i < len(stack)-1 {
			f.Function = "" // libbfd prints the symbol's name for functions without a linkage name
		}
	}
	return stack
}

// base returns the last component of a function's name, without parameters.
func base(name string) string {
	name = demangle.Filter(name, demangle.NoParams)
	name, _, _ = strings.Cut(name, "(")
	name, _, _ = strings.Cut(name, "<")
	return name[strings.LastIndexAny(name, ": ")+1:]
}
