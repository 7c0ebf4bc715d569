package dwarfgen_test

import (
	"debug/dwarf"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/dwarfgen"
)

// rows reads the line table of the unit that is the n-th.
func rows(t testing.TB, d *dwarf.Data, n int) (got []dwarf.LineEntry) {
	t.Helper()
	r := d.Reader()
	for {
		e, err := r.Next()
		if err != nil || e == nil {
			t.Fatalf("no unit %d: %v", n, err)
		}
		if e.Tag != dwarf.TagCompileUnit {
			continue
		}
		if n--; n >= 0 {
			continue
		}
		lr, err := d.LineReader(e)
		if err != nil || lr == nil {
			t.Fatalf("no line table: %v", err)
		}
		var le dwarf.LineEntry
		for {
			if err := lr.Next(&le); errors.Is(err, io.EOF) {
				return got
			} else if err != nil {
				t.Fatal(err)
			}
			got = append(got, le)
		}
	}
}

func sameRows(t testing.TB, got []dwarf.LineEntry, want []dwarfgen.Row, files []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.EndSequence != w.End || g.Address != w.Addr {
			t.Fatalf("row %d is %+v, want %+v", i, g, w)
		}
		if !w.End && (g.Line != int(w.Line) || g.Column != int(w.Column) || g.File.Name != files[w.File]) {
			t.Fatalf("row %d is %+v of %s, want %+v of %s", i, g, g.File.Name, w, files[w.File])
		}
	}
}

// Rows with all kinds of steps: small ones that fit a special opcode, large ones,
// lines that go back, lines beyond 2^31, several sequences.
func TestLines_EveryKindOfStep(t *testing.T) {
	files := []string{"/abs/a.js", "/abs/b.js", "/other/dir/a.js", "rel/d.js", "node:internal/util"}
	forEach(t, func(t *testing.T, enc dwarfgen.Encoding) {
		rnd := rand.New(rand.NewPCG(1, uint64(enc.Version)))
		var want []dwarfgen.Row
		addr := uint64(0x80)
		for range 20 {
			for range rnd.IntN(50) {
				want = append(want, dwarfgen.Row{
					Addr: addr, File: dwarfgen.FileID(rnd.IntN(len(files))),
					Line: uint32(rnd.Uint64() >> (32 + rnd.IntN(33))), Column: uint32(rnd.IntN(3) * rnd.IntN(300)),
				})
				addr += uint64(rnd.IntN(1 << rnd.IntN(14)))
			}
			addr++
			if len(want) > 0 && !want[len(want)-1].End {
				want = append(want, dwarfgen.Row{Addr: addr, End: true})
			}
		}
		var b dwarfgen.Builder
		var u dwarfgen.Unit
		if err := b.Reset(enc); err != nil {
			t.Fatal(err)
		}
		u.Reset(dwarfgen.Path(dwarf.AttrName, files[0]))
		u.Low, u.High = 0x80, addr
		for i, f := range files {
			id := u.Lines.AddFile(f)
			u.Lines.SetMD5(id, [16]byte{byte(i)})
			u.Lines.SetSource(id, strings.Repeat("line\n", i))
		}
		for _, r := range want {
			u.Lines.AddRow(r)
		}
		b.Add(&u)
		sameRows(t, rows(t, read(t, &b), 0), want, files)
	})
}

// A digest stands in the table if every file has one, a text if one file has it
// and nothing in it is a NUL.
func TestLines_ContentsIncomplete(t *testing.T) {
	enc := dwarfgen.Encoding{Version: 5, AddrSize: 8, Order: binary.LittleEndian}
	table := func(describe func(*dwarfgen.LineTable)) (line, str string) {
		var b dwarfgen.Builder
		var u dwarfgen.Unit
		if err := b.Reset(enc); err != nil {
			t.Fatal(err)
		}
		u.Reset()
		u.Lines.AddFile("a")
		u.Lines.AddFile("b")
		describe(&u.Lines)
		u.Lines.AddRow(dwarfgen.Row{Addr: 1, End: true})
		b.Add(&u)
		sections, err := b.Sections()
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range sections {
			switch s.Name {
			case ".debug_line":
				line = string(s.Data)
			case ".debug_line_str":
				str = string(s.Data)
			}
		}
		return line, str
	}
	none, names := table(func(*dwarfgen.LineTable) {})
	for what, describe := range map[string]func(*dwarfgen.LineTable){
		"a digest of one file": func(l *dwarfgen.LineTable) { l.SetMD5(1, [16]byte{1}) },
		"a text with a NUL":    func(l *dwarfgen.LineTable) { l.SetSource(0, "text\x00") },
		"a text that was replaced": func(l *dwarfgen.LineTable) {
			l.SetSource(0, "text")
			l.SetSource(0, "\x00")
		},
	} {
		if line, str := table(describe); line != none || str != names {
			t.Errorf("with %s, the table is % x with %q, want % x with %q", what, line, str, none, names)
		}
	}
	if line, str := table(func(l *dwarfgen.LineTable) { l.SetSource(0, "text") }); len(line) != len(none)+3+3*4 || str != "\x00a\x00text\x00b\x00" {
		t.Errorf("with a text, the table is % x with %q", line, str)
	}
}

// Every special opcode, and the steps just outside of what they can say.
func TestLines_SpecialOpcodes(t *testing.T) {
	forEach(t, func(t *testing.T, enc dwarfgen.Encoding) {
		var want []dwarfgen.Row
		addr, line := uint64(0x1000), uint32(1000)
		for da := range uint64(40) {
			for dl := -20; dl <= 20; dl++ {
				addr += da
				line = uint32(int(line) + dl)
				want = append(want, dwarfgen.Row{Addr: addr, Line: line})
			}
		}
		want = append(want, dwarfgen.Row{Addr: addr, End: true})
		var b dwarfgen.Builder
		var u dwarfgen.Unit
		if err := b.Reset(enc); err != nil {
			t.Fatal(err)
		}
		u.Reset()
		u.Lines.AddFile("/f")
		for _, r := range want {
			u.Lines.AddRow(r)
		}
		b.Add(&u)
		sameRows(t, rows(t, read(t, &b), 0), want, []string{"/f"})
	})
}
