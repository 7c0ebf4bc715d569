package engine_test

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

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
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
	fde := []byte{0x14, 0, 0, 0, 0x1c, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x41, 0x0e, 16, 0x46, 0x0e, 8, 0} // as push rbp and pop rbp change the CFA
	at := (size+7)&^7 + len(cie) + 8                                                                         // of the pointer to the function
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

// The mapping of a dump's function reaches over its unwind tables, but not over a function of a map.
func TestUnwindTables_BeforeFunctionOfMap(t *testing.T) {
	w := newWorld(t)
	w.Machine = "x86_64"
	w.Comm(100, 1, "program", true)
	w.Mmap2(100, 5, 0x10000, 0x1000, 0, "//anon")
	w.mark(100, 10, "jit-100.dump")
	code := bytes.Repeat([]byte{0x90}, 16)
	w.dump("jit-100.dump", x86(100), timed{20, unwinding(len(code), false)}, load(20, 100, 0, 0x10000, "dumped", code))
	w.mapFile("perf-100.map", "10018 10 mapped")
	w.expect(100, 1000, 0x10004, "dumped+0x4")
	w.expect(100, 1001, 0x10018, "mapped+0x0")
	w.expect(100, 1002, 0x10020, "mapped+0x8")
	w.check()
}

// CPython's trampolines lie 11 bytes apart, each with tables that would reach over the
// next ones. None takes another's addresses, whether perf unwinds or not. If it does, all
// share one object, which is mapped once, as are its tables.
func TestUnwindTables_FunctionsElevenBytesApart(t *testing.T) {
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
		objects, mappings, tables := 200, 200, 0
		if sampleType&testrec.StackUser != 0 {
			objects, mappings, tables = 1, 1, 1
			if frames := rowsIn(t, w.path("")); frames != 200 {
				t.Errorf("readelf shows rows for %d functions, want 200", frames)
			}
			checkPackedStream(t, w)
		}
		if u := sum.Dumps[0].Unwind; u.Sent != 200 || u.Unplaced != 0 || sum.Objects != objects || sum.Tables != tables || sum.Mappings != mappings || sum.Dumps[0].Frames != "" {
			t.Errorf("%d objects, %d mappings, %d of tables, %+v, %q; want %d, %d, %d, 200 tables sent and all placed, no advice", sum.Objects, sum.Mappings, sum.Tables, u, sum.Dumps[0].Frames, objects, mappings, tables)
		}
	}
}

// checkPackedStream injects packed functions from a pipe: they share an object, too.
func checkPackedStream(t *testing.T, w *world) {
	t.Helper()
	stream, err := perfdata.AppendPreamble([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), openFile(t, w.opts.Input))
	if err != nil {
		t.Fatal(err)
	}
	eachRaw(t, w.opts.Input, func(rec []byte) { stream = append(stream, rec...) })
	opts := w.opts
	opts.Input, opts.Stdin, opts.Output, opts.Objects = "-", feed(t, stream, 5000), w.path("piped.data"), w.path("piped")
	sum, err := engine.Run(t.Context(), opts)
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	if sum.Objects != 1 || sum.Tables != 1 || sum.Dumps[0].Frames != "" {
		t.Errorf("from a pipe: %d objects, %d mappings of tables, %q; want 1, 1, no advice", sum.Objects, sum.Tables, sum.Dumps[0].Frames)
	}
	w.resolve(opts.Output)
}

// rowsIn returns how many functions the unwind tables of a directory's objects are about.
func rowsIn(t *testing.T, dir string) (n int) {
	t.Helper()
	for _, path := range objectPaths(t, dir) {
		n += strings.Count(testrec.Run(t, dir, testrec.Tool(t, "readelf"), "--debug-dump=frames", path), " FDE cie=")
	}
	return n
}

// Tables mean the same wherever they are: what readelf says of the objects of a
// producer that sends the header first and of one that sends it last is one thing.
func TestUnwindTables_HeaderFirstOrLast(t *testing.T) {
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
			at := only(t, spotsOf(t, w.dir, w.opts.Output), "function")
			if bundled := at.memory != 0; bundled != (stacks != 0) || at.addr != jitobj.TextOffset {
				t.Errorf("the function is in %s at %#x", at.object, at.addr)
			}
			object := at.object
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
func TestUnwindTables_Invalid(t *testing.T) {
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
		w.opts.CFI = config.CFIAlways
		w.dump("jit-100.dump", x86(100), timed{20, u}, load(20, 100, 1, 0x10000, "function", code))
		w.expect(100, 100, 0x10004, "function+0x4")
		sum, err := w.run()
		if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "tables derived from the code are used instead") {
			t.Fatalf(`%s: got %s, %v; want no error, 1 problem, Problems[0].Text with "tables derived from the code are used instead"`, want, asJSON(sum), err)
		}
		if sum.Dumps[0].Unwind.Derived != 1 || sum.Dumps[0].Unwind.Sent != 0 {
			t.Errorf("%s: got %+v; want Dumps[0].Unwind.Derived = 1, Dumps[0].Unwind.Sent = 0", want, sum.Dumps[0].Unwind)
		}
		t.Logf("%s: %s", want, sum.Problems[0].Text)
		w.resolve(w.opts.Output)
		w.opts.CFI = config.CFINever
		if sum, err = w.run(); err != nil || sum.Dumps[0].Unwind.Derived != 0 {
			t.Errorf("%s without: %+v, %v", want, sum, err)
		}
	}
}

// Where tables seem to be, there is nothing else: no mapping of the recording, no code,
// no other tables.
func TestUnwindTables_NothingElseThere(t *testing.T) {
	for _, name := range []string{"node-dwarf", "php-dwarf", "toyjit-dwarf"} {
		dir := testrec.Place(t, name)
		out := filepath.Join(dir, "out.data")
		sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: filepath.Join(dir, "objects")})
		if err != nil || !sum.Complete() {
			t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
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
			head := m.PgOff == 0 // of an object in parts
			if isObjectRecord(string(m.Filename)) && !head && !inText(t, string(m.Filename), m.PgOff) {
				tables = append(tables, s)
			} else {
				others = append(others, s)
			}
		})
		if len(tables) != sum.Tables || len(tables) == 0 {
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

// inText reports whether an offset in an object is that of code.
func inText(t *testing.T, object string, offset uint64) bool {
	t.Helper()
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text := f.Section(".text")
	return offset >= text.Offset && offset < text.Offset+text.Size
}

// Moves, and addresses that are used again, with stacks to be unwound: names are what
// they are without. Where code was before, at its other place, and where it is put at last
// are two regions; the first has images one after the other. Each image that is mapped has
// its tables mapped once.
func TestUnwindTables_MovedFunctions(t *testing.T) {
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
	sum := w.check()
	images := make(map[uint64]int) // by the page of their code
	for _, path := range objectPaths(t, w.dir) {
		names, spots := spotsIn(t, path, readMappings(t, w.opts.Output))
		images[spots[0].memory&^0xffff]++
		for i, s := range spots {
			if s.memory == 0 || s.size != 64 {
				t.Errorf("%s has %s at %#x", path, names[i], s.memory)
			}
		}
	}
	if images[0x10000] < 2 || images[0x80000] != 1 || len(images) != 2 || sum.Tables != sum.Objects {
		t.Errorf("%d objects, %d mappings of tables, by region %v; want several images at 0x10000, one at 0x80000, with one mapping of tables each", sum.Objects, sum.Tables, images)
	}
	if u := sum.Dumps[0].Unwind; u.Derived != 50 || u.Unplaced != 0 {
		t.Errorf("unwind tables of %+v, want 50 derived", u)
	}
}

// Processes that share memory share the places of tables; those that do not need not
// keep apart; memory that is the runtime's will do if there is no other; and where there is
// no place, there are tables without entries directly after the code, and the summary says so.
func TestUnwindTables_PlacesInMemory(t *testing.T) {
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

	for _, c := range []struct {
		what, mapped      string
		derived, unplaced int
		tables            int // mappings of them
		frames            string
	}{
		{"memory", "//anon", 2, 0, 1, ""},
		{"file that is gone", "/dev/shm/code-cache (deleted)", 0, 2, 1, "no place within 2 GB"},
		{"file", "/usr/lib/libhuge.so", 0, 2, 0, "no place within 2 GB"},
	} {
		full := newWorld(t)
		full.SampleType |= testrec.StackUser
		full.mark(100, 10, "jit-100.dump")
		full.Mmap2(100, 11, 0x7f0000010000, 0x10000, 0, "//anon")
		full.Mmap2(100, 11, 0x7f0000020000, 3<<30, 0, c.mapped)
		full.dump("jit-100.dump", x86(100),
			load(20, 100, 1, 0x7f000001ff80, "function", code(64, 1)), load(21, 100, 2, 0x7f000001ffc0, "neighbour", code(64, 1)))
		full.expect(100, 50, 0x7f000001ff88, "function+0x8")
		full.expect(100, 51, 0x7f000001ffc8, "neighbour+0x8")
		sum := full.check()
		d := sum.Dumps[0]
		if sum.Tables != c.tables || d.Unwind.Derived != c.derived || d.Unwind.Unplaced != c.unplaced || (d.Frames == "") != (c.frames == "") || !strings.Contains(d.Frames, c.frames) {
			t.Errorf("%s around code: %d mappings of tables, %+v, %q; want %d, %d derived, %d unplaced, %q", c.what, sum.Tables, d.Unwind, d.Frames, c.tables, c.derived, c.unplaced, c.frames)
		}
		if rows := rowsIn(t, full.dir); rows != c.derived {
			t.Errorf("%s around code: readelf shows rows for %d functions, want %d", c.what, rows, c.derived)
		}
		checkBlank(t, full.dir, c.tables > 0 && c.derived == 0)
	}
}

// checkBlank wants the one object in a directory to have unwind tables without an entry,
// for the unwinder to be sent to, or not.
func checkBlank(t *testing.T, dir string, want bool) {
	t.Helper()
	paths := objectPaths(t, dir)
	if len(paths) != 1 {
		t.Fatalf("%d objects, want 1", len(paths))
	}
	f, err := elf.Open(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	blank := false
	if s := f.Section(".eh_frame_hdr"); s != nil {
		b, err := s.Data()
		if err != nil || len(b) < 12 {
			t.Fatalf("header % x, %v", b, err)
		}
		blank = binary.LittleEndian.Uint32(b[8:]) == 0
		if end := f.Section(".text").Addr + f.Section(".text").Size; blank && (s.Addr < end || s.Addr+s.Size > end+128) {
			t.Errorf("blank tables are at %#x, the code ends at %#x", s.Addr, end)
		}
	}
	if blank != want {
		t.Errorf("blank tables: %v, want %v", blank, want)
	}
}

// Tables in memory that may be the runtime's keep away from the code of another dump of
// the process.
func TestRoomForTables_TwoDumps(t *testing.T) {
	w := newWorld(t)
	w.SampleType |= testrec.StackUser
	w.mark(100, 10, "jit-100.dump")
	w.Mmap2(100, 11, 0x7f1000000000, 0x1000, 0, w.path("jit-101.dump"))
	w.Mmap2(100, 12, 0x7f2000000000, 3<<30, 0, "//anon")
	const low = 0x7f2000010000
	w.dump("jit-101.dump", x86(100), load(20, 100, 1, low+roomGap, "above", code(64, 1)), load(20, 100, 2, low+roomGap+0x10000, "more", code(64, 1)))
	w.dump("jit-100.dump", x86(100), load(30, 100, 1, low, "below", code(64, 1)))
	w.expect(100, 50, low+8, "below+0x8")
	for i := range uint64(8) {
		w.expect(100, 51+i, low+roomGap+8*i, fmt.Sprintf("above+%#x", 8*i))
		w.expect(100, 61+i, low+roomGap+0x10000+8*i, fmt.Sprintf("more+%#x", 8*i))
	}
	if sum := w.check(); sum.Tables != 3 || sum.Dumps[0].Unwind.Derived+sum.Dumps[1].Unwind.Derived != 3 {
		t.Errorf("%d mappings of tables, %+v, %+v; want 3, of 3 functions", sum.Tables, sum.Dumps[0].Unwind, sum.Dumps[1].Unwind)
	}
}

// roomGap is how far above code tables are where nothing is in their way.
const roomGap = 16 << 20

// An address that is used hundreds of times, between functions that stay: all have their
// names at all times.
func TestRegions_ReusedAddress(t *testing.T) {
	w := newWorld(t)
	w.SampleType |= testrec.StackUser
	w.mark(100, 10, "jit-100.dump")
	var recs []timed
	for i := range uint64(60) {
		if i == 30 {
			continue // the address between them
		}
		recs = append(recs, load(20+i, 100, i, 0x10000+64*i, fmt.Sprintf("stays%d", i), code(64, byte(i))))
	}
	for i := range uint64(400) {
		time, name := 1000+10*i, fmt.Sprintf("guest%d", i)
		recs = append(recs, load(time, 100, 100+i, 0x10000+64*30, name, code(64, byte(i))))
		w.expect(100, time+1, 0x10000+64*30+8, name+"+0x8")
		neighbour := (i * 7) % 60
		if neighbour == 30 {
			neighbour++
		}
		w.expect(100, time+2, 0x10000+64*neighbour+8, fmt.Sprintf("stays%d+0x8", neighbour))
	}
	w.dump("jit-100.dump", x86(100), recs...)
	sum := w.check()
	if sum.Objects < 300 || sum.Mappings > 10*len(recs) {
		t.Errorf("%d objects and %d mappings for %d functions, want an image for each guest and at most %d mappings", sum.Objects, sum.Mappings, len(recs), 10*len(recs))
	}
}
