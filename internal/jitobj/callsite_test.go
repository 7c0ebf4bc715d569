package jitobj_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A call in a function whose file is unknown has no line: it is in none of the other files. A call
// inside it, whose caller's file is known, keeps its own.
func TestBuild_CallInUnknownFile(t *testing.T) {
	fn := function()
	fn.Files = []string{"/src/callee.c", "/src/inner.c"}
	fn.Lines = []jitcode.Line{{Offset: 16, File: 0, Line: 21, Column: 5}, {Offset: 32, File: 1, Line: 31, Column: 7}, {Offset: 48}}
	fn.Origins = []jitcode.Origin{{Name: fn.Name, File: -1}, {Name: []byte("callee"), File: 0, Line: 20}, {Name: []byte("inner"), File: 1, Line: 30}}
	fn.Ranges = []jitcode.Range{{Offset: 16, Size: 32}, {Offset: 32, Size: 16}}
	fn.Inlines = []jitcode.Inline{
		{Parent: -1, Origin: 1, Line: 12, Column: 8, First: 0, Last: 1},
		{Parent: 0, Origin: 2, Line: 22, Column: 9, First: 1, Last: 2},
	}
	path := filepath.Join(t.TempDir(), "call.so")
	for _, version := range []int{4, 5} {
		o := build(t, targets()[0], jitobj.Options{DWARF: version, CompDir: "/"}, fn)
		if err := os.WriteFile(path, o.Bytes, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, s := range testrec.Symbolizers(t) {
			stacks := s.Stacks(t, path, []uint64{jitobj.TextOffset + 16, jitobj.TextOffset + 32})
			outer, inner := stacks[0], stacks[1]
			if len(outer) != 2 || outer[0].Line != 21 || outer[1].Line != 0 || outer[1].Column != 0 {
				t.Errorf("DWARF %d, %s: %+v, want line 21, then none", version, s.Name, outer)
			}
			if len(inner) != 3 || inner[0].Line != 31 || inner[1].Line != 22 || inner[1].File != "/src/callee.c" || inner[2].Line != 0 {
				t.Errorf("DWARF %d, %s: %+v, want lines 31 and 22, then none", version, s.Name, inner)
			}
		}
	}
}
