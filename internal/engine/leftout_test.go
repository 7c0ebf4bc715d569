package engine_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Dumps in directories that cannot be written.

// smallDisk mounts a tmpfs of 16 KiB in the world, with the dump of process 200 and no
// room for anything more.
func (w *world) smallDisk(name string) {
	w.t.Helper()
	dir := w.path(name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		w.t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=16k"); err != nil {
		testrec.Skip(w.t, "a small disk cannot be mounted here: %v", err)
	}
	w.t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	w.dump(name+"/jit-200.dump", x86(200), load(2000, 200, 1, 0x20000, "beta", code(64, 1)))
	fill, err := os.Create(filepath.Join(dir, "fill"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer fill.Close()
	for err == nil {
		_, err = fill.Write(make([]byte, 1024))
	}
}

// leftBeta adds process 200, whose dump lies in a directory, with memory that its functions
// would take the place of.
func (w *world) leftBeta(dir string) {
	w.Comm(200, 1000, "other", true)
	w.Marker(200, 1001, w.path(dir+"/jit-200.dump"))
	w.Mmap2(200, 1002, 0x20000, 0x1000, 0, "//anon")
	w.expect(200, 3000, 0x20008, "")
}

// keepsBeta checks that what the recording has of process 200 is in the result.
func (w *world) keepsBeta() {
	w.t.Helper()
	out := read(w.t, w.opts.Output)
	for _, kept := range []string{"jit-200.dump", "//anon"} {
		if !bytes.Contains(out, []byte(kept)) {
			w.t.Errorf("%s is not in the result: no later run can do better", kept)
		}
	}
}

// A full disk beside one dump costs that dump's functions only.
func TestLeftOut_FullDisk(t *testing.T) {
	for _, bundle := range []bool{false, true} {
		w := newWorld(t)
		w.opts.Bundle = bundle
		w.mark(100, 1000, "jit-100.dump")
		w.expect(100, 3000, 0x10008, "alpha+0x8")
		w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
		w.smallDisk("full")
		w.leftBeta("full")
		sum, err := w.run()
		if err != nil {
			t.Fatal(err)
		}
		w.resolve(w.opts.Output)
		w.keepsBeta()
		const want = "no space left on device; the functions of process 200 are left out; make room, or name another directory with `Options.Objects = DIR`"
		if len(sum.Problems) != 1 || sum.Problems[0].File != w.path("full") || !strings.HasSuffix(sum.Problems[0].String(), want) {
			t.Errorf("bundle %v: problems %v, want %s", bundle, sum.Problems, want)
		}
	}
}

// So it is if there is no other dump: the recording's own events are in the result. With a
// directory that somebody has named, there is none; nor if there is no room for it.
func TestLeftOut_OnlyDump(t *testing.T) {
	w := newWorld(t)
	w.smallDisk("full")
	w.leftBeta("full")
	sum, err := w.run()
	if err != nil || sum.Complete() || sum.Mappings != 0 || sum.Dropped != 0 {
		t.Fatalf("got %s, %v; want no error, something missing, Mappings = 0, Dropped = 0", asJSON(sum), err)
	}
	w.keepsBeta()
	w.opts.Objects = w.path("full")
	w.fails("no space left on device", "the functions of process 200 are left out", "Options.Objects")
	w.opts.Objects = ""
	os.Remove(w.opts.Output)
	w.opts.Output = w.path("full/out.data")
	w.fails("full/out.data", "no space left on device")
}

func TestLeftOut_ReadOnly(t *testing.T) {
	w := newWorld(t)
	dir := w.path("ro")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w.leftBeta("ro")
	w.dump("ro/jit-200.dump", x86(200), load(2000, 200, 1, 0x20000, "beta", code(64, 1)))
	if err := unix.Mount(dir, dir, "", unix.MS_BIND, ""); err != nil {
		testrec.Skip(t, "no mounting here: %v", err)
	}
	t.Cleanup(func() { unix.Unmount(dir, unix.MNT_DETACH) })
	if err := unix.Mount("", dir, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		testrec.Skip(t, "no mounting here: %v", err)
	}
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "read-only file system; the functions of process 200 are left out; name a directory for the objects with `Options.Objects = DIR`") {
		t.Fatalf("got %s, %v; want no error, 1 problem, Problems[0] with \"read-only file system; the functions of process 200 are left out; name a directory for the objects with `Options.Objects = DIR`\"", asJSON(sum), err)
	}
	w.keepsBeta()
}

// Objects whose paths would be longer than any program can open.
func TestLeftOut_LongPath(t *testing.T) {
	w := newWorld(t)
	dir := ""
	for n := unix.PathMax - 30 - len(w.dir); n > 0; n -= 201 {
		dir = filepath.Join(dir, strings.Repeat("d", min(n, 200)))
	}
	if err := os.MkdirAll(w.path(dir), 0o755); err != nil {
		t.Fatal(err)
	}
	w.mark(100, 1000, "jit-100.dump")
	w.expect(100, 3000, 0x10008, "alpha+0x8")
	w.dump("jit-100.dump", x86(100), load(2000, 100, 1, 0x10000, "alpha", code(64, 1)))
	w.leftBeta(dir)
	w.dump(dir+"/jit-200.dump", x86(200), load(2000, 200, 1, 0x20000, "beta", code(64, 1)))
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "file name too long; the functions of process 200 are left out") {
		t.Fatalf(`got %s, %v; want no error, 1 problem, Problems[0].Text with "file name too long; the functions of process 200 are left out"`, asJSON(sum), err)
	}
	w.resolve(w.opts.Output)
	w.opts.Objects = filepath.Join(w.path(dir), "x")
	if _, err := engine.Run(t.Context(), w.opts); err == nil || !strings.Contains(err.Error(), "file name too long") {
		t.Errorf("with that as Objects: %v", err)
	}
}

// Samples in JIT memory, and none in a function of the dump that was found.
func TestReasons_NoSampleResolved(t *testing.T) {
	for _, c := range []struct {
		name  string
		time  uint64
		addr  uint64
		words []string
	}{
		{"elsewhere", 2000, 0x90000, []string{"none of the 25 samples of process 100 in JIT memory are in its functions", "they lie elsewhere, or were loaded later"}},
	} {
		w := newWorld(t)
		w.mark(100, 1000, "jit-100.dump")
		for i := range uint64(25) {
			w.expect(100, 3000+i, 0x10008, "")
		}
		w.dump("jit-100.dump", x86(100), load(c.time, 100, 1, c.addr, "alpha", code(64, 1)))
		sum, err := w.run()
		if err != nil || len(sum.Problems) != 1 || sum.Complete() {
			t.Fatalf("%s: got %s, %v; want no error, 1 problem, something missing", c.name, asJSON(sum), err)
		}
		text := sum.Problems[0].String()
		for _, word := range append(c.words, "jitinject verify "+w.opts.Input+" "+w.path("jit-100.dump")) {
			if !strings.Contains(text, word) {
				t.Errorf("%s: %s, want %q", c.name, text, word)
			}
		}
	}
}
