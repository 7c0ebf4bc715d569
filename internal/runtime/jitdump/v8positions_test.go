package jitdump_test

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// lineAt returns the line in force at an offset.
func lineAt(fn *jitcode.Function, offset uint64) (l jitcode.Line) {
	for _, next := range fn.Lines {
		if next.Offset > offset {
			break
		}
		l = next
	}
	return l
}

// Compared with V8's own log of each entry of its tables: no line of a function's own file
// is lost or wrong, and few of other files are wrong. The functions of this program are
// alike, so more positions match by chance than elsewhere.
func TestV8Files_AsV8LogsThem(t *testing.T) {
	for _, c := range []struct {
		version      string
		own, other   int // entries, as counted in the file
		wrong, right int // of other files: those that remain under a wrong name, and those that are right
		fixes        []string
	}{
		{"node16", 3265, 1915, 0, 1915, nil},
		{"node18", 3289, 1975, 291, 0, []string{"foreign-lines"}},
		{"node20", 1699, 736, 43, 0, []string{"foreign-lines"}},
		{"node25", 3460, 2064, 189, 0, []string{"foreign-lines"}},
		{"deno", 3315, 2107, 145, 802, []string{"foreign-lines", "late-file-names", "missized-records"}},
	} {
		t.Run(c.version, func(t *testing.T) {
			dir := testrec.Unpack(t, "v8-lines")
			d := scanReal(t, "v8-lines", c.version+".dump")
			truth, err := os.Open(filepath.Join(dir, c.version+".truth"))
			if err != nil {
				t.Fatal(err)
			}
			defer truth.Close()
			r := d.Reader()
			var fn *jitcode.Function
			at, got := -1, make(map[string]int)
			for s := bufio.NewScanner(truth); s.Scan(); {
				var i int
				var offset uint64
				var file, whose string
				var line, column uint32
				if _, err := fmt.Sscan(s.Text(), &i, &offset, &file, &line, &column, &whose); err != nil {
					t.Fatalf("%q: %v", s.Text(), err)
				}
				if i != at {
					if fn, err = r.Function(i); err != nil {
						t.Fatal(err)
					}
					at = i
				}
				l := lineAt(fn, offset)
				switch {
				case l.Line == 0:
					got[whose+" none"]++
				case l.Line == line && l.Column == column && fn.Files[l.File] == strings.TrimPrefix(file, "file://"):
					got[whose+" right"]++
				default:
					got[whose+" wrong"]++
					if whose == "own" && got["own wrong"] < 4 {
						t.Errorf("%s+%#x: %s:%d:%d, want %s:%d:%d", fn.Name, offset, fn.Files[l.File], l.Line, l.Column, file, line, column)
					}
				}
			}
			want := map[string]int{"own right": c.own, "other none": c.other - c.wrong - c.right, "other wrong": c.wrong, "other right": c.right}
			maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
			maps.DeleteFunc(got, func(what string, _ int) bool { return what == "none none" })
			if !maps.Equal(got, want) {
				t.Errorf("entries %v, want %v", got, want)
			}
			if len(r.Problems)+len(d.Problems) > 0 {
				t.Errorf("problems %v %v", d.Problems, r.Problems)
			}
			for _, name := range []string{"foreign-lines", "late-file-names", "missized-records", "unchecked-lines", "garbled-file-names"} {
				if n := fixes(d)[name]; n > 0 != slices.Contains(c.fixes, name) {
					t.Errorf("got %d %s; want (n > 0) = slices.Contains(c.fixes, name)", n, name)
				}
			}
		})
	}
}

// v8Dump builds a dump as V8 does, without anything added to addresses.
func v8Dump(t *testing.T) *dumpBuilder {
	h := x86
	h.Pad = 0xdeadbeef
	return newDump(t, h)
}

// A v8Row is an entry at the offset of its index.
type v8Row struct {
	file         string
	line, column uint32
}

// v8Table adds a function with a table.
func v8Table(b *dumpBuilder, n int, name string, rows ...v8Row) {
	addr := uint64(0x10000 * (n + 1))
	var entries []jitdump.DebugEntry
	for i, w := range rows {
		entries = append(entries, jitdump.DebugEntry{Addr: addr + uint64(i), Line: w.line, Discrim: w.column, Name: []byte(w.file)})
	}
	b.entries(addr, entries...)
	b.load(name, addr, 64)
}

// Lines at positions of no function of the file are removed, and leave code without a line.
func TestV8Files_ForeignLines(t *testing.T) {
	const a, bb = "/a.js", "/b.js"
	for _, c := range []struct {
		name   string
		tables func(b *dumpBuilder)
		want   string // of the last function
		repair string
	}{
		{"a position of no function", func(b *dumpBuilder) {
			v8Table(b, 0, "JS:^f /a.js:1:2", v8Row{a, 2, 3}, v8Row{a, 3, 5})
			v8Table(b, 1, "JS:*f /a.js:1:2", v8Row{a, 1, 2}, v8Row{a, 2, 3}, v8Row{a, 9, 9}, v8Row{a, 3, 5})
		}, "0 /a.js:1:2 1 /a.js:2:3 2 - 3 /a.js:3:5", "foreign-lines"},
		{"of another function of the file", func(b *dumpBuilder) {
			v8Table(b, 0, "JS:^f /a.js:1:2", v8Row{a, 2, 3})
			v8Table(b, 1, "JS:^g /a.js:8:2", v8Row{a, 9, 9})
			v8Table(b, 2, "JS:+'f /a.js:1:2", v8Row{a, 2, 3}, v8Row{a, 9, 9}, v8Row{a, 8, 2})
		}, "0 /a.js:2:3 1 /a.js:9:9 2 /a.js:8:2", ""},
		{"which comes later", func(b *dumpBuilder) {
			v8Table(b, 0, "JS:^f /a.js:1:2", v8Row{a, 2, 3})
			v8Table(b, 2, "JS:^g /a.js:8:2", v8Row{a, 9, 9})
			v8Table(b, 1, "JS:*f /a.js:1:2", v8Row{a, 2, 3}, v8Row{a, 9, 9})
		}, "0 /a.js:2:3 1 /a.js:9:9", ""},
		{"of a function of another file", func(b *dumpBuilder) {
			v8Table(b, 0, "JS:^f /a.js:1:2", v8Row{a, 2, 3})
			v8Table(b, 1, "JS:^g /b.js:8:2", v8Row{bb, 9, 9})
			v8Table(b, 2, "JS:o*f /a.js:1:2", v8Row{a, 2, 3}, v8Row{a, 9, 9})
		}, "0 /a.js:2:3 1 -", "foreign-lines"},
		{"of one that was not compiled by Sparkplug", func(b *dumpBuilder) {
			v8Table(b, 0, "JS:^f /a.js:1:2", v8Row{a, 2, 3})
			v8Table(b, 1, "JS:*g /a.js:8:2", v8Row{a, 9, 9})
			v8Table(b, 2, "JS:*f /a.js:1:2", v8Row{a, 2, 3}, v8Row{a, 9, 9})
		}, "0 /a.js:2:3 1 /a.js:9:9", ""},
		{"itself not compiled by Sparkplug", func(b *dumpBuilder) {
			v8Table(b, 0, "JS:^g /a.js:8:2", v8Row{a, 9, 9})
			v8Table(b, 2, "JS:*f /a.js:1:2", v8Row{a, 2, 3}, v8Row{a, 7, 7})
		}, "0 /a.js:2:3 1 /a.js:7:7", "unchecked-lines"},
		{"V8 10 does not say the column of a beginning", func(b *dumpBuilder) {
			v8Table(b, 0, "Function:^f /a.js:1", v8Row{a, 2, 3})
			v8Table(b, 1, "Function:^g /a.js:8", v8Row{a, 9, 9})
			v8Table(b, 2, "LazyCompile:*f /a.js:1", v8Row{a, 1, 20}, v8Row{a, 2, 3}, v8Row{a, 8, 4}, v8Row{a, 7, 7})
		}, "0 /a.js:1:20 1 /a.js:2:3 2 /a.js:8:4 3 -", "foreign-lines"},
		{"no position", func(b *dumpBuilder) {
			v8Table(b, 0, "JS:^ /a.js:1:1", v8Row{a, 1, 1})
			v8Table(b, 1, "JS:^f /a.js:1:20", v8Row{a, 2, 3})
			v8Table(b, 2, "JS:+f /a.js:1:20", v8Row{a, 1, 1}, v8Row{a, 2, 3}, v8Row{a, 1, 1})
		}, "1 /a.js:2:3 2 -", "unplaced-lines"},
		{"the beginning of the script", func(b *dumpBuilder) {
			v8Table(b, 0, "JS:^ /a.js:1:1", v8Row{a, 2, 3})
			v8Table(b, 2, "JS:+ /a.js:1:1", v8Row{a, 1, 1}, v8Row{a, 2, 3})
		}, "0 /a.js:1:1 1 /a.js:2:3", ""},
		{"far to the right", func(b *dumpBuilder) { // columns that DWARF readers cannot tell
			v8Table(b, 0, "JS:^f /a.js:1:70000", v8Row{a, 1, 70010}, v8Row{a, 1, 70020})
			v8Table(b, 2, "JS:*f /a.js:1:70000", v8Row{a, 1, 70010}, v8Row{a, 1, 70011}, v8Row{a, 1, 70020})
		}, "0 /a.js:1:0 1 - 2 /a.js:1:0", "foreign-lines"},
		{"another producer", func(b *dumpBuilder) {
			b.out.Bytes()[16] ^= 0xff // of pad1
			v8Table(b, 0, "JS:^f /a.js:1:2", v8Row{a, 2, 3})
			v8Table(b, 2, "JS:*f /a.js:1:2", v8Row{a, 2, 3}, v8Row{a, 9, 9})
		}, "0 /a.js:2:3 1 /a.js:9:9", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := v8Dump(t)
			c.tables(b)
			// The addresses are right: a row before 0x40 proves it.
			d := b.scan()
			all := tables(t, d)
			_, got, _ := strings.Cut(all[len(all)-1], ": ")
			if got != c.want {
				t.Errorf("lines %s, want %s", got, c.want)
			}
			for _, name := range []string{"foreign-lines", "unplaced-lines", "unchecked-lines", "late-file-names"} {
				if n := fixes(d)[name]; n > 0 != (name == c.repair) && !(name == "unchecked-lines" && n == 1 && strings.Contains(c.name, "Sparkplug")) {
					t.Errorf("%s: got %d tables with quirk %s; want some only for %q", c.name, n, name, c.repair)
				}
			}
		})
	}
}

// Until V8 9, rows have the names of their own files; since V8 15, those of the rows
// before, and Maglev's of the function's file.
func TestV8Files_SeveralNames(t *testing.T) {
	const a, bb, cc = "/a.js", "/b.js", "/c.js"
	base := func(b *dumpBuilder) {
		v8Table(b, 0, "JS:^f /a.js:1:2", v8Row{a, 2, 3}, v8Row{a, 3, 5})
		v8Table(b, 1, "JS:^g /b.js:8:2", v8Row{bb, 9, 9}, v8Row{bb, 9, 10})
		v8Table(b, 2, "JS:^h /c.js:8:2", v8Row{cc, 7, 7})
	}
	for _, c := range []struct {
		name string
		rows []v8Row
		want string
		late int64
	}{
		{"their own", []v8Row{{a, 2, 3}, {bb, 9, 9}, {bb, 9, 10}, {cc, 7, 7}, {a, 3, 5}}, "0 /a.js:2:3 1 /b.js:9:9 2 /b.js:9:10 3 /c.js:7:7 4 /a.js:3:5", 0},
		{"those before", []v8Row{{a, 2, 3}, {a, 9, 9}, {bb, 9, 10}, {bb, 7, 7}, {cc, 3, 5}}, "0 /a.js:2:3 1 /b.js:9:9 2 /b.js:9:10 3 /c.js:7:7 4 /a.js:3:5", 1},
		{"the last name is in no row", []v8Row{{a, 2, 3}, {a, 9, 9}, {bb, 3, 5}, {a, 7, 7}}, "0 /a.js:2:3 1 /b.js:9:9 2 /a.js:3:5 3 -", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := v8Dump(t)
			base(b)
			v8Table(b, 3, "JS:*f /a.js:1:2", c.rows...)
			v8Table(b, 4, "JS:*other /a.js:10:2", v8Row{a, 60, 1}) // of one file: it is named
			v8Table(b, 5, "JS:+f /a.js:1:2", v8Row{a, 2, 3}, v8Row{a, 9, 9})
			d := b.scan()
			all := tables(t, d)
			for i, want := range []string{c.want, "0 /a.js:60:1", "0 /a.js:2:3 1 -"} {
				if _, got, _ := strings.Cut(all[len(all)-3+i], ": "); got != want {
					t.Errorf("lines %s, want %s", got, want)
				}
			}
			if r := fixes(d); r["late-file-names"] != c.late || r["foreign-lines"] != 1 || r["unchecked-lines"] != 0 {
				t.Errorf("repairs %v", r)
			}
		})
	}
}

// V8 10 repeats names, and frees names before writing them.
func TestFreedNames_Repeated(t *testing.T) {
	const name = "/directory/of/the/program.js"
	freed := append([]byte("\x38\xc6\x02\x00\x00\x00\x00\x00\x11\x22\x33\x44\x55\x66\x77\x88"), name[16:]...)
	var area []byte
	for i := range 5 {
		e := jitdump.DebugEntry{Addr: 0x1000 + uint64(i), Line: uint32(3 + i), Discrim: 1}
		area = append(area, jitdump.NewDebugInfo(x86.Order, 0, []jitdump.DebugEntry{e}).Area[:16]...)
		if i%3 == 0 {
			area = append(append(area, freed...), 0)
		} else {
			area = append(area, jitdump.RepeatName...)
			area = append(area, 0)
		}
	}
	info := jitdump.NewDebugInfo(x86.Order, 0x1000, nil)
	info.Count, info.Area = 5, append(area, make([]byte, -len(area)&7)...)
	b := v8Dump(t)
	b.add(info)
	b.load("LazyCompile:*f "+name+":3", 0x1000, 64)
	d := b.scan()
	want := ""
	for i := range 5 {
		want += fmt.Sprintf(" %d %s:%d:1", i, name, 3+i)
	}
	wantTables(t, d, "LazyCompile:*f "+name+":3:"+want)
	if n := fixes(d)["freed-file-names"]; n != 1 {
		t.Errorf("%d names repaired, want 1", n)
	}
}

// Line tables are read once to decide: positions and changes between files are kept from that.
func TestV8Positions_OneReading(t *testing.T) {
	dir := testrec.Unpack(t, "v8-lines")
	for _, version := range []string{"node16", "node18", "node20", "node25", "deno"} {
		data, err := os.ReadFile(filepath.Join(dir, version+".dump"))
		if err != nil {
			t.Fatal(err)
		}
		src := &countingReader{ReaderAt: bytes.NewReader(data)}
		scan(t, src)
		if limit := len(data)*5/2 + 64<<10; src.bytes > limit { // the scan reads all, too
			t.Errorf("%s: %d bytes were read of a dump of %d; want at most %d", version, src.bytes, len(data), limit)
		}
	}
}
