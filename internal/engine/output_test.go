package engine_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// What happens to files that are there already, and where files cannot be.

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// An output that exists is kept as .old, as perf does; the one before that goes.
func TestOutput_ExistsAlready(t *testing.T) {
	w := ready(t)
	put(t, w.opts.Output, []byte("precious"))
	put(t, w.opts.Output+".old", []byte("older"))
	if _, err := injectAgain(w); err != nil {
		t.Fatal(err)
	}
	if got := read(t, w.opts.Output+".old"); string(got) != "precious" {
		t.Errorf("%s.old holds %q", w.opts.Output, got)
	}
	w.resolve(w.opts.Output)
	st, err := os.Stat(w.opts.Output)
	if err != nil || st.Mode() != 0o600 {
		t.Errorf("mode %v, want that of perf's files", st.Mode())
	}
}

func TestOutput_IsInput(t *testing.T) {
	w := ready(t)
	w.opts.Output = w.opts.Input
	w.fails("perf.data is the input;", "Options.Output")

	w = ready(t)
	if err := os.Link(w.opts.Input, w.opts.Output); err != nil {
		t.Fatal(err)
	}
	w.fails("is the input;")

	w = ready(t)
	if err := os.Symlink(w.opts.Input, w.opts.Output); err != nil {
		t.Fatal(err)
	}
	w.fails("is the input;")

	// The present output would become out.data.old, which is the input.
	w = ready(t)
	put(t, w.opts.Output, []byte("precious"))
	if err := os.Rename(w.opts.Input, w.opts.Output+".old"); err != nil {
		t.Fatal(err)
	}
	w.opts.Input = w.opts.Output + ".old"
	w.fails("would be renamed to it", "Options.Output")
}

func TestOutput_Unusable(t *testing.T) {
	w := ready(t)
	w.opts.Output = w.path("no/such/dir/out.data")
	w.fails("no/such/dir", "no such file")

	w = ready(t)
	w.opts.Output = w.dir
	w.fails("is a directory")

	w = ready(t)
	w.opts.Output = "/dev/full"
	w.fails("no space left")

	w = ready(t)
	w.opts.Output = "/dev/null"
	if _, err := injectAgain(w); err != nil {
		t.Errorf("/dev/null: %v", err)
	}
}

// Nothing is written through a link: not the output, not an object.
func TestOutput_PlantedLinks(t *testing.T) {
	w := ready(t)
	victim := w.path("victim")
	put(t, victim, []byte("precious"))
	for _, name := range []string{"out.data", "jitted-100-1.so"} {
		if err := os.Symlink(victim, w.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := injectAgain(w); err != nil {
		t.Fatal(err)
	}
	if got := read(t, victim); string(got) != "precious" {
		t.Errorf("the file behind the links now holds %d bytes", len(got))
	}
	for _, name := range []string{"out.data", "jitted-100-1.so"} {
		if st, err := os.Lstat(w.path(name)); err != nil || !st.Mode().IsRegular() {
			t.Errorf("%s is %v, %v", name, st.Mode(), err)
		}
	}
	w.resolve(w.opts.Output)
}

// An object that is as it should be is left alone; another is replaced as a
// whole, so that whoever has the old one open keeps it.
func TestObjects_ExistAlready(t *testing.T) {
	w := ready(t)
	if _, err := injectAgain(w); err != nil {
		t.Fatal(err)
	}
	object := w.path("jitted-100-1.so")
	before, err := os.Stat(object)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := injectAgain(w)
	if err != nil || sum.Unchanged != 1 || sum.Objects != 1 {
		t.Errorf("summary %+v, %v", sum, err)
	}
	after, _ := os.Stat(object)
	if !os.SameFile(before, after) || !after.ModTime().Equal(before.ModTime()) {
		t.Error("an object that was right has been touched")
	}

	good := read(t, object)
	for name, content := range map[string][]byte{"shorter": good[:100], "same length": append(bytes.Clone(good[:len(good)-1]), good[len(good)-1]^1), "empty": nil} {
		put(t, object, content)
		old, err := os.Open(object)
		if err != nil {
			t.Fatal(err)
		}
		if sum, err := injectAgain(w); err != nil || sum.Unchanged != 0 {
			t.Errorf("%s: summary %+v, %v", name, sum, err)
		}
		if got := read(t, object); !bytes.Equal(got, good) {
			t.Errorf("%s: not replaced", name)
		}
		kept := make([]byte, len(good))
		if n, _ := old.ReadAt(kept, 0); !bytes.Equal(kept[:n], content) {
			t.Errorf("%s: changed in place", name)
		}
		old.Close()
	}
	if left, _ := filepath.Glob(w.path(".*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A folder for objects is made if need be. One that cannot be used is told in
// one sentence, not in one for each function.
func TestObjects_DirectoryMissingOrUnusable(t *testing.T) {
	w := ready(t)
	w.opts.Objects = w.path("new/objects")
	if _, err := injectAgain(w); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(w.path("new/objects/jitted-100-1.so")); err != nil {
		t.Error(err)
	}
	w.resolve(w.opts.Output)

	w = ready(t)
	put(t, w.path("file"), nil)
	w.opts.Objects = w.path("file")
	w.fails("file", "Options.Objects")

	if os.Geteuid() == 0 {
		// Nobody can write into /proc, not even root.
		w = ready(t)
		w.opts.Objects = "/proc/self/attr"
		sum, err := injectAgain(w)
		if err == nil && (len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "1 objects could not be made")) {
			t.Errorf("problems %v", sum.Problems)
		}
	} else {
		w = ready(t)
		w.opts.Objects = w.path("closed")
		if err := os.Mkdir(w.opts.Objects, 0o555); err != nil {
			t.Fatal(err)
		}
		w.fails("closed", "permission denied", "Options.Objects")
	}
}

// A disk that fills up while objects are made: what there was room for is used,
// and one sentence counts the rest.
func TestObjects_DiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		testrec.Skip(t, "a small disk cannot be mounted here: %v", err)
	}
	defer syscall.Unmount(dir, 0)
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.opts.Objects = dir
	var loads []timed
	for i := range uint64(100) {
		loads = append(loads, load(2000+i, 100, i, 0x10000+64*i, fmt.Sprintf("f%d", i), code(64, byte(i))))
	}
	w.dump("jit-100.dump", x86(100), loads...)
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	if sum.Objects == 0 || sum.Objects >= 100 || sum.Mappings != sum.Objects {
		t.Errorf("%d objects, %d mappings", sum.Objects, sum.Mappings)
	}
	want := fmt.Sprintf("%d objects could not be made: no space left on device; make room, or name another directory with `Options.Objects", 100-sum.Objects)
	if len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), want) {
		t.Errorf("problems %v, want %s", sum.Problems, want)
	}
	for _, name := range strings.Fields(files(t, dir)) {
		if strings.HasSuffix(name, ".so") {
			if st, err := os.Stat(name); err != nil || st.Size() == 0 {
				t.Errorf("%s is left behind, %v", name, err)
			}
		}
	}
}

// The same bytes for any number of workers.
func TestOutput_AnyNumberOfWorkers(t *testing.T) {
	var first []byte
	var objects map[string]string
	for _, jobs := range []int{1, 2, 7, 32} {
		w := newWorld(t)
		w.dir, w.opts.Jobs = t.TempDir(), jobs
		w.opts.Objects = filepath.Join(os.TempDir(), fmt.Sprintf("jitinject-test-%d", os.Getpid()))
		defer os.RemoveAll(w.opts.Objects)
		w.opts.Input, w.opts.Output = w.path("perf.data"), w.path("out.data")
		put(t, w.path("jit-100.dump"), nil)
		w.Comm(100, 999, "prog", true)
		w.Marker(100, 1000, "/somewhere/jit-100.dump")
		var loads []timed
		for i := range uint64(500) {
			loads = append(loads, load(2000+i, 100, i%400, 0x10000+64*i, fmt.Sprintf("f%d", i), code(64, byte(i))))
		}
		w.dump("jit-100.dump", x86(100), loads...)
		if sum, err := w.run(); err != nil || !sum.Complete() {
			t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
		}
		out := read(t, w.opts.Output)
		made := make(map[string]string)
		entries, _ := os.ReadDir(w.opts.Objects)
		for _, e := range entries {
			made[e.Name()] = string(read(t, filepath.Join(w.opts.Objects, e.Name())))
		}
		if first == nil {
			first, objects = out, made
			if len(made) != 500 {
				t.Errorf("%d objects, want 500", len(made))
			}
			os.RemoveAll(w.opts.Objects)
			continue
		}
		if !bytes.Equal(out, first) {
			t.Errorf("%d workers write another recording", jobs)
		}
		for name, content := range objects {
			if made[name] != content {
				t.Errorf("%d workers make another %s", jobs, name)
			}
		}
		os.RemoveAll(w.opts.Objects)
	}
}

// A link to a device is not followed: anyone could have put it there. Links in /dev are not replaced.
func TestOutput_LinkToDevice(t *testing.T) {
	w := ready(t)
	w.opts.Output = w.path("null")
	if err := os.Symlink("/dev/null", w.opts.Output); err != nil {
		t.Fatal(err)
	}
	w.fails("is a symbolic link to a device, and is not followed", "name a device itself, or a file, with `Options.Output`")
	if link, err := os.Readlink(w.opts.Output); err != nil || link != "/dev/null" {
		t.Errorf("Readlink(%s): got %q, %v; want /dev/null", w.opts.Output, link, err)
	}
	// As it would be with "> file".
	file, err := os.Create(w.path("redirected"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	link := fmt.Sprintf("/dev/fd/%d", file.Fd())
	w.opts.Output = link
	w.fails(link, "name a file with `Options.Output`")
}

// A dump is not to be overwritten either.
func TestOutput_IsDump(t *testing.T) {
	w := ready(t)
	w.opts.Output = w.path("jit-100.dump")
	w.fails("jit-100.dump is the dump of process 100")
}

// Every object has what made it in its debugging information, and every mapped
// object its build id in the recording's table, if that has one.
func TestObjects_ProducerAndBuildIDs(t *testing.T) {
	dir := testrec.Place(t, "lli-hot")
	out := filepath.Join(dir, "out.data")
	sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out})
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	before := testrec.Run(t, dir, "perf", "buildid-list", "-i", "perf.data")
	after := testrec.Run(t, dir, "perf", "buildid-list", "-i", out)
	for line := range strings.Lines(before) {
		if !strings.Contains(after, line) {
			t.Errorf("lost: %s", line)
		}
	}
	added := 0
	for line := range strings.Lines(after) {
		id, path, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.Contains(path, "/jitted-") {
			continue
		}
		added++
		if notes := testrec.Run(t, dir, "readelf", "-n", path); !strings.Contains(notes, "Build ID: "+id) {
			t.Errorf("%s does not have the build id %s:\n%s", path, id, notes)
		}
		if info := testrec.Run(t, dir, "readelf", "--debug-dump=info", path); strings.Contains(info, "DW_AT_producer") && !strings.Contains(info, "jitinject") {
			t.Errorf("%s: want one without \"DW_AT_producer\" or one with \"jitinject\"; got\n%s", path, info)
		}
	}
	if added != sum.Objects {
		t.Errorf("%d objects in the table, %d were made", added, sum.Objects)
	}
}
