package engine_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// Where memory is mapped at a function's place, in its process or in a forked child, other memory ends the
// function, and the same memory does not.
func TestRemap_Rules(t *testing.T) {
	const at, length = 0x10000, 0x4000
	private := func(w *world, pid uint32, time uint64) { w.Mmap2(pid, time, at, length, at, "//anon") }
	writable := func(w *world, pid uint32, time uint64) {
		w.Writable = true
		private(w, pid, time)
		w.Writable = false
	}
	shared := func(inode uint64) func(*world, uint32, uint64) {
		return func(w *world, pid uint32, time uint64) { w.SharedMmap2(pid, time, at, length, 0x8000, inode) }
	}
	memfd := func(off uint64) func(*world, uint32, uint64) {
		return func(w *world, pid uint32, time uint64) {
			w.FileMmap2(pid, time, at, length, off, "/memfd:code (deleted)", 9)
		}
	}
	for _, c := range []struct {
		name         string
		first, again func(w *world, pid uint32, time uint64)
		own, child   bool // whether the function stays there
	}{
		{"mprotect of private memory", private, private, true, true},
		{"mprotect that makes it writable", private, writable, true, true},
		{"private memory that needs no mprotect", writable, writable, true, false},
		{"mprotect of shared memory", shared(7), shared(7), true, true},
		{"mprotect of a part", shared(7), func(w *world, pid uint32, time uint64) { w.SharedMmap2(pid, time, at, 0x1000, 0x8000, 7) }, true, true},
		{"other shared memory", shared(7), shared(8), false, false},
		{"another part of it", shared(7), func(w *world, pid uint32, time uint64) { w.SharedMmap2(pid, time, at, length, 0, 7) }, false, false},
		{"private over shared memory", shared(7), private, false, false},
		{"shared over private memory", private, shared(7), false, false},
		{"a part, beside the function", private, func(w *world, pid uint32, time uint64) { w.SharedMmap2(pid, time, at+0x1000, 0x1000, 0, 7) }, true, true},
		{"a private mapping of a memfd again", memfd(0), memfd(0), true, true},
		{"another part of a memfd", memfd(0), memfd(0x4000), false, false},
		{"memory of an old perf, without inodes", shared(0), private, true, true},
	} {
		for _, stacks := range []uint64{0, testrec.StackUser} {
			t.Run(fmt.Sprintf("%s/%d", c.name, stacks), func(t *testing.T) {
				w := newWorld(t)
				w.SampleType |= stacks
				expect := func(pid uint32, time uint64, there bool) {
					old, early := "old+0x8", "early+0x8"
					if !there {
						old, early = "", ""
					}
					w.expect(pid, time, 0x10008, old)
					w.expect(pid, time, 0x10108, early)
				}
				w.mark(100, 1000, "jit-100.dump")
				c.first(w, 100, 1100)
				expect(100, 1900, true)
				w.Fork(101, 100, 2000)
				expect(101, 2100, true)
				c.again(w, 101, 2200)
				expect(101, 2300, c.child)
				w.Fork(102, 101, 2400)
				expect(102, 2450, c.child)
				expect(100, 2500, true)
				w.expect(101, 2650, 0x10208, "childs+0x8")
				c.again(w, 100, 2700)
				expect(100, 2800, c.own)
				w.expect(100, 3100, 0x10008, "new+0x8")
				w.dump("jit-100.dump", x86(100),
					load(1200, 100, 1, 0x10000, "old", code(64, 1)),
					load(1210, 100, 2, 0x10100, "early", code(64, 2)),
					load(2600, 101, 3, 0x10200, "childs", code(64, 3)),
					load(3000, 100, 4, 0x10000, "new", code(64, 4)))
				w.check()
			})
		}
	}
}

// Without -k mono, functions appear a little early. One that may have been loaded after the mapping stays.
func TestRemap_RoughClock(t *testing.T) {
	w := unclocked(t)
	w.Mmap2(100, in(at(1)), 0x10000, 0x30000, 0x10000, "//anon")
	w.SharedMmap2(100, in(at(12)), 0x10000, 0x30000, 0, 7)
	w.expect(100, in(at(9)), 0x10008, "before+0x8")
	w.expect(100, in(at(13)), 0x20008, "after+0x8")
	w.expect(100, in(at(30)), 0x10008, "")
	w.expect(100, in(at(31)), 0x20008, "after+0x8")
	w.dump("jit-100.dump", x86(100),
		load(at(5), 100, 1, 0x10000, "before", code(64, 1)),
		load(at(12), 100, 2, 0x20000, "after", code(64, 2)))
	w.check()
}

// A program without a dump that maps the memory of one with a dump keeps the names, however often it maps
// that. Where it maps other memory, the names end, and come back with the memory.
func TestRemap_SharerWithoutDump(t *testing.T) {
	w := workers(t)
	w.Comm(200, 900, "another", true)
	for time := uint64(950); time < 1000; time += 10 {
		w.SharedMmap2(200, time, sharedBuffer, 0x1000, 0x8000000, sharedInode)
	}
	w.expect(200, 2100, 0x10008, "theirs+0x8")
	w.SharedMmap2(200, 2200, sharedBuffer, sharedLength, 0x8000000, sharedInode)
	w.expect(200, 2300, 0x10008, "theirs+0x8")
	w.expect(200, 2300, 0x12008, "more+0x8")
	w.Mmap2(200, 2400, sharedBuffer, sharedLength, sharedBuffer, "//anon")
	w.expect(200, 2500, 0x10008, "")
	w.SharedMmap2(200, 2600, sharedBuffer, sharedLength, 0x8000000, sharedInode)
	w.expect(200, 2700, 0x10008, "theirs+0x8")
	w.Fork(201, 200, 2800)
	w.SharedMmap2(201, 2900, sharedBuffer, sharedLength, 0x8000000, sharedInode)
	w.expect(201, 3000, 0x10008, "theirs+0x8")
	w.expect(201, 3000, 0x12008, "more+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "theirs", code(64, 1)), load(2010, 100, 2, 0x12000, "more", code(64, 2)))
	w.check()
}

// Memory in place of a library clears the library, except where code was written before the memory became
// executable.
func TestRemap_MemoryInPlaceOfFile(t *testing.T) {
	const at = 0x7f5500001000
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.FileMmap2(100, 1200, at, 0x2000, 0, w.path("lib.so"), 77)
	w.Mmap2(100, 1400, at, 0x1000, at, "//anon")
	w.expect(100, 1500, at+0x108, "written+0x8")
	w.expect(100, 2500, at+0x208, "later+0x8")
	w.expect(100, 2600, at+0x308, "")
	w.dump("jit-100.dump", x86(100), load(1300, 100, 1, at+0x100, "written", code(64, 1)), load(2000, 100, 2, at+0x200, "later", code(64, 2)))
	w.check()
	var cleared []addrs.Range
	eachRecord(t, w.opts.Output, func(ls *perfdata.Layouts, rec perfdata.Record) {
		if m, err := ls.Mmap(rec); rec.Type == perfdata.RecordMmap2 && err == nil && string(m.Filename) == "//anon" {
			cleared = append(cleared, addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len})
		}
	})
	if want := []addrs.Range{{Lo: at, Hi: at + 0x100}, {Lo: at + 0x140, Hi: at + 0x1000}}; !slices.Equal(cleared, want) {
		t.Errorf("got %x cleared; want %x", cleared, want)
	}
}

// perf keeps at an exec what a process had mapped before. Without randomized addresses, the next program's memory
// is at the same ones, so it ends what was there: in a child as in the process itself.
func TestRemap_MemoryAfterExec(t *testing.T) {
	const at, file = 0x10000, 0x30000
	for _, pid := range []uint32{100, 101} {
		w := newWorld(t)
		w.FileMmap2(100, 900, file, 0x1000, 0, w.path("lib.so"), 77)
		w.mark(100, 1000, "jit-100.dump")
		w.Mmap2(100, 1100, at, 0x4000, at, "//anon")
		w.expect(100, 1900, at+0x8, "old+0x8")
		if pid != 100 {
			w.Fork(pid, 100, 2000)
			w.expect(pid, 2050, at+0x8, "old+0x8")
		}
		next := fmt.Sprintf("next/jit-%d.dump", pid)
		if err := os.Mkdir(w.path("next"), 0o755); err != nil {
			t.Fatal(err)
		}
		w.mark(pid, 2200, next)
		w.Mmap2(pid, 2300, at, 0x4000, at, "//anon")
		w.Mmap2(pid, 2310, file, 0x1000, file, "//anon")
		for _, later := range []uint64{2400, 3100} {
			w.expect(pid, later, at+0x8, "")
			w.expect(pid, later, at+0x108, "written+0x8")
		}
		w.expect(pid, 3100, at+0x208, "compiled+0x8")
		w.dump("jit-100.dump", x86(100), load(1200, 100, 1, at, "old", code(64, 1)), load(1210, 100, 2, at+0x200, "older", code(64, 2)))
		w.dump(next, x86(pid), load(2250, pid, 1, at+0x100, "written", code(64, 3)), load(3000, pid, 2, at+0x200, "compiled", code(64, 4)))
		w.check()
		m, name := readMappings(t, w.opts.Output), ""
		for i := range m.all {
			if mm := &m.all[i]; mm.Addr == file && m.has(pid, 3100, mm) {
				name = string(mm.Filename)
			}
		}
		if name != "//anon" {
			t.Errorf("process %d, at the place of a file before the exec: got %q; want //anon", pid, name)
		}
	}
}

// A real program, with a child and another program that shares its memory, says which code ran when. No
// sample has a wrong name, and each one in a function of the dump has its name. Private memory that is mapped
// again in the same process looks the same (old_same): perf inject has the old name there, too.
func TestRemap_Real(t *testing.T) {
	dir := testrec.Unpack(t, "remapped")
	in := filepath.Join(dir, "perf.data")
	text, err := os.ReadFile(filepath.Join(dir, "truth.txt"))
	if err != nil {
		t.Fatal(err)
	}
	type stretch struct {
		pid        uint32
		begin, end float64
		addr       uint64
		name       string
	}
	var truth []stretch
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var s stretch
		if _, err := fmt.Sscanf(lines.Text(), "%d %f %f %x %s", &s.pid, &s.begin, &s.end, &s.addr, &s.name); err != nil {
			t.Fatalf("%q: %v", lines.Text(), err)
		}
		truth = append(truth, s)
	}
	for _, opts := range []config.Options{{}, {Bundle: true}, {Sampled: true}} {
		opts.Input, opts.Output = in, filepath.Join(dir, "out.data")
		if _, err := engine.Run(context.Background(), opts); err != nil {
			t.Fatal(err)
		}
		for version, perf := range testrec.Perfs(t) {
			right, processes := 0, make(map[uint32]bool)
			for line := range strings.Lines(testrec.Run(t, dir, perf, "script", "-G", "--ns", "-F", "pid,time,ip,sym", "-i", opts.Output)) {
				var pid uint32
				var time float64
				var ip uint64
				var name string
				if n, _ := fmt.Sscanf(line, "%d %f: %x %s", &pid, &time, &ip, &name); n < 4 {
					continue
				}
				for _, s := range truth {
					if s.pid != pid || time*1e9 < s.begin || time*1e9 > s.end || ip < s.addr || ip >= s.addr+64 {
						continue
					}
					want := strings.Replace(s.name, "-", "[unknown]", 1)
					if name != want && !(s.name == "-" && name == "old_same" && pid == truth[0].pid) {
						t.Errorf("perf %s, %+v: process %d at %.6f, %#x: got %s; want %s", version, opts, pid, time, ip, name, want)
						continue
					}
					right++
					processes[pid] = true
				}
			}
			if right < 300 || len(processes) != 4 {
				t.Errorf("perf %s: got %d samples of %d processes; want more than 300 of 4", version, right, len(processes))
			}
		}
	}
}
