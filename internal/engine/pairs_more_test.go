package engine_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// A dump without code gets it from the memory of its process.
func TestPairs_DumpAndMemory(t *testing.T) {
	all := pairFunctions(t)
	p := newPairWorld(t)
	p.Marker(lliProcess, pairStart+50*pairTick, p.path(lliDump))
	var recs []timed
	for i, f := range all {
		name := "other_" + f.name // which the objects contradict
		recs = append(recs, timed{f.time, &jitdump.Load{PID: lliProcess, TID: lliProcess, VMA: f.addr, CodeAddr: f.addr, CodeSize: uint64(len(f.code)), CodeIndex: uint64(i), Name: []byte(name)}})
	}
	p.dump(lliDump, x86(lliProcess), recs...)
	p.putCore(nil)
	sum, err := p.run()
	if err != nil || len(sum.Dumps) != 1 || sum.Dumps[0].WithoutCode != 0 || sum.Dumps[0].Unwind.Derived != 3 {
		t.Fatalf("got %s, %v; want a dump with code and derived tables", asJSON(sum), err)
	}
	m := readMappings(t, p.opts.Output)
	for _, f := range all {
		if got, want := p.at(m, pairLate, f.addr+4), (described{name: "other_" + f.name, code: true, tables: true}); got != want {
			t.Errorf("got %+v; want %+v", got, want)
		}
	}
}

// A capture describes its own method, and not an overload that was at the same place at nearly that time.
func TestPairs_Overloads(t *testing.T) {
	p := newPairWorld(t)
	f := pairFunctions(t)[0]
	f.name, f.time = "first", pairStart+140*pairTick
	p.putCaptures([]pairFunction{f})
	f.opaque, f.name, f.time = true, "App.first(I)V", pairStart+100*pairTick
	later := f
	later.name, later.time = "App.first(J)V", pairStart+160*pairTick
	p.putDump([]pairFunction{f, later})
	if _, err := p.run(); err != nil {
		t.Fatal(err)
	}
	m := readMappings(t, p.opts.Output)
	for after, want := range map[uint64]described{110: {name: f.name, code: true, lines: true, tables: true}, 170: {name: later.name, code: true, tables: true}} {
		got := p.at(m, pairStart+after*pairTick, f.addr+4)
		if got.inlines = false; got != want {
			t.Errorf("%d ticks after the start: got %+v; want %+v", after, got, want)
		}
	}
}

// Of two functions at one place, a map describes the one with its name, also if the other came later and its source
// has made up a name.
func TestPairs_NameMadeUp(t *testing.T) {
	p := newPairWorld(t)
	f := pairFunctions(t)[0]
	f.name = "App:first (int)"
	helper := f
	helper.name, helper.time = "", f.time+100*pairTick
	p.putDump([]pairFunction{f, helper})
	p.putMap([]pairFunction{f})
	if _, err := p.run(); err != nil {
		t.Fatal(err)
	}
	if got := p.at(readMappings(t, p.opts.Output), pairLate, f.addr+4).name; got == f.name {
		t.Errorf("got %q; want another name", got)
	}
}

// Of two cores, the second adds functions. Functions that contradict each other are left out of both.
func TestPairs_TwoCores(t *testing.T) {
	for name, c := range map[string]struct {
		change func(core []byte)
		want   []string
	}{
		"the same": {func([]byte) {}, []string{"first", "second", "main"}},
		"another name": {func(core []byte) {
			for at := bytes.Index(core, []byte("\x00second\x00")); at >= 0; at = bytes.Index(core, []byte("\x00second\x00")) {
				copy(core[at+1:], "others")
			}
		}, []string{"first", "", "main"}},
	} {
		p := newPairWorld(t)
		p.putCore(nil)
		core := testrec.Gunzip(t, lliData+"lli.core.gz")
		c.change(core)
		put(t, p.path("two.core"), core)
		p.opts.CodeFrom = append(p.opts.CodeFrom, p.path("two.core"))
		sum, err := p.run()
		if err != nil || len(sum.Dumps) != 1 {
			t.Fatalf("%s: got %s, %v; want one dump", name, asJSON(sum), err)
		}
		m := readMappings(t, p.opts.Output)
		for i, addr := range pairPlaces {
			if got := p.at(m, pairLate, addr+4).name; got != c.want[i] {
				t.Errorf("%s: got %q at %#x; want %q", name, got, addr, c.want[i])
			}
		}
	}
}

// Isolates of V8 use memory one after another. Their logs do not contradict each other.
func TestPairs_TwoLogs(t *testing.T) {
	p := newPairWorld(t)
	p.prefix = "Builtin:"
	one := pairFunction{name: "one", addr: pairMemory, time: pairStart + 100*pairTick, code: make([]byte, 64)}
	two := one
	two.name, two.time = "two", pairStart+300*pairTick
	p.putLogOf(1, []pairFunction{one})
	p.putLogOf(2, []pairFunction{two})
	p.expect(lliProcess, pairStart+99*pairTick, pairMemory+4, "")
	p.expect(lliProcess, pairStart+200*pairTick, pairMemory+4, "Builtin:one+0x4")
	p.expect(lliProcess, pairStart+400*pairTick, pairMemory+4, "Builtin:two+0x4")
	sum, err := p.run()
	if err != nil || len(sum.Dumps) != 2 || len(sum.Problems) > 0 {
		t.Fatalf("got %s, %v; want two logs without problems", asJSON(sum), err)
	}
	p.resolve(p.opts.Output)
}

// A log with a time after its process's end may be a copy. Without random addresses, it may be of a later run.
func TestPairs_LaterLog(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		p := newPairWorld(t)
		p.prefix = "Builtin:"
		p.Wall, p.Clock = uint64(time.Now().Add(-time.Hour).UnixNano()), pairStart
		if fixed {
			p.Mmap2(lliProcess, pairStart+70, 0x7ffff7d00000, 0x1000, 0, "/lib/ld.so")
		}
		p.putLog(pairFunctions(t))
		p.Exit(lliProcess, lliProcess, pairLate)
		tomorrow := time.Now().Add(24 * time.Hour)
		if err := os.Chtimes(p.path(fmt.Sprintf("isolate-0x1-%d-v8.log", lliProcess)), tomorrow, tomorrow); err != nil {
			t.Fatal(err)
		}
		if sum, err := p.run(); err != nil || len(sum.Dumps) > 0 == fixed {
			t.Errorf("fixed addresses %v: got %s, %v; want it used without them only", fixed, asJSON(sum), err)
		}
	}
}

// A dump says nothing of the program that its process runs later.
func TestPairs_MapOfALaterProgram(t *testing.T) {
	w := newMapWorld(t)
	w.mark(mapPID, 950, "jit-1.dump")
	w.Mmap2(mapPID, 960, 0x7f1200000000, 0x10000, 0, "//anon")
	w.dump("jit-1.dump", x86(mapPID), load(970, mapPID, 1, 0x7f1200000000, "former", code(64, 1)))
	w.expect(mapPID, 980, 0x7f1200000010, "former+0x10")
	w.mapFile(fmt.Sprintf("perf-%d.map", mapPID), "7f1200000000 40 latter")
	w.opts.SideFiles = []config.SideFile{{Kind: formats.PerfMap, PID: mapPID, Path: w.path(fmt.Sprintf("perf-%d.map", mapPID))}}
	w.Comm(mapPID, 990, "prog", true)
	w.Mmap2(mapPID, 1000, 0x7f1200000000, 0x10000, 0, "//anon")
	w.expect(mapPID, 2000, 0x7f1200000010, "latter+0x10")
	sum, err := w.run()
	if err != nil || !sum.Complete() {
		t.Errorf("got %s, %v; want nothing missing", asJSON(sum), err)
	}
	w.resolve(w.opts.Output)
}

// A line of a map that is longer than the dump's function at its start names the rest: HotSpot's map has the stubs
// of its "VM_Version stub" in one, and the dump the first of them.
func TestPairs_LineBeyondAFunction(t *testing.T) {
	w := newMapWorld(t)
	w.mark(mapPID, 950, "jit-1.dump")
	w.Mmap2(mapPID, 960, 0x7f1200000000, 0x10000, 0, "//anon")
	w.dump("jit-1.dump", x86(mapPID),
		load(970, mapPID, 1, 0x7f1200000000, "get_cpu_info_stub", code(64, 1)),
		load(970, mapPID, 2, 0x7f1200000100, "flush_icache_stub", code(64, 2)),
		load(970, mapPID, 3, 0x7f1200000160, "further", code(64, 3)))
	w.mapFile(fmt.Sprintf("perf-%d.map", mapPID), "7f1200000000 80 VM_Version stub", "7f1200000100 80 flush_icache_stub")
	for at, name := range map[uint64]string{0: "get_cpu_info_stub", 0x40: "VM_Version stub", 0x100: "flush_icache_stub", 0x140: "flush_icache_stub", 0x170: "further"} {
		sym := name + "+0x8"
		if at == 0x170 {
			sym = name + "+0x18"
		}
		w.expect(mapPID, 2000+at, 0x7f1200000008+at, sym)
	}
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	w.resolve(w.opts.Output)
}

// A log describes what the end of a cut dump lacks: another tier of a function, at the place where an earlier one was.
// Their names differ in the mark of the tier only.
func TestPairs_OtherTierAtThePlace(t *testing.T) {
	p := newPairWorld(t)
	f := pairFunctions(t)[0]
	f.opaque, f.name, f.time, f.code = true, "JS:^f a.js:1:20", pairStart+100*pairTick, make([]byte, 64)
	p.putDump([]pairFunction{f})
	p.putLog(nil)
	path := onlyFile(t, p.dir, "isolate-*.log")
	lines := string(read(t, path))
	for _, c := range []struct {
		ticks uint64
		size  int
		tier  string
	}{{100, 64, "^"}, {300, 96, "*"}} {
		lines += fmt.Sprintf("code-creation,JS,2,%d,%#x,%d,f a.js:1:20,0x40,%s\n", (c.ticks-80)*pairTick/1000, f.addr, c.size, c.tier)
	}
	put(t, path, []byte(lines))
	if _, err := p.run(); err != nil {
		t.Fatal(err)
	}
	m := readMappings(t, p.opts.Output)
	for ticks, want := range map[uint64]string{200: "JS:^f a.js:1:20", 400: "JS:*f a.js:1:20"} {
		if got := p.at(m, pairStart+ticks*pairTick, f.addr+4); got.name != want {
			t.Errorf("%d ticks after the start: got %q; want %q", ticks, got.name, want)
		}
	}
}
