package dwarfgen_test

import (
	"debug/dwarf"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/dwarfgen"
)

// encodings is every way in which this package can write.
func encodings() (es []dwarfgen.Encoding) {
	for _, version := range []int{4, 5} {
		for _, size := range []int{4, 8} {
			for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
				es = append(es, dwarfgen.Encoding{Version: version, AddrSize: size, Order: order})
			}
		}
	}
	return es
}

func forEach(t *testing.T, test func(t *testing.T, enc dwarfgen.Encoding)) {
	for _, enc := range encodings() {
		t.Run(fmt.Sprintf("v%d-%d-%v", enc.Version, 8*enc.AddrSize, enc.Order), func(t *testing.T) { test(t, enc) })
	}
}

// read hands the sections to the standard library.
func read(t testing.TB, b *dwarfgen.Builder) *dwarf.Data {
	t.Helper()
	sections, err := b.Sections()
	if err != nil {
		t.Fatal(err)
	}
	of := make(map[string][]byte)
	for _, s := range sections {
		of[s.Name] = s.Data
	}
	d, err := dwarf.New(of[".debug_abbrev"], nil, nil, of[".debug_info"], of[".debug_line"], nil, of[".debug_ranges"], of[".debug_str"])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".debug_line_str", ".debug_rnglists"} {
		if err := d.AddSection(name, of[name]); err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// Two units with a tree of entries each: attributes of every kind, references,
// shapes that are shared and shapes that are not.
func TestWrite_EntriesOfTwoUnits(t *testing.T) {
	forEach(t, func(t *testing.T, enc dwarfgen.Encoding) {
		var b dwarfgen.Builder
		var u dwarfgen.Unit
		if err := b.Reset(enc); err != nil {
			t.Fatal(err)
		}
		for unit := range uint64(2) {
			name := fmt.Sprintf("/src/%d.c", unit)
			u.Reset(dwarfgen.Shared(dwarf.AttrProducer, "maker"), dwarfgen.Path(dwarf.AttrName, name), dwarfgen.Path(dwarf.AttrCompDir, "/src"))
			u.Low, u.High = 0x1000*unit, 0x1000*unit+0x100
			callee := u.Add(0, dwarf.TagSubprogram, dwarfgen.String(dwarf.AttrName, "callee"), dwarfgen.Number(dwarf.AttrInline, 1))
			caller := u.Add(0, dwarf.TagSubprogram, dwarfgen.String(dwarf.AttrName, strings.Repeat("x", 5000)), dwarfgen.Flag(dwarf.AttrExternal),
				dwarfgen.Addr(dwarf.AttrLowpc, u.Low), dwarfgen.Size(dwarf.AttrHighpc, 0x100))
			inner := u.Add(caller, dwarf.TagInlinedSubroutine, dwarfgen.Ref(dwarf.AttrAbstractOrigin, callee), dwarfgen.Number(dwarf.AttrCallLine, 1<<40))
			u.Add(inner, dwarf.TagInlinedSubroutine, dwarfgen.Ref(dwarf.AttrAbstractOrigin, callee), dwarfgen.Number(dwarf.AttrCallLine, 7))
			u.Add(caller, dwarf.TagLexDwarfBlock)
			b.Add(&u)
		}
		d := read(t, &b)
		r := d.Reader()
		var got []string
		depth := 0
		for {
			e, err := r.Next()
			if err != nil {
				t.Fatal(err)
			}
			if e == nil {
				break
			}
			if e.Tag == 0 {
				depth--
				continue
			}
			s := fmt.Sprint(strings.Repeat(".", depth), e.Tag)
			for _, f := range e.Field {
				v := f.Val
				if off, ok := v.(dwarf.Offset); ok {
					to := d.Reader()
					to.Seek(off)
					origin, err := to.Next()
					if err != nil {
						t.Fatal(err)
					}
					v = origin.Val(dwarf.AttrName)
				}
				if str, ok := v.(string); ok && len(str) == 5000 {
					v = "x5000"
				}
				s += fmt.Sprintf(" %v=%v", f.Attr, v)
			}
			got = append(got, s)
			if e.Children {
				depth++
			}
		}
		var want []string
		for unit := range 2 {
			low := 0x1000 * unit
			want = append(want,
				fmt.Sprintf("CompileUnit Producer=maker Name=/src/%d.c CompDir=/src Lowpc=%d Highpc=256", unit, low),
				".Subprogram Name=callee Inline=1",
				fmt.Sprintf(".Subprogram Name=x5000 External=true Lowpc=%d Highpc=256", low),
				"..InlinedSubroutine AbstractOrigin=callee CallLine=1099511627776",
				"...InlinedSubroutine AbstractOrigin=callee CallLine=7",
				"..LexDwarfBlock")
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}

// More shapes than fit one byte: abbreviation codes are LEB128 numbers.
func TestWrite_ManyAbbreviations(t *testing.T) {
	var b dwarfgen.Builder
	var u dwarfgen.Unit
	if err := b.Reset(encodings()[0]); err != nil {
		t.Fatal(err)
	}
	u.Reset()
	for i := range 300 {
		u.Add(0, dwarf.Tag(0x4080+i), dwarfgen.Number(dwarf.AttrCount, uint64(i)))
	}
	b.Add(&u)
	r := read(t, &b).Reader()
	n := -1
	for e, err := r.Next(); e != nil; e, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		if e.Tag != 0 {
			if n >= 0 && (e.Tag != dwarf.Tag(0x4080+n) || e.Val(dwarf.AttrCount) != int64(n)) {
				t.Fatalf("entry %d is %v", n, e)
			}
			n++
		}
	}
	if n != 300 {
		t.Errorf("%d entries, want 300", n)
	}
}

// A string with a NUL in it cannot be written: it ends there, and what follows
// is not disturbed.
func TestWrite_NULInStrings(t *testing.T) {
	forEach(t, func(t *testing.T, enc dwarfgen.Encoding) {
		var b dwarfgen.Builder
		var u dwarfgen.Unit
		if err := b.Reset(enc); err != nil {
			t.Fatal(err)
		}
		u.Reset(dwarfgen.Path(dwarf.AttrName, "a\x00b"), dwarfgen.String(dwarf.AttrLinkageName, "c\x00d"), dwarfgen.Shared(dwarf.AttrProducer, "e\x00f"))
		b.Add(&u)
		e, err := read(t, &b).Reader().Next()
		if err != nil || e.Val(dwarf.AttrName) != "a" || e.Val(dwarf.AttrLinkageName) != "c" || e.Val(dwarf.AttrProducer) != "e" {
			t.Errorf(`got %v, %v; want no error, Val(dwarf.AttrName) = "a", Val(dwarf.AttrLinkageName) = "c", Val(dwarf.AttrProducer) = "e"`, e, err)
		}
	})
}

func TestWrite_BadEncoding(t *testing.T) {
	var b dwarfgen.Builder
	for _, enc := range []dwarfgen.Encoding{{Version: 3, AddrSize: 8}, {Version: 6, AddrSize: 8}, {Version: 5, AddrSize: 2}} {
		if b.Reset(enc) == nil {
			t.Errorf("got no error for %+v; want one", enc)
		}
	}
}

// Describing and writing in used memory gives what fresh memory gives, without
// allocating.
func TestWrite_IntoUsedMemory(t *testing.T) {
	ranges := []dwarfgen.Range{{Low: 0x82, High: 0x84}, {Low: 0x90, High: 0x91}}
	write := func(b *dwarfgen.Builder, u *dwarfgen.Unit) {
		b.Reset(encodings()[3])
		u.Reset(dwarfgen.Path(dwarf.AttrName, "f"))
		u.Low, u.High = 0x80, 0x100
		u.Lines.AddFile("f")
		u.Lines.AddRow(dwarfgen.Row{Addr: 0x80, Line: 3})
		u.Lines.AddRow(dwarfgen.Row{Addr: 0x100, End: true})
		fn := u.Add(0, dwarf.TagSubprogram, dwarfgen.String(dwarf.AttrName, "fn"))
		call := u.Add(fn, dwarf.TagInlinedSubroutine, dwarfgen.File(dwarf.AttrCallFile, 0))
		u.AddAttrs(call, u.Ranges(dwarf.AttrRanges, ranges), dwarfgen.Ref(dwarf.AttrAbstractOrigin, fn))
		b.Add(u)
		b.Sections()
	}
	var used dwarfgen.Builder
	var unit dwarfgen.Unit
	write(&used, &unit)
	first, _ := used.Sections()
	var copies [][]byte
	for _, s := range first {
		copies = append(copies, append([]byte(nil), s.Data...))
	}
	write(&used, &unit)
	again, _ := used.Sections()
	for i, s := range again {
		if !reflect.DeepEqual(s.Data, copies[i]) {
			t.Errorf("%s differs the second time", s.Name)
		}
	}
	if n := testing.AllocsPerRun(100, func() { write(&used, &unit) }); n > 8 {
		t.Errorf("got %v allocations for a unit; want 8 at most", n)
	}
}
