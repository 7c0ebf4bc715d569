package engine_test

import (
	"context"
	"maps"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// sharedBuffer is where the tests' processes map the memory that they share.
const sharedBuffer, sharedLength, sharedInode = 0x10000, 0x10000, 77

// workers is a server, 100, that maps memory and forks workers, as PHP's does.
func workers(t *testing.T, pids ...uint32) *world {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.SharedMmap2(100, 1100, sharedBuffer, sharedLength, 0x8000000, sharedInode)
	for _, pid := range pids {
		w.Fork(pid, 100, 1900)
	}
	return w
}

// A function that one worker compiles into shared memory is in all workers, also in those that are forked
// later.
func TestShared_WorkersRunEachOthersCode(t *testing.T) {
	w := workers(t, 101, 102)
	for _, pid := range []uint32{100, 101, 102} {
		w.expect(pid, 2500, 0x10008, "first+0x8")
	}
	w.expect(102, 3500, 0x10108, "second+0x8")
	w.Exit(102, 102, 3600)
	w.Fork(103, 100, 4000)
	for _, pid := range []uint32{100, 101, 103} {
		w.expect(pid, 5500, 0x10008, "first+0x8")
		w.expect(pid, 5500, 0x10108, "second+0x8")
		w.expect(pid, 5500, 0x10208, "third+0x8")
	}
	w.dump("jit-100.dump", x86(100),
		load(2000, 101, 1, 0x10000, "first", code(64, 1)),
		load(3000, 102, 1, 0x10100, "second", code(64, 2)),
		load(5000, 101, 2, 0x10200, "third", code(64, 3)))
	if sum := w.check(); sum.Mappings != 3+3+3 {
		t.Errorf("%d mappings; want one of each function in each process that has it, and is not forked later or over", sum.Mappings)
	}
}

// A function that replaces another one in shared memory replaces it in all processes.
func TestShared_Replaced(t *testing.T) {
	w := workers(t, 101, 102)
	w.expect(102, 2500, 0x10008, "early+0x8")
	for _, pid := range []uint32{100, 101, 102} {
		w.expect(pid, 3500, 0x10008, "later+0x8")
	}
	w.dump("jit-100.dump", x86(100),
		load(2000, 101, 1, 0x10000, "early", code(64, 1)),
		load(3000, 102, 1, 0x10000, "later", code(64, 2)))
	w.check()
}

// Memory that a child got by its fork, and does not share, has the child's code for the child only.
func TestShared_PrivateMemoryOfChildren(t *testing.T) {
	w := workers(t, 101, 102)
	w.Mmap2(100, 1200, 0x40000, 0x1000, 0, "//anon")
	w.expect(100, 2500, 0x40008, "parents+0x8")
	w.expect(101, 2500, 0x40008, "")
	w.expect(101, 3500, 0x40108, "childs+0x8")
	w.expect(100, 3500, 0x40108, "")
	w.expect(102, 3500, 0x40108, "")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x40000, "parents", code(64, 1)),
		load(3000, 101, 1, 0x40100, "childs", code(64, 2)))
	w.check()
}

// A worker that has called exec, or has mapped something else there, has nothing of the memory left.
// A process that maps other shared memory at the same address, or the same memory elsewhere, never had
// the code.
func TestShared_OtherMemory(t *testing.T) {
	w := workers(t, 101, 102, 103, 104)
	w.Comm(102, 1950, "other", true)
	w.FileMmap2(103, 1950, sharedBuffer, 0x1000, 0, "/usr/lib/x.so", 5)
	w.SharedMmap2(104, 1950, sharedBuffer, sharedLength, 0x8000000, sharedInode+1)
	w.Comm(200, 900, "another", true)
	w.SharedMmap2(200, 950, sharedBuffer, sharedLength, 0x8001000, sharedInode)
	w.expect(100, 2500, 0x10008, "theirs+0x8")
	for _, pid := range []uint32{102, 104, 200} {
		w.expect(pid, 2500, 0x10008, "")
	}
	w.dump("jit-100.dump", x86(100), load(2000, 101, 1, 0x10000, "theirs", code(64, 1)))
	if sum := w.check(); sum.Mappings != 2 {
		t.Errorf("%d mappings; want 2, in processes 100 and 101", sum.Mappings)
	}
}

// A process that maps the memory after the code was made has it from then on.
func TestShared_MappedLater(t *testing.T) {
	w := workers(t)
	w.Comm(200, 900, "another", true)
	w.expect(200, 2500, 0x10008, "")
	w.SharedMmap2(200, 3000, sharedBuffer, 0x1000, 0x8000000, sharedInode)
	w.SharedMmap2(200, 4000, sharedBuffer+0x1000, 0x1000, 0x8001000, sharedInode)
	w.expect(200, 5000, 0x10008, "later+0x8")
	w.expect(200, 5000, 0x11008, "second+0x8")
	w.expect(200, 5000, 0x12008, "")
	w.expect(100, 5000, 0x12008, "third+0x8")
	w.dump("jit-100.dump", x86(100),
		load(2000, 100, 1, 0x10000, "early", code(64, 1)),
		load(2100, 100, 2, 0x10000, "later", code(64, 2)),
		load(3500, 100, 3, 0x11000, "second", code(64, 3)),
		load(3600, 100, 4, 0x12000, "third", code(64, 4)))
	w.check()
}

// Memory that is made writable and executable in turns is mapped again each time, by one process.
func TestShared_MappedAgain(t *testing.T) {
	w := workers(t, 101, 102)
	for i := range uint64(5) {
		w.SharedMmap2(101, 2000+100*i, sharedBuffer, 0x4000, 0x8000000, sharedInode)
	}
	for _, pid := range []uint32{100, 101, 102} {
		w.expect(pid, 2600, 0x10008, "often+0x8")
	}
	w.dump("jit-100.dump", x86(100), load(2050, 101, 1, 0x10000, "often", code(64, 1)))
	if sum := w.check(); sum.Mappings != 3 {
		t.Errorf("%d mappings; want 3", sum.Mappings)
	}
}

// Processes from before the recording have their memory from its beginning. perf record knows no
// generations of inodes there.
func TestShared_BeforeTheRecording(t *testing.T) {
	w := newWorld(t)
	for _, pid := range []uint32{100, 101, 102} {
		w.Comm(pid, 0, "prog", false)
		if pid != 100 {
			w.Fork(pid, 100, 0)
		}
		w.SharedMmap2(pid, 0, sharedBuffer, sharedLength, 0x8000000, sharedInode)
		w.Marker(pid, 0, w.path("jit-100.dump"))
	}
	for _, pid := range []uint32{100, 101, 102} {
		w.expect(pid, 2500, 0x10008, "before+0x8")
		w.expect(pid, 3500, 0x10108, "since+0x8")
	}
	w.dump("jit-100.dump", x86(100),
		load(500, 102, 1, 0x10000, "before", code(64, 1)),
		load(3000, 101, 1, 0x10100, "since", code(64, 2)))
	w.check()
}

// Workers in a container write their numbers there, which the recording does not know. Where code lies
// in the server's shared memory, that does not matter.
func TestShared_NumbersOfContainers(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-1.dump")
	w.SharedMmap2(100, 1100, sharedBuffer, sharedLength, 0, sharedInode)
	w.Fork(101, 100, 1900)
	w.Fork(102, 100, 1900)
	for _, pid := range []uint32{100, 101, 102} {
		w.expect(pid, 2500, 0x10208, "servers+0x8")
		w.expect(pid, 2500, 0x10008, "first+0x8")
		w.expect(pid, 3500, 0x10108, "second+0x8")
	}
	w.dump("jit-1.dump", x86(1),
		load(1500, 1, 1, 0x10200, "servers", code(64, 3)),
		load(2000, 8, 1, 0x10000, "first", code(64, 1)),
		load(3000, 9, 1, 0x10100, "second", code(64, 2)))
	w.check()
}

// Only one worker is recorded (perf record -p). It has what the others compile.
func TestShared_OneWorkerRecorded(t *testing.T) {
	w := newWorld(t)
	w.Comm(102, 0, "prog", false)
	w.SharedMmap2(102, 0, sharedBuffer, sharedLength, 0, sharedInode)
	w.Marker(102, 0, w.path("jit-100.dump"))
	for _, c := range []struct {
		addr uint64
		name string
	}{{0x10008, "servers"}, {0x10108, "others"}, {0x10208, "its"}} {
		w.expect(102, 5000, c.addr, c.name+"+0x8")
	}
	w.dump("jit-100.dump", x86(100),
		load(500, 100, 1, 0x10000, "servers", code(64, 1)),
		load(2000, 101, 1, 0x10100, "others", code(64, 2)),
		load(3000, 102, 1, 0x10200, "its", code(64, 3)))
	w.check()
}

// Real workers: of a program whose first one compiles two functions, and of PHP's servers, where any one
// may. php-fpm was recorded without -k mono: the workers' times bound the clock. perf shows a name for each sample in the memory that they share, in each process.
func TestShared_RealWorkers(t *testing.T) {
	for name, processes := range map[string]int{"shared-code": 3, "php-workers": 5, "php-fpm": 4} {
		dir := testrec.Unpack(t, name)
		in, out := filepath.Join(dir, "perf.data"), filepath.Join(dir, "out.data")
		var lo, hi uint64
		eachRecord(t, in, func(ls *perfdata.Layouts, rec perfdata.Record) {
			if rec.Type == perfdata.RecordMmap2 {
				if m, err := ls.Mmap(rec); err == nil && strings.HasPrefix(string(m.Filename), "/dev/zero") && m.Prot&4 != 0 {
					lo, hi = m.Addr, m.Addr+m.Len
				}
			}
		})
		if hi == 0 {
			t.Fatalf("%s: no shared memory", name)
		}
		sum, err := engine.Run(context.Background(), config.Options{Input: in, Output: out})
		if err != nil || !sum.Complete() {
			t.Fatalf("%s: got %s, %v; want no error, nothing missing", name, asJSON(sum), err)
		}
		for version, perf := range testrec.Perfs(t) {
			resolved, all := make(map[string]int), make(map[string]int)
			for line := range strings.Lines(testrec.Run(t, dir, perf, "script", "-G", "-F", "pid,ip,sym", "-i", out)) {
				f := strings.Fields(line)
				if len(f) < 2 {
					continue
				}
				if ip, err := strconv.ParseUint(f[1], 16, 64); err != nil || ip < lo || ip >= hi {
					continue
				}
				all[f[0]]++
				if len(f) > 2 && f[2] != "[unknown]" {
					resolved[f[0]]++
				}
			}
			if len(all) != processes || !maps.Equal(resolved, all) {
				t.Errorf("%s, perf %s: %v of %v samples have names, by process; want all, of %d processes", name, version, resolved, all, processes)
			}
		}
		if n := sum.Samples; n.InJIT == 0 || n.Resolved != n.InJIT {
			t.Errorf("%s: the summary counts %+v", name, *n)
		}
	}
}
