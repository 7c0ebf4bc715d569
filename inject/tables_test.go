package inject_test

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
	"github.com/jitinject/jitinject/perfdata"
)

// unwinding returns tables for a function of size bytes, as runtimes send them: frames
// first, or the header.
func unwinding(size int, headerFirst bool) *jitdump.Unwinding {
	header := []byte{1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 0, 0, 0, 0}
	cie := []byte{0x14, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 0x10, 1, 0x1b, 0x0c, 7, 8, 0x90, 1, 0, 0}
	fde := []byte{0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x44, 0x0e, 16, 0, 0, 0, 0}
	at := (size+7)&^7 + len(cie) + 8 // of the pointer to the function
	data := bytes.Join([][]byte{cie, fde, header}, nil)
	if headerFirst {
		at += len(header)
		data = bytes.Join([][]byte{header, cie, fde}, nil)
	}
	i := bytes.Index(data, fde)
	binary.LittleEndian.PutUint32(data[i+8:], uint32(-at))
	binary.LittleEndian.PutUint32(data[i+12:], uint32(size))
	return &jitdump.Unwinding{HeaderSize: uint64(len(header)), MappedSize: uint64(len(data)), Data: data}
}

// CPython's trampolines lie 11 bytes apart, each with tables that would reach over the
// next ones. None takes another's addresses, whether perf unwinds or not.
func TestPackedFunctions(t *testing.T) {
	for _, sampleType := range []uint64{testrec.IP | testrec.TID | testrec.Time | testrec.Period, testrec.IP | testrec.TID | testrec.Time | testrec.Period | testrec.StackUser} {
		w := newWorld(t)
		w.SampleType = sampleType
		w.mark(100, 10, "jit-100.dump")
		var recs []timed
		code := []byte{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3, 0x90, 0x90, 0x90}
		for i := range 200 {
			addr, name := 0x10000+11*uint64(i), fmt.Sprintf("py::func%d", i)
			recs = append(recs, timed{20 + uint64(i), unwinding(len(code), i%2 == 1)}, load(20+uint64(i), 100, uint64(i), addr, name, code))
			w.expect(100, 1000+uint64(2*i), addr, name+"+0x0")
			w.expect(100, 1001+uint64(2*i), addr+10, name+"+0xa")
		}
		w.dump("jit-100.dump", x86(100), recs...)
		sum := w.check()
		if apart := sampleType&testrec.StackUser != 0; sum.Dumps[0].Unwind.Sent != 200 || (sum.Tables == 200) != apart {
			t.Errorf("%+v", sum)
		}
	}
}

// Tables mean the same wherever they are: what readelf says of the objects of a
// producer that sends the header first and of one that sends it last is one thing.
func TestSentTables(t *testing.T) {
	readelf := testrec.Tool(t, "readelf")
	var said []string
	for _, headerFirst := range []bool{false, true} {
		for _, stacks := range []uint64{0, testrec.StackUser} {
			w := newWorld(t)
			w.SampleType |= stacks
			w.mark(100, 10, "jit-100.dump")
			body := bytes.Repeat([]byte{0x90}, 30)
			w.dump("jit-100.dump", x86(100), timed{20, unwinding(30, headerFirst)}, load(20, 100, 1, 0x10000, "function", body))
			w.expect(100, 100, 0x10010, "function+0x10")
			w.check()
			object := w.path("jitted-100-1.so")
			out := testrec.Run(t, w.dir, readelf, "--debug-dump=frames-interp", object)
			if !strings.Contains(out, "pc=0000000000000080..000000000000009e") || !strings.Contains(out, "rsp+16") {
				t.Fatalf("readelf says\n%s", out)
			}
			said = append(said, out)
			checkFrameHeader(t, object)
		}
	}
	for _, s := range said[1:] {
		if s != said[0] {
			t.Errorf("one says\n%s, another\n%s", said[0], s)
		}
	}
}

// checkFrameHeader holds .eh_frame_hdr against what it says: its one entry leads from
// the function to an FDE.
func checkFrameHeader(t *testing.T, path string) {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, frames := f.Section(".eh_frame_hdr"), f.Section(".eh_frame")
	b, err := s.Data()
	if err != nil || len(b) != 20 || b[0] != 1 || binary.LittleEndian.Uint32(b[8:]) != 1 {
		t.Fatalf("header % x, %v", b, err)
	}
	signed := func(at int) uint64 { return uint64(int64(int32(binary.LittleEndian.Uint32(b[at:])))) }
	if at := s.Addr + 4 + signed(4); at != frames.Addr {
		t.Errorf("it has .eh_frame at %#x, the section header at %#x", at, frames.Addr)
	}
	if pc := s.Addr + signed(12); pc != f.Section(".text").Addr {
		t.Errorf("the entry is about %#x", pc)
	}
	if fde := s.Addr + signed(16); fde <= frames.Addr || fde >= frames.Addr+frames.Size {
		t.Errorf("the FDE is at %#x, .eh_frame at %#x", fde, frames.Addr)
	}
}

// A producer that sends what no unwinder should see is told so, and the code tells
// instead.
func TestRefusedTables(t *testing.T) {
	code := append([]byte{0x55, 0x48, 0x89, 0xe5, 0xff, 0xd1, 0x5d, 0xc3}, make([]byte, 24)...)
	for want, spoil := range map[string]func([]byte){
		"length":  func(b []byte) { binary.LittleEndian.PutUint32(b, 0xfffffff0) },
		"FDE":     func(b []byte) { binary.LittleEndian.PutUint32(b[24+12:], 0x1000) },
		"pointer": func(b []byte) { binary.LittleEndian.PutUint32(b[24+4:], 0x1d) },
		"augment": func(b []byte) { b[9] = 'q' },
	} {
		w := newWorld(t)
		w.mark(100, 10, "jit-100.dump")
		u := unwinding(len(code), false)
		spoil(u.Data)
		w.opts.CFI = inject.CFIAlways
		w.dump("jit-100.dump", x86(100), timed{20, u}, load(20, 100, 1, 0x10000, "function", code))
		w.expect(100, 100, 0x10004, "function+0x4")
		sum, err := w.run()
		if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "what the code shows is used instead") {
			t.Fatalf("%s: %+v, %v", want, sum, err)
		}
		if sum.Dumps[0].Unwind.Derived != 1 || sum.Dumps[0].Unwind.Sent != 0 {
			t.Errorf("%s: %+v", want, sum.Dumps[0].Unwind)
		}
		t.Logf("%s: %s", want, sum.Problems[0].Text)
		w.resolve(w.opts.Output)
		w.opts.CFI = inject.CFINever
		if sum, err = w.run(); err != nil || sum.Dumps[0].Unwind.Derived != 0 {
			t.Errorf("%s without: %+v, %v", want, sum, err)
		}
	}
}

// Where tables seem to be, there is nothing else: no mapping of the recording, no code,
// no other tables.
func TestTablesAreAlone(t *testing.T) {
	for _, name := range []string{"node-dwarf", "php-dwarf", "toyjit-dwarf"} {
		dir := testrec.Place(t, name)
		out := filepath.Join(dir, "out.data")
		sum, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: filepath.Join(dir, "objects")})
		if err != nil || !sum.Complete() {
			t.Fatal(sum, err)
		}
		type span struct{ lo, hi uint64 }
		var tables, others []span
		eachRecord(t, out, func(ls *perfdata.Layouts, rec perfdata.Record) {
			if rec.Type != perfdata.RecordMmap2 {
				return
			}
			m, err := ls.Mmap(rec)
			if err != nil || m.OfKernel() {
				return
			}
			s := span{m.Addr, m.Addr + m.Len}
			if strings.Contains(string(m.Filename), "/jitted-") && m.PgOff != jitobj.TextOffset {
				tables = append(tables, s)
			} else {
				others = append(others, s)
			}
		})
		if len(tables) != sum.Tables || sum.Tables == 0 && name != "php-dwarf" {
			t.Errorf("%s: %d mappings of tables, the summary says %d", name, len(tables), sum.Tables)
		}
		slices.SortFunc(tables, func(a, b span) int { return cmp.Compare(a.lo, b.lo) })
		for i, s := range tables {
			if i > 0 && tables[i-1].hi > s.lo {
				t.Errorf("%s: tables at %#x are inside others", name, s.lo)
			}
		}
		for _, o := range others {
			i, _ := slices.BinarySearchFunc(tables, o.lo, func(s span, lo uint64) int {
				if s.hi <= lo {
					return -1
				}
				return 1
			})
			if i < len(tables) && tables[i].lo < o.hi {
				t.Errorf("%s: tables at %#x are inside %#x-%#x", name, tables[i].lo, o.lo, o.hi)
			}
		}
	}
}

// Moves, and addresses that are used again, with stacks to be unwound: names are what
// they are without.
func TestTablesOfMovedFunctions(t *testing.T) {
	w := newWorld(t)
	w.SampleType |= testrec.StackUser
	w.mark(100, 10, "jit-100.dump")
	var recs []timed
	for i := range uint64(50) {
		name := fmt.Sprintf("moving%d", i)
		body := code(64, byte(i))
		recs = append(recs, load(20+i, 100, i, 0x10000+64*i, name, body), move(200+i, 100, i, 0x10000+64*i, 0x80000+64*i, 64), move(400+i, 100, i, 0x80000+64*i, 0x10000+64*(49-i), 64))
		w.expect(100, 100+i, 0x10010+64*i, name+"+0x10")
		w.expect(100, 300+i, 0x80010+64*i, name+"+0x10")
		w.expect(100, 500+i, 0x10010+64*(49-i), name+"+0x10")
	}
	w.dump("jit-100.dump", x86(100), recs...)
	w.Fork(200, 100, 600)
	w.expect(200, 700, 0x10010, "moving49+0x10")
	if sum := w.check(); sum.Tables < 50 {
		t.Errorf("%d mappings of tables", sum.Tables)
	}
}

// Processes that share memory share the places of tables; those that do not need not
// keep apart; and where there is no place, the summary says so.
func TestRoomForTables(t *testing.T) {
	heirs := newWorld(t)
	heirs.SampleType |= testrec.StackUser
	heirs.mark(100, 10, "jit-100.dump")
	heirs.dump("jit-100.dump", x86(100), load(20, 100, 1, 0x10000, "function", code(64, 1)))
	for pid := range uint32(5) {
		heirs.Fork(101+pid, 100, 30)
		heirs.Marker(101+pid, 31, heirs.path("jit-100.dump"))
		heirs.expect(101+pid, 50, 0x10008, "function+0x8")
	}
	if sum := heirs.check(); sum.Tables != sum.Mappings || sum.Objects != 1 {
		t.Errorf("heirs: %+v", sum)
	}

	many := newWorld(t)
	many.SampleType |= testrec.StackUser
	for pid := uint32(100); pid < 160; pid++ {
		dump := fmt.Sprintf("jit-%d.dump", pid)
		many.Comm(pid, 9, "prog", true)
		many.Marker(pid, 10, many.path(dump))
		many.dump(dump, x86(pid), load(20, pid, 1, 0x10000, fmt.Sprintf("function%d", pid), code(64, byte(pid))))
		many.expect(pid, 50, 0x10008, fmt.Sprintf("function%d+0x8", pid))
	}
	if sum := many.check(); sum.Tables != 60 {
		t.Errorf("many: %d tables", sum.Tables)
	}

	full := newWorld(t)
	full.SampleType |= testrec.StackUser
	full.mark(100, 10, "jit-100.dump")
	full.Mmap2(100, 11, 0x7f0000000000, 3<<30, 0, "//anon")
	full.dump("jit-100.dump", x86(100), load(20, 100, 1, 0x7f0000010000, "function", code(64, 1)))
	full.expect(100, 50, 0x7f0000010008, "function+0x8")
	if sum := full.check(); sum.Tables != 0 || sum.Dumps[0].Unwind.Unplaced != 1 || !strings.Contains(sum.Dumps[0].Frames, "no place within 2 GB") {
		t.Errorf("full: %+v", sum)
	}
}
