package jitdump_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/jitdump"
)

func wantTables(t *testing.T, d *jitdumps.Dump, want ...string) {
	t.Helper()
	if got := tables(t, d); !reflect.DeepEqual(got, want) {
		t.Errorf("lines\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// LLVM's ORC writes all debug records of a module and then all its loads.
func TestPairing_DebugRecordsBeforeAllLoads(t *testing.T) {
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
	if d.Orphans() != 0 {
		t.Errorf("%d debug records without a function", d.Orphans())
	}
}

// perf gives a load whatever debug record came before it.
func TestPairing_RecordOfAnotherFunction(t *testing.T) {
	b := newDump(t, x86)
	b.debug(0x2000, "b.c", 0)
	b.load("a", 0x1000, 16)
	b.load("b", 0x2000, 16)
	wantTables(t, b.scan(), "b: 0 b.c:1:0")
}

// A record that names no function, or a wrong one, is for the next load if its
// entries are about that; otherwise it is for none.
func TestPairing_ByEntries(t *testing.T) {
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
		if d.Orphans() != 1 {
			t.Errorf("%d debug records without a function, want 1", d.Orphans())
		}
	}
}

// The address is used again: each load has the lines that came before it.
func TestPairing_AddressUsedAgain(t *testing.T) {
	b := newDump(t, x86)
	b.debug(0x1000, "old.c", 0)
	b.load("old", 0x1000, 16)
	b.load("between", 0x1000, 16)
	b.debug(0x1000, "lost.c", 0)
	b.debug(0x1000, "new.c", 0)
	b.load("new", 0x1000, 16)
	d := b.scan()
	wantTables(t, d, "old: 0 old.c:1:0", "new: 0 new.c:1:0")
	if d.Orphans() != 1 {
		t.Errorf("%d debug records without a function, want 1", d.Orphans())
	}
}

// What belongs to a load that is lost must not go to another.
func TestPairing_LoadLost(t *testing.T) {
	b := newDump(t, x86)
	b.add(&jitdump.Unwinding{HeaderSize: 12, MappedSize: 12, Data: []byte{1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0}})
	b.entries(0, entry(0x2000, 1, "lost.c"))
	bad := b.out.Len()
	b.load("lost", 0x1000, 16)
	b.load("next", 0x2000, 16)
	dump := b.out.Bytes()
	binary.LittleEndian.PutUint64(dump[bad+16+24:], 1<<40) // code_size
	d := scan(t, bytes.NewReader(dump))
	wantTables(t, d)
	if fn, err := d.Reader().Function(0); err != nil || string(fn.Name) != "next" || !fn.Unwind.Empty() || d.Events[0].More != 0 {
		t.Errorf("got %v, %q, %+v; want function next without the tables of the lost one", err, fn.Name, d.Events[0])
	}
}

// A debug record that waits for long has lost its load: what comes to lie at its
// address much later has nothing to do with it.
func TestPairing_LoadLostLongAgo(t *testing.T) {
	b := newDump(t, x86)
	b.debug(0x1000, "lost.c", 0)
	for i := range uint64(3) {
		b.debug(0x5000+i*0x1000, "other.c", 0)
		b.load("other", 0x5000+i*0x1000, 16)
	}
	b.load("later", 0x1000, 16)
	d := b.scan()
	wantTables(t, d, "other: 0 other.c:1:0", "other: 0 other.c:1:0", "other: 0 other.c:1:0")
	if d.Orphans() != 1 {
		t.Errorf("%d debug records without a function, want 1", d.Orphans())
	}
}

// The end of a function may be marked, also in a record that does not name it.
func TestPairing_EndMark(t *testing.T) {
	b := newDump(t, x86)
	b.entries(0, entry(0x1000, 5, "p.c"), entry(0x1008, 6, "p.c"), entry(0x1010, 0, "p.c"))
	b.load("f", 0x1000, 16)
	wantTables(t, b.scan(), "f: 0 p.c:5:0 8 p.c:6:0")
}

// Processes that write into one dump number their functions each for itself. A
// child may move what it was born with.
func TestEvents_MovesOfProcesses(t *testing.T) {
	load := func(pid uint32, index, addr uint64) *jitdump.Load {
		return &jitdump.Load{PID: pid, TID: pid, CodeAddr: addr, CodeIndex: index, Name: []byte("f"), Code: []byte{0x90, 0xc3}}
	}
	move := func(pid uint32, index, from, to uint64) *jitdump.Move {
		return &jitdump.Move{PID: pid, TID: pid + 1, OldCodeAddr: from, NewCodeAddr: to, CodeSize: 2, CodeIndex: index}
	}
	b := newDump(t, x86)
	for _, r := range []jitdump.Record{
		load(100, 1, 0x1000), load(100, 2, 0x2000), load(200, 2, 0x3000), load(300, 2, 0x4000),
		move(100, 2, 0x2000, 0x5000), // its own, not the latest
		move(200, 1, 0x1000, 0x6000), // inherited
		move(200, 1, 0x6000, 0x7000), // and now its own
		move(400, 2, 0x4000, 0x8000), // one of several
		move(500, 2, 0x9000, 0xa000), // never had one there
	} {
		b.add(r)
	}
	d := b.scan()
	var got []string
	for _, e := range d.Events[4:] {
		got = append(got, fmt.Sprintf("%d/%d: function %d from %#x to %#x", e.PID, e.TID, e.Function, e.More, e.Addr))
	}
	if want := []string{"100/101: function 1 from 0x2000 to 0x5000", "200/201: function 0 from 0x1000 to 0x6000",
		"200/201: function 0 from 0x6000 to 0x7000", "400/401: function 3 from 0x4000 to 0x8000"}; !reflect.DeepEqual(got, want) {
		t.Errorf("moves\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Text, "of code_index 2, which no JIT_CODE_LOAD of process 500 before it has") {
		t.Errorf("problems %v", d.Problems)
	}
}

// If functions share an index, the old address says which of them moves. A function that has left
// that address is not there.
func TestEvents_MovesOfSharedIndex(t *testing.T) {
	b := newDump(t, x86)
	for _, r := range []jitdump.Record{
		&jitdump.Load{PID: 100, CodeAddr: 0x1000, CodeIndex: 7, Name: []byte("f"), Code: []byte{0x90, 0xc3}},
		&jitdump.Load{PID: 100, CodeAddr: 0x2000, CodeIndex: 7, Name: []byte("g"), Code: []byte{0x90, 0xc3}},
		&jitdump.Move{PID: 100, OldCodeAddr: 0x1000, NewCodeAddr: 0x3000, CodeSize: 2, CodeIndex: 7},
		&jitdump.Move{PID: 100, OldCodeAddr: 0x2000, NewCodeAddr: 0x4000, CodeSize: 2, CodeIndex: 7},
		&jitdump.Move{PID: 100, OldCodeAddr: 0x3000, NewCodeAddr: 0x1000, CodeSize: 2, CodeIndex: 7},
		&jitdump.Move{PID: 100, OldCodeAddr: 0x2000, NewCodeAddr: 0x5000, CodeSize: 2, CodeIndex: 7}, // nothing is there: the latest
	} {
		b.add(r)
	}
	d := b.scan()
	var got []string
	for _, e := range d.Events[2:] {
		got = append(got, fmt.Sprintf("%d from %#x to %#x", e.Function, e.More, e.Addr))
	}
	if want := []string{"0 from 0x1000 to 0x3000", "1 from 0x2000 to 0x4000", "0 from 0x3000 to 0x1000", "0 from 0x1000 to 0x5000"}; !reflect.DeepEqual(got, want) || len(d.Problems) > 0 {
		t.Errorf("moves %q, want %q; problems %v", got, want, d.Problems)
	}
}

// A dump may be scanned while it is being written.
func TestScan_GrowingDump(t *testing.T) {
	b := newDump(t, x86)
	for i := range 20 {
		b.debug(uint64(0x1000*i), "a.c", 0, 4)
		b.load(fmt.Sprint("f", i), uint64(0x1000*i), 16)
	}
	whole := scan(t, bytes.NewReader(b.out.Bytes()))
	src := &shrinking{b.out.Bytes()[:40]}
	d, err := jitdumps.OpenFile(src)
	if err != nil {
		t.Fatal(err)
	}
	for n := 40; ; n += 7 {
		src.data = b.out.Bytes()[:min(n, b.out.Len())]
		if err := d.Scan(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n >= b.out.Len() {
			break
		}
	}
	if !reflect.DeepEqual(d.Events, whole.Events) || len(d.Problems) > 0 || d.Cut != -1 {
		t.Errorf("%d events, want %d; problems %v, cut at %d", len(d.Events), len(whole.Events), d.Problems, d.Cut)
	}
	wantTables(t, d, tables(t, whole)...)
}

func TestEvents_OfEveryRecord(t *testing.T) {
	b := newDump(t, x86)
	b.add(&jitdump.Load{PID: 100, TID: 101, CodeAddr: 0x1000, CodeIndex: 7, Name: []byte("a"), Code: []byte{0x90, 0xc3}})
	b.add(&jitdump.Move{PID: 100, TID: 102, OldCodeAddr: 0x1000, NewCodeAddr: 0x2000, CodeSize: 2, CodeIndex: 7})
	b.add(&jitdump.Load{PID: 200, TID: 25340800, CodeAddr: 0x3000, CodeIndex: 7, Name: []byte("again"), Code: []byte{0x90}})
	b.add(&jitdump.Move{PID: 200, OldCodeAddr: 0x3000, NewCodeAddr: 0x4000, CodeSize: 1, CodeIndex: 7})
	b.add(&jitdump.Move{PID: 200, TID: 25340800, OldCodeAddr: 0x4000, NewCodeAddr: 0x5000, CodeSize: 1, CodeIndex: 7})
	b.add(&jitdump.Move{PID: 100, NewCodeAddr: 0x6000, CodeSize: 1, CodeIndex: 8})
	b.add(&jitdump.Load{PID: 100, CodeAddr: 0x7000, CodeIndex: 9, Name: []byte("empty")})
	b.add(&jitdump.Load{PID: 100, CodeAddr: ^uint64(0), CodeIndex: 10, Name: []byte("nowhere"), Code: []byte{1, 2, 3}})
	d := b.scan()
	want := []jitcode.Event{
		{Kind: jitcode.Load, Function: 0, Time: 1, PID: 100, TID: 101, Index: 7, Addr: 0x1000, Size: 2},
		{Kind: jitcode.Move, Function: 0, Time: 2, PID: 100, TID: 102, Index: 7, Addr: 0x2000, Size: 2, More: 0x1000},
		{Kind: jitcode.Load, Function: 1, Time: 3, PID: 200, TID: 200, Index: 7, Addr: 0x3000, Size: 1},
		{Kind: jitcode.Move, Function: 1, Time: 4, PID: 200, TID: 0, Index: 7, Addr: 0x4000, Size: 1, More: 0x3000},
		{Kind: jitcode.Move, Function: 1, Time: 5, PID: 200, TID: 200, Index: 7, Addr: 0x5000, Size: 1, More: 0x4000},
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
func TestScan_DamagedRecord(t *testing.T) {
	b := newDump(t, x86)
	b.load("a", 0x1000, 16)
	bad := b.out.Len()
	b.load("bad", 0x2000, 16)
	b.load("c", 0x3000, 16)
	cut := b.out.Len()
	b.load("d", 0x4000, 16)
	dump := bytes.Clone(b.out.Bytes()[:cut+30])
	binary.LittleEndian.PutUint64(dump[bad+16+24:], 1<<40) // code_size
	d := scan(t, bytes.NewReader(dump))
	if len(d.Events) != 2 || d.Events[1].Addr != 0x3000 {
		t.Errorf("events %+v", d.Events)
	}
	if len(d.Problems) != 1 || d.Problems[0].Offset != int64(bad) || !strings.Contains(d.Problems[0].Text, "the record is left out") || d.Cut != int64(cut) {
		t.Errorf("problems %v, cut at %d", d.Problems, d.Cut)
	}
}

// A file that shrinks between scanning and reading is an error of the functions
// that are gone, and no more.
func TestScan_FileShrinks(t *testing.T) {
	b := newDump(t, x86)
	b.load("a", 0x1000, 16)
	half := b.out.Len()
	b.load("b", 0x2000, 16)
	src := &shrinking{b.out.Bytes()}
	d := scan(t, src)
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
