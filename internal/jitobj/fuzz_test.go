package jitobj_test

import (
	"bytes"
	"debug/dwarf"
	"debug/elf"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
)

// Whatever a function is called and made of, its object is an ELF file with DWARF
// that the standard library reads, with the same lines.
func FuzzBuild(f *testing.F) {
	f.Add([]byte("_ZN3foo3barEi"), []byte{0x90, 0xc3}, "/src/a.c", []byte{0, 1, 2, 1, 200, 0})
	f.Add([]byte("JS:*add /src/prog.js:2:49"), make([]byte, 300), "node:internal/util", []byte{5, 0, 0, 250, 9, 9})
	f.Add([]byte{}, []byte{}, "", []byte{})
	f.Add([]byte("outer"), make([]byte, 200), "a.toy", []byte{0, 1, 2, 3, 1, 2, 100, 0, 0, 12})
	f.Fuzz(func(t *testing.T, name, code []byte, file string, lines []byte) {
		if n := bytes.IndexByte(name, 0); n >= 0 {
			name = name[:n] // what a record cannot hold
		}
		fn := &jitcode.Function{Name: name, Addr: 0x1000, Size: uint64(len(code)), Code: code, Files: []string{file, "/other/file"}}
		off := uint64(0)
		for ; len(lines) >= 3; lines = lines[3:] {
			if off += uint64(lines[0]); off >= uint64(len(code)) || len(fn.Lines) == 0 && lines[1] == 0 {
				break
			}
			fn.Lines = append(fn.Lines, jitcode.Line{Offset: off, File: int(lines[2] & 1), Line: uint32(lines[1]) << (lines[2] & 15), Column: uint32(lines[2])})
			off++
		}
		if len(lines) > 0 {
			halve(fn, int(lines[0]))
		}
		for _, target := range targets() {
			o := build(t, target, jitobj.Options{DWARF: 4 + len(code)&1}, fn)
			e, err := elf.NewFile(bytes.NewReader(o.Bytes))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := e.Section(".text").Data(); err != nil || !bytes.Equal(got, code) {
				t.Fatalf("code % x, %v", got, err)
			}
			bare := *fn
			bare.Code = nil
			b := build(t, target, jitobj.Options{DWARF: 4 + len(code)&1}, &bare)
			if e, err = elf.NewFile(bytes.NewReader(b.Bytes)); err != nil || e.Section(".text").Size != fn.Size || (e.Section(".text").Type == elf.SHT_NOBITS) != (len(code) > 0) {
				t.Fatalf("without its code, %v", err)
			}
			if len(fn.Lines) == 0 {
				continue
			}
			d, err := e.DWARF()
			if err != nil {
				t.Fatal(err)
			}
			cu, err := d.Reader().Next()
			if err != nil {
				t.Fatal(err)
			}
			readTree(t, d, fn)
			lr, err := d.LineReader(cu)
			if err != nil {
				t.Fatal(err)
			}
			for i := range fn.Lines {
				want := fn.Lines[i]
				entry := lineEntry(t, lr)
				for entry.Address < jitobj.TextOffset+want.Offset && len(fn.Inlines) > 0 {
					entry = lineEntry(t, lr) // it is there because a call begins or ends
				}
				if entry.Address != jitobj.TextOffset+want.Offset || entry.Line != int(want.Line) || entry.Column != int(want.Column) {
					t.Fatalf("row %d is %+v, want %+v", i, entry, want)
				}
			}
			end := lineEntry(t, lr)
			for !end.EndSequence && len(fn.Inlines) > 0 {
				end = lineEntry(t, lr)
			}
			if !end.EndSequence || end.Address != jitobj.TextOffset+uint64(len(code)) {
				t.Fatalf("last row %+v", end)
			}
		}
	})
}

// halve inlines calls into fn, the first at both ends, each inside the one before.
func halve(fn *jitcode.Function, depth int) {
	fn.Origins = []jitcode.Origin{{Name: fn.Name, File: 0, Line: 1, Column: 1}, {Name: []byte("callee"), File: 1, Line: 7}, {Name: []byte("_Z3foov"), File: -1}}
	quarter := uint64(len(fn.Code)) / 4
	for i := 0; i < depth && quarter > 0; i++ {
		first := len(fn.Ranges)
		fn.Ranges = append(fn.Ranges, jitcode.Range{Size: quarter})
		if i == 0 {
			fn.Ranges = append(fn.Ranges, jitcode.Range{Offset: uint64(len(fn.Code)) - quarter, Size: quarter})
		}
		fn.Inlines = append(fn.Inlines, jitcode.Inline{Parent: i - 1, Origin: i % 3, Line: uint32(i), Column: uint32(i / 2), First: first, Last: len(fn.Ranges)})
		if i%2 == 1 {
			quarter /= 2
		}
	}
}

// readTree finds the inlined calls of fn in its DWARF, with their ranges.
func readTree(t *testing.T, d *dwarf.Data, fn *jitcode.Function) {
	r := d.Reader()
	n := 0
	for {
		e, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if e == nil {
			break
		}
		if e.Tag != dwarf.TagInlinedSubroutine {
			continue
		}
		if n == len(fn.Inlines) {
			t.Fatalf("more than %d calls", n)
		}
		var want [][2]uint64
		for _, r := range fn.Ranges[fn.Inlines[n].First:fn.Inlines[n].Last] {
			want = append(want, [2]uint64{jitobj.TextOffset + r.Offset, jitobj.TextOffset + r.Offset + r.Size})
		}
		if got, err := d.Ranges(e); err != nil || !slices.Equal(got, want) {
			t.Fatalf("call %d has ranges %v, want %v: %v", n, got, want, err)
		}
		n++
	}
	if n != len(fn.Inlines) {
		t.Fatalf("%d calls, want %d", n, len(fn.Inlines))
	}
}
