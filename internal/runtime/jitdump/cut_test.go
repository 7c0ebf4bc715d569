package jitdump_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// A dump that ends inside a record has what it has without that. Nothing inside is taken for a record.
func TestScan_CutAnywhere(t *testing.T) {
	const before = 20 // records before each cut
	cuts := testrec.Rounds(1000, 200)
	for _, name := range []string{"node-hot/jit-538", "node25-dwarf/jit-16508", "lli-many/O2", "llvm-orc/jit-22347", "php/jit-10085", "java27/jit-11273",
		"erlang/jit-10050", "jsc/jit-18541-18516", "toyjit/jit-23056", "moarvm-dump/jit-27662", "v8log-chromium/jit-11964"} {
		t.Run(filepath.Dir(name), func(t *testing.T) {
			file, err := os.ReadFile(filepath.Join(testrec.Unpack(t, filepath.Dir(name)), filepath.Base(name)+".dump"))
			if err != nil {
				t.Fatal(err)
			}
			r, err := jitdump.NewReader(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			header, starts := file[:r.Offset()], []int64{r.Offset()}
			for _, err := range r.Records() {
				if err != nil {
					break // this dump is cut, too
				}
				starts = append(starts, r.Offset())
			}
			for i := range cuts {
				k := i * (len(starts) - 1) / cuts
				size := starts[k+1] - starts[k]
				at := 16 + int64(i)*7919%(size-15) // fewer bytes may be padding
				from := starts[max(0, k-before)]
				part := append(bytes.Clone(header), file[from:starts[k]]...)
				want := scan(t, bytes.NewReader(part))
				got := scan(t, bytes.NewReader(append(part, file[starts[k]:starts[k]+min(at, size-1)]...)))
				if size > 16 && (got.Cut != int64(len(part)) || !reflect.DeepEqual(got.Events, want.Events) || !reflect.DeepEqual(got.Problems, want.Problems)) {
					t.Fatalf("record at %#x, after %d of %d bytes: got %d events, problems %v, cut at %#x; want %d, %v, %#x",
						starts[k], at, size, len(got.Events), got.Problems, got.Cut, len(want.Events), want.Problems, len(part))
				}
			}
		})
	}
}

// Line 3, column 16 has the bytes of a JIT_CODE_CLOSE. A table that is whole, but for its size, is damage, and
// records follow.
func TestScan_CutLineTable(t *testing.T) {
	b := newDump(t, x86)
	b.load("first", 0x1000, 64)
	start := b.out.Len()
	b.entries(0x2000, jitdump.DebugEntry{Addr: 0x2000, Line: 3, Discrim: 16, Name: []byte("a.js")}, jitdump.DebugEntry{Addr: 0x2010, Line: 3, Discrim: 16, Name: []byte("a.js")})
	for size := b.out.Len() - 1; size >= start+16; size-- {
		if d := scan(t, bytes.NewReader(b.out.Bytes()[:size])); len(d.Problems) > 0 || d.Cut != int64(start) {
			t.Errorf("%d bytes of the table: got problems %v, cut at %#x; want none, %#x", size-start, d.Problems, d.Cut, start)
		}
	}
	b.out.Truncate(start)
	b.debug(0x2000, "a.js", 0, 16)
	b.load("second", 0x2000, 64)
	b.out.Bytes()[start+6]++
	if d := b.scan(); d.NumFunctions() != 2 || len(d.Problems) != 1 || d.Cut >= 0 {
		t.Errorf("a table of a wrong size: got %d functions, problems %v, cut at %#x; want 2, 1 and none", d.NumFunctions(), d.Problems, d.Cut)
	}
}
