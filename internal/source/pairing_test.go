package source_test

import (
	"bytes"
	"encoding/binary"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/jitdump"
)

func wantTables(t *testing.T, d *source.Jitdump, want ...string) {
	t.Helper()
	if got := tables(t, d); !reflect.DeepEqual(got, want) {
		t.Errorf("lines\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// LLVM's ORC writes all debug records of a module and then all its loads.
func TestBatch(t *testing.T) {
	b := newDump(t, x86)
	b.debug(0x1000, "a.c", 0, 4)
	b.debug(0x2000, "b.c", 0, 5)
	b.debug(0x3000, "c.c", 0, 6)
	b.load("without", 0x4000, 16)
	b.load("b", 0x2000, 16)
	b.load("a", 0x1000, 16)
	b.load("c", 0x3000, 16)
	d := b.scan()
	wantTables(t, d, "b: 0 b.c:1:0 5 b.c:2:0", "a: 0 a.c:1:0 4 a.c:2:0", "c: 0 c.c:1:0 6 c.c:2:0")
	if d.Orphans != 0 {
		t.Errorf("%d debug records without a function", d.Orphans)
	}
}

// perf gives a load whatever debug record came before it.
func TestNotTheNextLoad(t *testing.T) {
	b := newDump(t, x86)
	b.debug(0x2000, "b.c", 0)
	b.load("a", 0x1000, 16)
	b.load("b", 0x2000, 16)
	wantTables(t, b.scan(), "b: 0 b.c:1:0")
}

// A record that names no function, or a wrong one, is for the next load if its
// entries are about that; otherwise it is for none.
func TestByEntries(t *testing.T) {
	for _, named := range []uint64{0, 0xdead} {
		b := newDump(t, x86)
		at := jitdump.DebugEntry{Addr: 0x1004, Line: 7, Name: []byte("a.c")}
		b.entries(named, at)
		b.load("a", 0x1000, 16)
		b.load("b", 0x2000, 16)
		b.entries(named, at)
		b.load("c", 0x3000, 16)
		d := b.scan()
		wantTables(t, d, "a: 4 a.c:7:0")
		if d.Orphans != 1 {
			t.Errorf("%d debug records without a function, want 1", d.Orphans)
		}
	}
}

// The address is used again: each load has the lines that came before it.
func TestSameAddressAgain(t *testing.T) {
	b := newDump(t, x86)
	b.debug(0x1000, "old.c", 0)
	b.load("old", 0x1000, 16)
	b.load("between", 0x1000, 16)
	b.debug(0x1000, "lost.c", 0)
	b.debug(0x1000, "new.c", 0)
	b.load("new", 0x1000, 16)
	d := b.scan()
	wantTables(t, d, "old: 0 old.c:1:0", "new: 0 new.c:1:0")
	if d.Orphans != 1 {
		t.Errorf("%d debug records without a function, want 1", d.Orphans)
	}
}

func TestEvents(t *testing.T) {
	b := newDump(t, x86)
	b.add(&jitdump.Load{PID: 100, TID: 101, CodeAddr: 0x1000, CodeIndex: 7, Name: []byte("a"), Code: []byte{0x90, 0xc3}})
	b.add(&jitdump.Move{PID: 100, TID: 102, OldCodeAddr: 0x1000, NewCodeAddr: 0x2000, CodeSize: 2, CodeIndex: 7})
	b.add(&jitdump.Load{PID: 200, TID: 25340800, CodeAddr: 0x3000, CodeIndex: 7, Name: []byte("again"), Code: []byte{0x90}})
	b.add(&jitdump.Move{PID: 200, OldCodeAddr: 0x3000, NewCodeAddr: 0x4000, CodeSize: 1, CodeIndex: 7})
	b.add(&jitdump.Move{PID: 200, OldCodeAddr: 0x4000, NewCodeAddr: 0x5000, CodeSize: 1, CodeIndex: 7})
	b.add(&jitdump.Move{PID: 100, NewCodeAddr: 0x6000, CodeSize: 1, CodeIndex: 8})
	b.add(&jitdump.Load{PID: 100, CodeAddr: 0x7000, CodeIndex: 9, Name: []byte("empty")})
	b.add(&jitdump.Load{PID: 100, CodeAddr: ^uint64(0), CodeIndex: 10, Name: []byte("nowhere"), Code: []byte{1, 2, 3}})
	d := b.scan()
	want := []jitcode.Event{
		{Kind: jitcode.Load, Function: 0, Time: 1, PID: 100, TID: 101, Index: 7, Addr: 0x1000, Size: 2},
		{Kind: jitcode.Move, Function: 0, Time: 2, PID: 100, TID: 101, Index: 7, Addr: 0x2000, Size: 2, OldAddr: 0x1000},
		{Kind: jitcode.Load, Function: 1, Time: 3, PID: 200, TID: 200, Index: 7, Addr: 0x3000, Size: 1},
		{Kind: jitcode.Move, Function: 1, Time: 4, PID: 200, TID: 200, Index: 7, Addr: 0x4000, Size: 1, OldAddr: 0x3000},
		{Kind: jitcode.Move, Function: 1, Time: 5, PID: 200, TID: 200, Index: 7, Addr: 0x5000, Size: 1, OldAddr: 0x4000},
		{Kind: jitcode.Load, Function: 2, Time: 7, PID: 100, Index: 9, Addr: 0x7000},
	}
	if !reflect.DeepEqual(d.Events, want) {
		t.Errorf("events\n%+v\nwant\n%+v", d.Events, want)
	}
	if len(d.Problems) != 2 || !strings.Contains(d.Problems[0].Text, "code_index 8") || !strings.Contains(d.Problems[1].Text, "beyond the end of all addresses") {
		t.Errorf("problems %v", d.Problems)
	}
}

// A bad record costs that record.
func TestDamage(t *testing.T) {
	b := newDump(t, x86)
	b.load("a", 0x1000, 16)
	bad := b.out.Len()
	b.load("bad", 0x2000, 16)
	b.load("c", 0x3000, 16)
	cut := b.out.Len()
	b.load("d", 0x4000, 16)
	dump := bytes.Clone(b.out.Bytes()[:cut+30])
	binary.LittleEndian.PutUint64(dump[bad+16+24:], 1<<40) // code_size
	d, err := source.ScanJitdump(bytes.NewReader(dump))
	if err != nil {
		t.Fatal(err)
	}
	if len(d.Events) != 2 || d.Events[1].Addr != 0x3000 {
		t.Errorf("events %+v", d.Events)
	}
	if len(d.Problems) != 1 || d.Problems[0].Offset != int64(bad) || !strings.Contains(d.Problems[0].Text, "the record is left out") || d.Cut != int64(cut) {
		t.Errorf("problems %v, cut at %d", d.Problems, d.Cut)
	}
}

// A file that shrinks between scanning and reading is an error of the functions
// that are gone, and no more.
func TestShrunkFile(t *testing.T) {
	b := newDump(t, x86)
	b.load("a", 0x1000, 16)
	half := b.out.Len()
	b.load("b", 0x2000, 16)
	src := &shrinking{b.out.Bytes()}
	d, err := source.ScanJitdump(src)
	if err != nil {
		t.Fatal(err)
	}
	src.data = src.data[:half]
	r := d.Reader()
	if fn, err := r.Function(0); err != nil || string(fn.Name) != "a" {
		t.Errorf("first function: %v", err)
	}
	if _, err := r.Function(1); err == nil || !strings.Contains(err.Error(), "shrunk") {
		t.Errorf("second function: %v", err)
	}
}

type shrinking struct{ data []byte }

func (s *shrinking) ReadAt(p []byte, off int64) (int, error) {
	return bytes.NewReader(s.data).ReadAt(p, off)
}
