package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
)

// dirs makes directories of the world.
func (w *world) dirs(names ...string) {
	w.t.Helper()
	for _, name := range names {
		if err := os.MkdirAll(w.path(name), 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
}

// containers makes a world of two containers with a jit-1.dump each, in processes
// 5000 and 6000, and with code of either at addresses that are the other's nothing.
func containers(t *testing.T, one, two string) *world {
	w := newWorld(t)
	for _, c := range []struct {
		pid  uint32
		path string
		addr uint64
		sym  string
	}{{5000, one, 0x10000000, "alpha"}, {6000, two, 0x90000000, "beta"}} {
		w.Comm(c.pid, 999, "prog", true)
		w.FileMmap2(c.pid, 1000, 0x7f0000000000, 0x1000, 0, w.path(c.path), uint64(c.pid))
		w.Mmap2(c.pid, 1001, c.addr, 0x10000, 0, "//anon")
		w.expect(c.pid, 3000, c.addr+8, c.sym+"+0x8")
	}
	return w
}

func (w *world) alpha(name string) {
	w.dump(name, x86(1), load(2000, 1, 1, 0x10000000, "alpha", code(64, 1)))
}

func (w *world) beta(name string) {
	w.dump(name, x86(1), load(2000, 1, 1, 0x90000000, "beta", code(64, 1)))
}

// Which jit-1.dump is whose is told by addresses, wherever they have been put, and
// whether they had one path or two.
func TestContainers_ToldByAddresses(t *testing.T) {
	for _, two := range []string{"gone/one/jit-1.dump", "gone/two/jit-1.dump"} {
		w := containers(t, "gone/one/jit-1.dump", two)
		w.dirs("dumps/a", "dumps/b")
		w.opts.DumpDirs = []string{w.path("dumps")}
		w.beta("dumps/a/jit-1.dump")
		w.alpha("dumps/b/jit-1.dump")
		w.check()
	}
}

// A file at the recorded path may be another container's.
func TestContainers_PathOfAnother(t *testing.T) {
	w := containers(t, "jit-1.dump", "jit-1.dump")
	w.dirs("dumps")
	w.opts.DumpDirs = []string{w.path("dumps")}
	w.beta("jit-1.dump")
	w.alpha("dumps/jit-1.dump")
	sum := w.check()
	if note := sum.Dumps[0].Note; !strings.Contains(note, "it is in "+w.path("dumps")) || !strings.Contains(note, "none of its code is where process 5000 had executable memory") {
		t.Errorf("note %q", note)
	}
	if sum.Dumps[1].Note != "" {
		t.Errorf("note %q", sum.Dumps[1].Note)
	}
}

// Of two containers only one's dump is there: the other one is missing.
func TestContainers_OneDumpMissing(t *testing.T) {
	w := containers(t, "one/jit-1.dump", "two/jit-1.dump")
	w.wants[0].sym = ""
	w.beta("jit-1.dump")
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	w.resolve(w.opts.Output)
	if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "process 5000: its dump "+w.path("one/jit-1.dump")+" is gone") {
		t.Errorf("problems %v", sum.Problems)
	}
}

// Where addresses say nothing, the one that lies where it was is believed.
func TestLocate_RecordedPlaceWins(t *testing.T) {
	w := newWorld(t)
	w.dirs("one", "two")
	w.mark(5000, 1000, "one/jit-1.dump")
	w.mark(6000, 1000, "two/jit-1.dump")
	w.expect(5000, 3000, 0x10008, "")
	w.expect(6000, 3000, 0x10008, "alpha+0x8")
	w.opts.DumpDirs = []string{w.path("two")}
	w.dump("two/jit-1.dump", x86(1), load(2000, 1, 1, 0x10000, "alpha", code(64, 1)))
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	w.resolve(w.opts.Output)
}

// The dump of a later run has the right name, number and times, but not the
// addresses. If the user knows better, that counts.
func TestLocate_DumpOfLaterRun(t *testing.T) {
	w := containers(t, "jit-1.dump", "gone/jit-1.dump")
	w.dump("jit-1.dump", x86(1), load(2000, 1, 1, 0x50000000, "later", code(64, 1)))
	w.expect(5000, 4000, 0x50000008, "later+0x8")
	w.wants[0].sym, w.wants[1].sym = "", ""
	w.Write(t, w.opts.Input)
	w.fails("jit-1.dump", "none of its code is where process 5000 had executable memory", "`Options.SideFiles{PID: 5000, Path: FILE}`")
	w.opts.SideFiles = []config.SideFile{{PID: 5000, Path: w.path("jit-1.dump")}}
	if _, err := injectAgain(w); err != nil {
		t.Fatal(err)
	}
	w.resolve(w.opts.Output)
}

// A copy is no rival; another file that fits is, and the summary says which was
// taken.
func TestLocate_TwoFilesFit(t *testing.T) {
	for _, copied := range []bool{true, false} {
		w := newWorld(t)
		w.dirs("dumps")
		w.opts.DumpDirs = []string{w.path("dumps")}
		w.mark(100, 1000, "jit-100.dump")
		w.expect(100, 3000, 0x10008, "alpha+0x8")
		w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
		recs := []timed{load(2000, 100, 1, 0x10000, "alpha", code(64, 1))}
		if !copied {
			recs = []timed{load(1999, 100, 1, 0x10000, "alpha", code(64, 1)), load(2001, 100, 2, 0x20000, "beta", code(64, 1))}
		}
		w.dump("dumps/jit-100.dump", x86(100), recs...)
		sum := w.check()
		want := "chosen because it is where it was recorded; " + w.path("dumps/jit-100.dump") + " also fits"
		if copied {
			want = ""
		}
		if sum.Dumps[0].Note != want {
			t.Errorf("note %q, want %q", sum.Dumps[0].Note, want)
		}
	}
}

// A process without a marker has mapped the dump that the user names for it when
// its program began.
func TestLocate_NamedWithoutMarker(t *testing.T) {
	w := newWorld(t)
	w.dirs("odd")
	w.Comm(100, 500, "shell", true)
	w.Comm(100, 1000, "prog", true)
	w.Mmap2(100, 2500, 0x10000, 0x1000, 0, "//anon")
	w.expect(100, 1500, 0x10008, "")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.dump("odd/name", x86(777), load(2000, 777, 1, 0x10000, "alpha", code(64, 1)))
	w.opts.SideFiles = []config.SideFile{{PID: 100, Path: w.path("odd/name")}}
	if sum := w.check(); sum.Markers != 1 || sum.Dropped != 1 {
		t.Errorf("summary %+v", sum)
	}
	for _, c := range []struct {
		named config.SideFile
		words []string
	}{
		{config.SideFile{PID: 101, Path: w.path("odd/name")}, []string{"SideFiles{PID: 101, ", "there is no process 101 in the recording"}},
		{config.SideFile{PID: 100, Path: w.path("odd/none")}, []string{"SideFiles{PID: 100, ", "there is no such file"}},
		{config.SideFile{PID: 100, Path: w.path("perf.data")}, []string{"SideFiles{PID: 100, ", "perf.data", "not a jitdump file"}},
	} {
		w.opts.SideFiles = []config.SideFile{c.named}
		w.fails(c.words...)
	}
}

// V8 can delete its dump at once; someone may have kept it under its name.
func TestLocate_DumpDeletedAtOnce(t *testing.T) {
	w := newWorld(t)
	w.Comm(100, 999, "prog", true)
	w.Marker(100, 1000, "/gone/jit-100.dump (deleted)")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	w.check()
}

// The kernel says in which mount namespace a path counts.
func TestLocate_OtherMountNamespace(t *testing.T) {
	w := newWorld(t)
	w.dirs("dumps/a", "dumps/b")
	w.opts.DumpDirs = []string{w.path("dumps")}
	for _, pid := range []uint32{5000, 6000} {
		w.mark(pid, 1000, "gone/jit-1.dump")
		w.Namespaces(pid, 1001, 1, 2, 3, uint64(pid), 5, uint64(pid))
		w.expect(pid, 3000, 0x10008, "")
	}
	w.alpha("dumps/a/jit-1.dump")
	w.Write(t, w.opts.Input)
	w.fails("process 5000", "process 6000", "belongs to only one of them", "`Options.SideFiles{PID: PID, Path: FILE}`")
}

// attached makes a world of a process and a child that were there before the
// recording, and had the dump mapped.
func attached(t *testing.T, fork bool) *world {
	w := newWorld(t)
	if fork {
		w.Fork(101, 100, 0)
	}
	for _, pid := range []uint32{100, 101} {
		w.Comm(pid, 0, "prog", false)
		w.Mmap2(pid, 0, 0x10000, 0x100000, 0, "//anon")
		w.FileMmap2(pid, 0, 0x7f0000000000, 0x1000, 0, w.path("jit-100.dump"), 7)
	}
	w.Sample(100, 1000, 0x400000)
	w.wants = append(w.wants, want{100, 1000, 0x400000, ""})
	return w
}

// What a process had loaded before the recording began is in its child as well,
// but not what it has loaded since the child is on its own.
func TestAttach_ChildForkedBefore(t *testing.T) {
	for _, fork := range []bool{true, false} {
		w := attached(t, fork)
		for _, pid := range []uint32{100, 101} {
			w.expect(pid, 3000, 0x10008, "before+0x8")
			w.expect(pid, 3000, 0x50008, "moved+0x8")
			w.expect(pid, 3000, 0x40008, "")
		}
		w.expect(100, 3000, 0x20008, "parents+0x8")
		w.expect(101, 3000, 0x20008, "childs+0x8")
		w.expect(100, 3000, 0x30008, "late+0x8")
		w.expect(101, 3000, 0x30008, "")
		w.dump("jit-100.dump", x86(100),
			load(500, 100, 1, 0x10000, "before", code(64, 1)),
			load(501, 100, 2, 0x40000, "moved", code(64, 2)),
			move(502, 100, 2, 0x40000, 0x50000, 64),
			load(600, 101, 3, 0x20000, "childs", code(64, 3)),
			load(700, 100, 3, 0x20000, "parents", code(64, 4)),
			load(2000, 100, 4, 0x30000, "late", code(64, 5)))
		if sum := w.check(); sum.Objects != 5 {
			t.Errorf("summary %+v", sum)
		}
	}
}

// Processes that have the dump at different addresses have not inherited it.
func TestAttach_DumpAtDifferentAddresses(t *testing.T) {
	w := newWorld(t)
	for pid, addr := range map[uint32]uint64{100: 0x7f0000000000, 101: 0x7f1000000000} {
		w.Comm(pid, 0, "prog", false)
		w.FileMmap2(pid, 0, addr, 0x1000, 0, w.path("jit-100.dump"), 7)
		w.Mmap2(pid, 0, 0x10000, 0x1000, 0, "//anon")
	}
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.expect(101, 3000, 0x10008, "")
	w.dump("jit-100.dump", x86(100), load(500, 100, 1, 0x10000, "alpha", code(64, 1)))
	w.check()
}

// Links in the directories that are searched lead nowhere.
func TestLocate_LinkInDumpDir(t *testing.T) {
	w := newWorld(t)
	w.dirs("dumps", "elsewhere")
	w.mark(100, 1000, "gone/jit-100.dump")
	w.expect(100, 3000, 0x10008, "")
	w.opts.DumpDirs = []string{w.path("dumps")}
	w.dump("elsewhere/jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	if err := os.Symlink(w.path("elsewhere"), w.path("dumps/link")); err != nil {
		t.Fatal(err)
	}
	w.Write(t, w.opts.Input)
	w.fails("is gone", filepath.Base(w.path("dumps")))
}

// Where records were lost, the memory that the code lies in may have been in them.
func TestLocate_MmapRecordLost(t *testing.T) {
	w := containers(t, "jit-1.dump", "gone/jit-1.dump")
	w.wants = w.wants[:0]
	w.Raw(2, 0, make([]byte, 32)) // LOST: id, number, and the trailer
	w.expect(5000, 4000, 0x50000008, "there+0x8")
	w.dump("jit-1.dump", x86(1), load(2000, 1, 1, 0x50000000, "there", code(64, 1)))
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	for _, s := range w.wants {
		if got := readMappings(t, w.opts.Output).symbol(t, s); got != s.sym {
			t.Errorf("process %d: %#x is %q, want %q", s.pid, s.ip, got, s.sym)
		}
	}
}
