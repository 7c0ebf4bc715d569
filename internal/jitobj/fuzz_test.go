package jitobj_test

import (
	"bytes"
	"debug/elf"
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
	f.Fuzz(func(t *testing.T, name, code []byte, file string, lines []byte) {
		if n := bytes.IndexByte(name, 0); n >= 0 {
			name = name[:n] // what a record cannot hold
		}
		fn := &jitcode.Function{Name: name, Addr: 0x1000, Code: code, Files: []string{file, "/other/file"}}
		off := uint64(0)
		for ; len(lines) >= 3; lines = lines[3:] {
			if off += uint64(lines[0]); off >= uint64(len(code)) || len(fn.Lines) == 0 && lines[1] == 0 {
				break
			}
			fn.Lines = append(fn.Lines, jitcode.Line{Offset: off, File: int(lines[2] & 1), Line: uint32(lines[1]) << (lines[2] & 15), Column: uint32(lines[2])})
			off++
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
			lr, err := d.LineReader(cu)
			if err != nil {
				t.Fatal(err)
			}
			for i := range fn.Lines {
				want := fn.Lines[i]
				entry := lineEntry(t, lr)
				if entry.Address != jitobj.TextOffset+want.Offset || entry.Line != int(want.Line) || entry.Column != int(want.Column) {
					t.Fatalf("row %d is %+v, want %+v", i, entry, want)
				}
			}
			if end := lineEntry(t, lr); !end.EndSequence || end.Address != jitobj.TextOffset+uint64(len(code)) {
				t.Fatalf("last row %+v", end)
			}
		}
	})
}
