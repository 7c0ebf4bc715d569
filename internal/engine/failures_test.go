package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// Every failure that perf inject answers with a broken output or not at all, and more:
// one clear sentence with file, offset and what to do, and nothing half-written.

// files lists a directory with sizes, to see whether a failure left something.
func files(t *testing.T, dir string) string {
	t.Helper()
	var s strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		if !d.IsDir() {
			fmt.Fprintln(&s, path, info.Size())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.String()
}

// fails runs and wants an error with the given words, an old output untouched
// and no new file anywhere.
func (w *world) fails(words ...string) {
	w.t.Helper()
	before := files(w.t, w.dir)
	sum, err := engine.Run(context.Background(), w.opts)
	if err == nil {
		w.t.Errorf("it worked: %+v", sum)
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			w.t.Errorf("the error does not say %q: %v", word, err)
		}
	}
	if after := files(w.t, w.dir); after != before {
		w.t.Errorf("files before:\n%safter:\n%s", before, after)
	}
}

// ready makes a world that works.
func ready(t *testing.T) *world {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	w.Write(t, w.opts.Input)
	return w
}

func put(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestInput_Unusable(t *testing.T) {
	for _, c := range []struct {
		name  string
		make  func(w *world)
		words []string
	}{
		{"missing", func(w *world) { os.Remove(w.opts.Input) }, []string{"perf.data", "no such file"}},
		{"empty", func(w *world) { put(t, w.opts.Input, nil) }, []string{"perf.data", "it is empty", "Options.Input"}},
		{"text", func(w *world) { put(t, w.opts.Input, []byte("this is no recording\n")) }, []string{"perf.data", `begins with "this is "`, "Options.Input"}},
		{"what perf inject leaves behind", func(w *world) { put(t, w.opts.Input, make([]byte, 4096)) }, []string{"all zeros", "stopped before the end"}},
		{"a directory", func(w *world) { w.opts.Input = w.dir }, []string{"directory", "without a file called data"}},
		{"cut", func(w *world) {
			b, _ := os.ReadFile(w.opts.Input)
			put(t, w.opts.Input, b[:len(b)-40])
		}, []string{"perf.data", "feature table at offset", "4 are there"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ready(t)
			c.make(w)
			w.fails(c.words...)
		})
	}
}

func TestInput_OwnedByOther(t *testing.T) {
	if os.Geteuid() != 0 {
		testrec.Skip(t, "only root can give files away")
	}
	w := ready(t)
	if err := os.Chown(w.opts.Input, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	w.fails("belongs neither to you nor to root", "Options.Force")
	w.opts.Force = true
	if _, err := injectAgain(w); err != nil {
		t.Errorf("with Force: %v", err)
	}
}

// Without a dump there is nothing to inject: perf inject leaves a stub and says
// nothing, or copies the recording and says nothing.
func TestDump_MissingOrUnusable(t *testing.T) {
	good := dumpBytes(t, x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	edit := func(at int, v byte) []byte {
		b := bytes.Clone(good)
		b[at] = v
		return b
	}
	for _, c := range []struct {
		name  string
		make  func(w *world, path string)
		words []string
	}{
		{"gone", func(w *world, path string) { os.Remove(path) }, []string{"process 100", "jit-100.dump", "is gone", "Options.DumpDirs"}},
		{"empty", func(w *world, path string) { put(t, path, nil) }, []string{"jit-100.dump", "it is empty"}},
		{"header cut", func(w *world, path string) { put(t, path, good[:30]) }, []string{"jit-100.dump", "timestamp at offset 0x18", "6 are left"}},
		{"other magic", func(w *world, path string) { put(t, path, edit(0, 'X')) }, []string{"jit-100.dump", "not with the magic"}},
		{"version 3", func(w *world, path string) { put(t, path, edit(4, 3)) }, []string{"jit-100.dump", "version at offset 0x4: is 3"}},
		{"a link", func(w *world, path string) {
			os.Rename(path, path+".real")
			os.Symlink(path+".real", path)
		}, []string{"jit-100.dump", "symbolic link"}},
		{"a FIFO", func(w *world, path string) {
			os.Remove(path)
			syscall.Mkfifo(path, 0o600)
		}, []string{"jit-100.dump", "not a regular file"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := ready(t)
			c.make(w, w.path("jit-100.dump"))
			w.fails(append(c.words, "no output was written")...)
		})
	}
}

// With Clock strict, as perf inject always.
func TestClock_StrictRefuses(t *testing.T) {
	for clock, words := range map[int32][]string{-1: {"recorded without -k mono"}, 4: {"CLOCK_MONOTONIC_RAW"}} {
		w := ready(t)
		w.ClockID = clock
		w.opts.Clock = "strict"
		w.Write(t, w.opts.Input)
		w.fails(append(words, "perf.data", "perf record -k mono")...)
	}
	refused := testrec.Unpack(t, "refused")
	w := ready(t)
	w.opts.Clock = "strict"
	w.opts.Input = filepath.Join(refused, "noclock.data")
	put(t, filepath.Join(refused, "jit-9934.dump"), dumpBytes(t, x86(9934)))
	w.fails("noclock.data", "recorded without -k mono")
}

// A file that is named as a dump, and is none, is an error of its own.
func TestNamedDump_Unusable(t *testing.T) {
	for name, content := range map[string][]byte{"text": []byte("use strict"), "empty": nil} {
		w := ready(t)
		put(t, w.path(name), content)
		w.opts.SideFiles = []config.SideFile{{PID: 100, Path: w.path(name)}}
		w.fails(fmt.Sprintf("`Options.SideFiles{PID: 100, Path: %q}`: ", w.path(name)), "not a jitdump file")
	}
}

// Times in counts of the processor, with the record that says what they are.
func TestClock_TimeConvRecord(t *testing.T) {
	w := newWorld(t)
	w.ClockID = -1
	conv := make([]byte, 24)
	for i, v := range []uint64{1, 4, 10} { // (count * 4 >> 1) + 10
		binary.LittleEndian.PutUint64(conv[8*i:], v)
	}
	w.Raw(79, 0, conv)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 2009, 0x10008, "")
	w.expect(100, 2010, 0x10008, "alpha+0x8")
	h := x86(100)
	h.Flags = jitdump.ArchTimestamps
	w.dump("jit-100.dump", h, load(1000, 100, 1, 0x10000, "alpha", code(64, 1)))
	w.check()
}

// Damage in a dump costs what is damaged, and is told with its offset. A record
// that the end of the file cuts is no damage.
func TestDump_DamagedRecord(t *testing.T) {
	w := ready(t)
	dump := dumpBytes(t, x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	second := dumpBytes(t, x86(100), load(2000, 100, 2, 0x20000, "beta", code(64, 1)))[40:]
	put(t, w.path("jit-100.dump"), append(bytes.Clone(dump), second[:60]...))
	sum, err := injectAgain(w)
	if err != nil || !sum.Complete() || sum.Dumps[0].Cut != int64(len(dump)) {
		t.Errorf("cut: %+v, %v", sum, err)
	}
	w.resolve(w.opts.Output)

	garbage := bytes.Repeat([]byte{0xcc}, 100)
	put(t, w.path("jit-100.dump"), append(append(bytes.Clone(dump), garbage...), second...))
	sum, err = injectAgain(w)
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "jit-100.dump: ") || !strings.Contains(sum.Problems[0].String(), fmt.Sprintf("at offset %#x", len(dump))) ||
		!strings.Contains(sum.Problems[0].String(), "100 bytes up to the next record are left out") || sum.Objects != 2 {
		t.Errorf("damaged: %+v", sum)
	}
	w.resolve(w.opts.Output)
}

// One bad dump among several costs that dump; its marker stays, so that a later
// run can do better.
func TestDump_OneOfSeveralBad(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.mark(200, 1000, "jit-200.dump")
	w.mark(300, 1000, "jit-300.dump")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.expect(200, 3000, 0x10008, "")
	w.expect(300, 3000, 0x10008, "gamma+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	put(t, w.path("jit-200.dump"), []byte("garbage"))
	w.dump("jit-300.dump", x86(300), load(2000, 300, 1, 0x10000, "gamma", code(64, 1)))
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "jit-200.dump") || sum.Dropped != 2 {
		t.Errorf("summary %+v", sum)
	}
	w.resolve(w.opts.Output)

	w.dump("jit-200.dump", x86(200), load(2000, 200, 1, 0x10000, "beta", code(64, 2)))
	w.opts.Input, w.opts.Output = w.opts.Output, w.path("second.data")
	if sum, err = injectAgain(w); err != nil || !sum.Complete() || sum.Markers != 1 {
		t.Errorf("with the dump repaired: %+v, %v", sum, err)
	}
	w.wants[1].sym = "beta+0x8"
	w.resolve(w.opts.Output)
}

// Strict: what would be missing is an error.
func TestStrict_SomethingMissing(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.mark(200, 1000, "jit-200.dump")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	w.Write(t, w.opts.Input)
	w.opts.Strict = true
	w.fails("jit-200.dump", "is gone", "Options.Strict")
}

func TestMarker_None(t *testing.T) {
	w := newWorld(t)
	w.Comm(100, 1000, "prog", true)
	w.expect(100, 3000, 0x10008, "")
	sum, err := w.run()
	if err != nil || sum.Markers != 0 || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, Markers = 0, nothing missing", asJSON(sum), err)
	}
	in, _ := os.ReadFile(w.opts.Input)
	out, _ := os.ReadFile(w.opts.Output)
	if !bytes.Equal(in, out) {
		t.Error("the output is no copy")
	}
}

// A run that is interrupted leaves nothing.
func TestRun_Interrupted(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	var loads []timed
	for i := range uint64(5000) {
		loads = append(loads, load(2000+i, 100, i, 0x10000+64*i, "f", code(64, 1)))
	}
	w.dump("jit-100.dump", x86(100), loads...)
	w.Write(t, w.opts.Input)
	before := files(t, w.dir)
	ctx, cancel := context.WithCancel(context.Background())
	w.opts.Log = func(_ int, line string) {
		if strings.HasPrefix(line, "made") {
			cancel()
		}
	}
	if _, err := engine.Run(ctx, w.opts); err != context.Canceled {
		t.Errorf("error %v", err)
	}
	if after := files(t, w.dir); after != before {
		t.Errorf("files before:\n%safter:\n%s", before, after)
	}
}

// A run that is over before it begins leaves nothing.
func TestRun_CancelledBeforeStart(t *testing.T) {
	w := ready(t)
	before := files(t, w.dir)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := engine.Run(ctx, w.opts); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if after := files(t, w.dir); after != before {
		t.Errorf("files before:\n%safter:\n%s", before, after)
	}
}

// A run without a result puts nothing into the build-id cache.
func TestBuildIDCache_RunFails(t *testing.T) {
	w := ready(t)
	dump := read(t, w.path("jit-100.dump"))
	put(t, w.path("jit-100.dump"), append(dump, 0, 0, 0, 0, 100, 0, 0, 0, 1))
	w.opts.Strict = true
	w.opts.BuildIDCache = w.path("cache")
	w.fails("jit-100.dump: it ends inside a record, at offset", "Options.Strict")
	if _, err := os.Stat(w.opts.BuildIDCache); err == nil {
		t.Error("there is a cache")
	}
	w.opts.Strict = false
	if sum, err := engine.Run(t.Context(), w.opts); err != nil || sum.Cached != sum.Objects || sum.Cached == 0 {
		t.Errorf("got %s, %v; want no error, Cached = Objects, Cached other than 0", asJSON(sum), err)
	}
}

// With Strict, what a cut dump does not hold is missing.
func TestStrict_CutDump(t *testing.T) {
	w := ready(t)
	dump := read(t, w.path("jit-100.dump"))
	put(t, w.path("jit-100.dump"), append(dump, 0, 0, 0, 0, 100, 0, 0, 0, 1))
	w.opts.Strict = true
	w.fails("jit-100.dump: it ends inside a record, at offset", "Options.Strict")
	w.opts.Strict = false
	if sum, err := engine.Run(t.Context(), w.opts); err != nil || !sum.Complete() || sum.Dumps[0].Cut != int64(len(dump)) {
		t.Errorf("got %s, %v; want no error, nothing missing, Dumps[0].Cut = %v", asJSON(sum), err, int64(len(dump)))
	}
}

// A thousand faults of one dump are not a thousand lines.
func TestProblems_ThousandOfOneDump(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	var recs []timed
	for i := range uint64(300) {
		bad := jitdump.NewDebugInfo(binary.LittleEndian, 0x10000+64*i, []jitdump.DebugEntry{{Addr: 0x10000 + 64*i, Line: 1, Name: []byte("a.c")}})
		bad.Count = 1000
		recs = append(recs, timed{2000, bad}, load(2000, 100, i, 0x10000+64*i, "f", code(64, byte(i))))
	}
	w.dump("jit-100.dump", x86(100), recs...)
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(sum.Problems); n != 51 || !strings.Contains(sum.Problems[50].Text, "250 more problems like these") {
		t.Errorf("%d problems, the last: %v", n, sum.Problems[n-1])
	}
}

// A directory that cannot be written costs its own dumps.
func TestObjects_OneDirectoryUnwritable(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	// Nobody can make files in /proc, whoever they are; but a dump is no file
	// there. So one is mounted, if that is allowed.
	other := w.path("ro")
	if err := os.Mkdir(other, 0o755); err != nil {
		t.Fatal(err)
	}
	w.Marker(200, 1001, w.path("ro/jit-200.dump"))
	w.dump("ro/jit-200.dump", x86(200), load(2000, 200, 1, 0x20000, "beta", code(64, 1)))
	if err := unix.Mount(other, other, "", unix.MS_BIND, ""); err != nil {
		testrec.Skip(t, "no mounting here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(other, unix.MNT_DETACH) })
	if err := unix.Mount("", other, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		testrec.Skip(t, "no mounting here: %v", err)
	}
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	w.resolve(w.opts.Output)
	if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "ro: cannot write objects there: read-only file system; the functions of process 200 are left out; name a directory for the objects with `Options.Objects = DIR`") {
		t.Errorf("problems %v", sum.Problems)
	}
	if !bytes.Contains(read(t, w.opts.Output), []byte("jit-200.dump")) {
		t.Error("the marker of the other dump is gone: no later run can do better")
	}
}
