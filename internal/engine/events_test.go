package engine_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
	"github.com/jitinject/jitinject/perfdata"
)

// Times in these tests are nanoseconds, some hundred apart.

func TestLoad_TwoFunctions(t *testing.T) {
	for _, order := range []testrec.Order{binary.LittleEndian, binary.BigEndian} {
		w := newWorld(t)
		w.Order = order
		w.mark(100, 1000, "jit-100.dump")
		w.expect(100, 1900, 0x10008, "") // not yet
		w.expect(100, 2000, 0x10008, "alpha+0x8")
		w.expect(100, 2100, 0x1003f, "alpha+0x3f")
		w.expect(100, 2200, 0x10040, "")
		w.Round()
		w.expect(100, 2300, 0x20000, "beta+0x0")
		w.dump("jit-100.dump", x86(100),
			load(2000, 100, 1, 0x10000, "alpha", code(64, 1)),
			load(2250, 100, 2, 0x20000, "beta", code(64, 2)))
		sum := w.check()
		if sum.Objects != 2 || sum.Mappings != 2 || sum.Dropped != 1 || len(sum.Dumps) != 1 || sum.Dumps[0].Functions != 2 {
			t.Errorf("summary %+v", sum)
		}
	}
}

// The records between stay bit for bit; the marker is gone; a second injection
// changes nothing.
func TestResult_InjectedAgain(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 2100, 0x10008, "alpha+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	w.check()
	first, err := os.ReadFile(w.opts.Output)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(first, []byte("jit-100.dump")) {
		t.Error("the marker is still there")
	}
	w.opts.Input, w.opts.Output = w.opts.Output, w.path("again.data")
	sum, err := injectAgain(w)
	if err != nil || sum.Markers != 0 || sum.Objects != 0 {
		t.Errorf("second run: %+v, %v", sum, err)
	}
	if again, err := os.ReadFile(w.opts.Output); err != nil || !bytes.Equal(again, first) {
		t.Errorf("the second run changes something: %v", err)
	}
}

// The order of the file: two CPUs' buffers one after the other in each round.
// The records put in must not be late for any round.
func TestRounds_TwoBuffersInEach(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	var loads []timed
	for round := uint64(0); round < 5; round++ {
		base := 2000 + 1000*round
		addr := 0x10000 + 0x1000*round
		for cpu := uint64(0); cpu < 2; cpu++ {
			for i := uint64(0); i < 10; i++ {
				time := base + 100*i + 50*cpu
				sym := ""
				if time >= base+333 {
					sym = fmt.Sprintf("f%d+0x8", round)
				}
				w.expect(100, time, addr+8, sym)
			}
		}
		w.Round()
		loads = append(loads, load(base+333, 100, round, addr, fmt.Sprintf("f%d", round), code(64, byte(round))))
	}
	w.dump("jit-100.dump", x86(100), loads...)
	w.check()
}

// Equal times: the mapping comes first.
func TestLoad_SameTimeAsSample(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 2000, 0x10000, "beta+0x0")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)), load(2000, 100, 2, 0x10000, "beta", code(64, 2)))
	w.check()
}

// Code loaded before the recording began, and after its last sample.
func TestLoad_BeforeAndAfterRecording(t *testing.T) {
	w := newWorld(t)
	w.Comm(100, 4, "prog", true)
	w.Marker(100, 1000, w.path("jit-100.dump"))
	w.expect(100, 1100, 0x10000, "early+0x0")
	w.dump("jit-100.dump", x86(100), load(5, 100, 1, 0x10000, "early", code(64, 1)), load(math.MaxInt64, 100, 2, 0x20000, "late", code(64, 2)))
	if sum := w.check(); sum.Mappings != 2 {
		t.Errorf("%d mappings", sum.Mappings)
	}
}

// A moved function takes its name along.
func TestMove_NameGoesAlong(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 2100, 0x10008, "alpha+0x8")
	w.expect(100, 3100, 0x10008, "") // gone
	w.expect(100, 3100, 0x20008, "alpha+0x8")
	w.expect(100, 4100, 0x20008, "alpha+0x10") // slid by 8
	w.expect(100, 4100, 0x2003f, "")
	w.expect(100, 4100, 0x1fff8, "alpha+0x0")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "alpha", code(64, 1)),
		move(3000, 100, 1, 0x10000, 0x20000, 64),
		move(4000, 100, 1, 0x20000, 0x1fff8, 64))
	if sum := w.check(); sum.Dumps[0].Moved != 2 || sum.Objects != 1 {
		t.Errorf("summary %+v", sum)
	}
}

// What was loaded where a moved function was stays, even if it came before the
// record of the move.
func TestMove_PlaceLoadedBeforeMove(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 4000, 0x10008, "alpha+0x8")
	w.expect(100, 4000, 0x10020, "new+0x0")
	w.expect(100, 5100, 0x10008, "")
	w.expect(100, 5100, 0x10020, "new+0x0")
	w.expect(100, 5100, 0x10038, "")
	w.expect(100, 5100, 0x40020, "alpha+0x20")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "alpha", code(64, 1)),
		load(3000, 100, 2, 0x10020, "new", code(16, 2)),
		move(5000, 100, 1, 0x10000, 0x40000, 64))
	w.check()
}

// An address is used again: later code wins, earlier samples keep what they had.
func TestAddress_UsedAgain(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 2100, 0x10008, "old+0x8")
	w.expect(100, 3100, 0x10008, "new+0x8")
	w.expect(100, 4100, 0x10008, "newest+0x0")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "old", code(64, 1)),
		load(3000, 100, 2, 0x10000, "new", code(32, 2)),
		load(4000, 100, 3, 0x10008, "newest", code(8, 3)))
	w.check()
}

// perf lets the second function of a code_index overwrite the first one's object.
func TestLoad_SameIndexTwice(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x10008, "first+0x8")
	w.expect(100, 3000, 0x20008, "second+0x8")
	w.expect(100, 3000, 0x30008, "third+0x8")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 7, 0x10000, "first", code(64, 1)),
		load(2001, 100, 7, 0x20000, "second", code(64, 2)),
		load(2002, 100, 7, 0x30000, "third", code(64, 3)))
	w.check()
	indexed, made := 0, 0
	for _, path := range objectPaths(t, w.dir) {
		if filepath.Base(path) == "jitted-100-7.so" {
			indexed++
		} else if hasMadeNumber(path) {
			made++
		}
	}
	if indexed != 1 || made != 2 {
		t.Errorf("got %q; want one object with the index, and two with made numbers", objectPaths(t, w.dir))
	}
}

// The same dump mapped twice is one dump.
func TestMarker_SameDumpTwice(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.Marker(100, 1001, w.path("jit-100.dump"))
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 7, 0x10000, "alpha", code(64, 1)))
	if sum := w.check(); sum.Objects != 1 || sum.Mappings != 1 || sum.Dropped != 2 || len(sum.Dumps) != 1 {
		t.Errorf("summary %+v", sum)
	}
}

// Several processes, at the same addresses.
func TestProcesses_SameAddresses(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.mark(200, 1000, "jit-200.dump")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.expect(200, 3000, 0x10008, "beta+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	w.dump("jit-200.dump", x86(200), load(2000, 200, 1, 0x10000, "beta", code(64, 2)))
	w.check()
}

// A child keeps the code that its parent had, and may write into the same dump.
func TestFork_ChildKeepsCode(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.Fork(101, 100, 2500)
	w.expect(100, 4000, 0x10008, "alpha+0x8")
	w.expect(101, 4000, 0x10008, "alpha+0x8")
	w.expect(101, 4000, 0x20008, "child+0x8")
	w.expect(100, 4000, 0x20008, "parent+0x8")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "alpha", code(64, 1)),
		load(3000, 101, 2, 0x20000, "child", code(64, 2)),
		load(3000, 100, 2, 0x20000, "parent", code(64, 3)))
	w.check()
}

// A process in a pid namespace: the dump has the pid from inside.
func TestNamespace_DumpHasInnerPID(t *testing.T) {
	w := newWorld(t)
	w.mark(4711, 1000, "jit-1.dump")
	w.expect(4711, 3000, 0x10008, "alpha+0x8")
	w.dump("jit-1.dump", x86(1), load(2000, 1, 1, 0x10000, "alpha", code(64, 1)))
	w.check()
}

// Anonymous memory that is mapped or changes its protection later must not hide
// code; a file that is mapped there must, and so must what comes before the
// marker, after an exec, or in another process.
func TestMmap_AnonymousOrFileOverCode(t *testing.T) {
	for _, name := range []string{"//anon", "[anon:v8]", "[anon_shmem:jit]", "/memfd:jit (deleted)", "/dev/zero (deleted)", "/SYSV00000000 (deleted)", "/anon_hugepage (deleted)"} {
		w := newWorld(t)
		w.mark(100, 1000, "jit-100.dump")
		w.Mmap2(100, 2500, 0x10000, 0x10000, 0, name)
		w.expect(100, 3000, 0x10008, "alpha+0x8")
		w.dump("jit-100.dump", x86(100), load(2000, 100, 7, 0x10000, "alpha", code(64, 1)))
		if sum := w.check(); sum.Dropped != 2 {
			t.Errorf("%s: %d records left out", name, sum.Dropped)
		}
	}
}

func TestMmap_OtherKindsOverCode(t *testing.T) {
	w := newWorld(t)
	w.Mmap2(100, 500, 0x900000, 0x1000, 0, "//anon")
	w.mark(100, 1000, "jit-100.dump")
	w.Fork(101, 100, 2100)
	w.Mmap2(200, 2200, 0x10000, 0x1000, 0, "//anon") // another process
	w.Mmap2(101, 2200, 0x10000, 0x1000, 0, "//anon") // a child: left out
	put(t, w.path("other.so"), make([]byte, 0x1000))
	var st unix.Stat_t
	if err := unix.Stat(w.path("other.so"), &st); err != nil {
		t.Fatal(err)
	}
	w.Major, w.Minor = unix.Major(st.Dev), unix.Minor(st.Dev)
	w.FileMmap2(100, 2500, 0x20000, 0x1000, 0, w.path("other.so"), st.Ino) // a file
	w.Comm(101, 2600, "other", true)                                       // the child becomes another program
	w.Mmap2(101, 2700, 0x10000, 0x1000, 0, "//anon")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.expect(101, 2300, 0x10008, "alpha+0x8")
	w.expect(100, 3000, 0x20008, "")
	w.expect(101, 3000, 0x10008, "")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)), load(2000, 100, 2, 0x20000, "beta", code(64, 1)))
	sum, err := w.run()
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	if sum.Dropped != 2 {
		t.Errorf("%d records left out, want the marker and the child's memory", sum.Dropped)
	}
	for _, s := range w.wants {
		if got := readMappings(t, w.opts.Output).symbol(t, s); got != s.sym {
			t.Errorf("process %d, time %d: %#x is %q, want %q", s.pid, s.time, s.ip, got, s.sym)
		}
	}
}

// Functions without code need nothing; names of thousands of characters, of
// control characters and of nothing at all work.
func TestLoad_NoCodeOrOddName(t *testing.T) {
	long := strings.Repeat("LongName", 625)
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x10008, long+"+0x8")
	w.expect(100, 3000, 0x20008, "")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, long, code(64, 1)),
		load(2000, 100, 2, 0x20008, "empty", nil),
		move(2500, 100, 2, 0x20008, 0x30000, 0),
		load(2000, 100, 3, 0x40000, "", code(64, 1)))
	if sum := w.check(); sum.Dumps[0].Empty != 1 || sum.Dumps[0].Functions != 3 || sum.Objects != 2 {
		t.Errorf("summary %+v", sum)
	}
}

// Dumps that perf 6.1 reads wrongly or not at all.
func TestDump_PerfMisreads(t *testing.T) {
	a, b := load(2000, 100, 1, 0x10000, "alpha", code(64, 1)), load(2001, 100, 2, 0x20000, "beta", code(64, 2))
	version2 := x86(100)
	version2.Version = 2
	longHeader, longerHeader := x86(100), x86(100)
	longHeader.Extra, longerHeader.Extra = bytes.Repeat([]byte{0xaa}, 24), bytes.Repeat([]byte{0xaa}, 80)
	bigEndian := x86(100)
	bigEndian.Order = binary.BigEndian
	plain := dumpBytes(t, x86(100), a)
	rest := dumpBytes(t, x86(100), b)[40:]
	for name, dump := range map[string][]byte{
		"unknown records":  dumpBytes(t, x86(100), a, timed{2000, &jitdump.Unknown{ID: 99, Body: []byte("who knows")}}, timed{2000, &jitdump.Unknown{ID: 827346260}}, b),
		"records on close": dumpBytes(t, x86(100), a, timed{2000, &jitdump.Close{}}, b),
		"zeros between":    append(append(bytes.Clone(plain), make([]byte, 100)...), rest...),
		"zeros at the end": append(append(bytes.Clone(plain), rest...), make([]byte, 4000)...),
		"version 2":        dumpBytes(t, version2, a, b),
		"header of 64":     dumpBytes(t, longHeader, a, b),
		"header of 120":    dumpBytes(t, longerHeader, a, b),
		"big endian":       dumpBytes(t, bigEndian, a, b),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.mark(100, 1000, "jit-100.dump")
			w.expect(100, 3000, 0x10008, "alpha+0x8")
			w.expect(100, 3000, 0x20008, "beta+0x8")
			if err := os.WriteFile(w.path("jit-100.dump"), dump, 0o644); err != nil {
				t.Fatal(err)
			}
			w.check()
		})
	}
}

// The trailer has what the event asks for.
func TestMappings_EverySampleType(t *testing.T) {
	for _, extra := range []uint64{testrec.CPU, testrec.ID | testrec.StreamID, testrec.Identifier, testrec.Identifier | testrec.CPU | testrec.ID, testrec.Addr} {
		w := newWorld(t)
		w.SampleType |= extra
		w.mark(100, 1000, "jit-100.dump")
		w.expect(100, 3000, 0x10008, "alpha+0x8")
		w.Round()
		w.expect(100, 3100, 0x10008, "alpha+0x8")
		w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
		w.check()
	}
}

// Dumps are looked for where they were, beside the recording, in given places.
func TestLocate_EveryPlace(t *testing.T) {
	for _, place := range []string{"beside", "given"} {
		w := newWorld(t)
		w.mark(100, 1000, "gone/jit-100.dump")
		w.expect(100, 3000, 0x10008, "alpha+0x8")
		name := "jit-100.dump"
		if place == "given" {
			for _, dir := range []string{"one", "two"} {
				if err := os.Mkdir(w.path(dir), 0o755); err != nil {
					t.Fatal(err)
				}
				w.opts.DumpDirs = append(w.opts.DumpDirs, w.path(dir))
			}
			name = "two/" + name
		}
		w.dump(name, x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
		w.check()
		if _, err := os.Stat(filepath.Join(filepath.Dir(w.path(name)), "jitted-100-1.so")); err != nil {
			t.Errorf("%s: the object is not beside the dump: %v", place, err)
		}
	}
}

// Unwind tables in memory behind the code are part of the mapping, but not where
// the next function is: CPython says 84 bytes for trampolines that lie 11 apart.
func TestUnwindTables_BehindCodeInMemory(t *testing.T) {
	tables := func(time uint64) timed {
		return timed{time, &jitdump.Unwinding{HeaderSize: 20, MappedSize: 32, Data: append([]byte{1, 0x1b, 3, 0x3b}, make([]byte, 16)...)}}
	}
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x1003f, "alone+0x3f")
	w.expect(100, 3000, 0x20008, "close+0x8")
	w.expect(100, 3000, 0x20018, "by+0x0")
	w.dump("jit-100.dump", x86(100),
		tables(2000), load(2000, 100, 1, 0x10000, "alone", code(64, 1)),
		tables(2001), load(2001, 100, 3, 0x20018, "by", code(16, 3)),
		tables(2002), load(2002, 100, 2, 0x20000, "close", code(16, 2)))
	w.check()
	got := make(map[uint64]uint64)
	for _, m := range readMappings(t, w.opts.Output).all {
		got[m.Addr] = m.Len
	}
	if got[0x10000] != 64+32 || got[0x20000] != 0x18 || got[0x20018] != 16+32 {
		t.Errorf("lengths of mappings by address: %v", got)
	}
}

// Without times, everything goes to where the marker is.
func TestRecording_NoTimes(t *testing.T) {
	w := newWorld(t)
	w.SampleType = testrec.IP | testrec.TID
	w.Sample(100, 0, 0x10008)
	w.mark(100, 1000, "jit-100.dump")
	w.Sample(100, 0, 0x10008)
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	sum, err := w.run()
	if err != nil || !sum.Complete() || sum.Mappings != 1 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Mappings = 1", asJSON(sum), err)
	}
	var types []perfdata.RecordType
	eachRecord(t, w.opts.Output, func(_ *perfdata.Layouts, rec perfdata.Record) { types = append(types, rec.Type) })
	want := []perfdata.RecordType{perfdata.RecordSample, perfdata.RecordComm, perfdata.RecordMmap2, perfdata.RecordSample}
	if !slices.Equal(types, want) {
		t.Errorf("records %v, want %v", types, want)
	}
}

// What is copied unseen must be where it would be otherwise: every mapping in
// front of the first record that is not older.
func TestRecording_LongUntouchedPart(t *testing.T) {
	dir := testrec.Place(t, "node-fp")
	if err := testrec.Repeat(dir, 30<<20); err != nil {
		t.Fatal(err)
	}
	// Functions that come at any time of it.
	var times []uint64
	last := uint64(0)
	eachRecord(t, filepath.Join(dir, "perf.data"), func(ls *perfdata.Layouts, rec perfdata.Record) {
		if time, ok := ls.Time(rec); ok {
			last = max(last, time)
		}
	})
	dump, err := os.OpenFile(testrec.Dumps(t, dir)[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer dump.Close()
	var pid uint32
	eachRecord(t, filepath.Join(dir, "perf.data"), func(ls *perfdata.Layouts, rec perfdata.Record) {
		if rec.Type == perfdata.RecordMmap2 {
			if m, err := ls.Mmap(rec); err == nil && bytes.Contains(m.Filename, []byte("/jit-")) {
				pid = m.PID
			}
		}
	})
	for i := range uint64(20) {
		times = append(times, last/20*i+last/2)
		more := dumpBytes(t, x86(pid), load(times[i], pid, 100000+i, 0x10000+0x1000*i, fmt.Sprint("late", i), code(64, byte(i))))
		if _, err := dump.Write(more[40:]); err != nil {
			t.Fatal(err)
		}
	}
	in, out := filepath.Join(dir, "perf.data"), filepath.Join(dir, "out.data")
	sum, err := engine.Run(t.Context(), config.Options{Input: in, Output: out})
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	var was, is []string
	eachRecord(t, in, func(_ *perfdata.Layouts, rec perfdata.Record) {
		if rec.Type != perfdata.RecordMmap2 {
			was = append(was, string(rec.Data))
		}
	})
	newest, late := uint64(0), 0
	eachRecord(t, out, func(ls *perfdata.Layouts, rec perfdata.Record) {
		time, timed := ls.Time(rec)
		if rec.Type != perfdata.RecordMmap2 {
			is = append(is, string(rec.Data))
			if timed {
				newest = max(newest, time)
			}
			return
		}
		if m, err := ls.Mmap(rec); err == nil && bytes.Contains(m.Filename, []byte("/jitted-")) {
			if late++; time <= newest {
				t.Errorf("a mapping of time %d behind a record of time %d", time, newest)
			}
		}
	})
	if !slices.Equal(was, is) {
		t.Errorf("%d records were there, %d are, or they are others", len(was), len(is))
	}
	if late != sum.Mappings {
		t.Errorf("%d mappings, %d in the summary", late, sum.Mappings)
	}
}
