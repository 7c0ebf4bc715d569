package engine_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/objstore"
	"github.com/jitinject/jitinject/internal/testrec"
)

// names returns what is in a directory, without what begins with prefix.
func namesIn(t *testing.T, dir, prefix string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if prefix == "" || !strings.HasPrefix(e.Name(), prefix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func clean(t *testing.T, opts objstore.CleanOptions) *objstore.CleanSummary {
	t.Helper()
	sum, err := objstore.Clean(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// After cleaning, everything is as it was before the injection, but for the result;
// of whatever form that is.
func TestClean_AfterEveryForm(t *testing.T) {
	for _, c := range []struct {
		recording, in, out string
		opts               config.Options
	}{
		{recording: "php", in: "perf.data", out: "out.data"},
		{recording: "node-zstd", in: "perf.data", out: "out.data", opts: config.Options{Compress: 3}},
		{recording: "node-threads", in: "perf.data.dir", out: "out.dir/"},
		{recording: "node-pipe", in: "perf.pipe.data", out: "out.data"},
		{recording: "toyjit-dwarf", in: "perf.data", out: "out.data"},
	} {
		dir := testrec.Unpack(t, c.recording)
		before := namesIn(t, dir, "")
		c.opts.Input, c.opts.Output, c.opts.DumpDirs = filepath.Join(dir, c.in), filepath.Join(dir, c.out), []string{dir}
		made, err := engine.Run(t.Context(), c.opts)
		if err != nil || made.Objects == 0 {
			t.Fatalf("got %+v, %v; want no error, made.Objects other than 0", made, err)
		}
		stranger := filepath.Join(dir, "jitted-1-1000000.so")
		if err := os.WriteFile(stranger, []byte("not of this run"), 0o600); err != nil {
			t.Fatal(err)
		}
		var named []string
		opts := objstore.CleanOptions{Input: c.opts.Output, DryRun: true, Log: func(path string) { named = append(named, path) }}
		dry := clean(t, opts)
		if n := len(namesIn(t, dir, "")); n < made.Objects || len(named) != made.Objects {
			t.Errorf("%s: a dry run leaves %d files, and names %d", c.recording, n, len(named))
		}
		opts.DryRun = false
		sum := clean(t, opts)
		if sum.Objects != made.Objects || sum.Removed != made.Objects || sum.Bytes != made.ObjectBytes || dry.Bytes != sum.Bytes || dry.Removed != sum.Removed || !sum.Complete() || sum.Missing > 0 {
			t.Errorf("%s: %+v, %+v, made %d objects of %d bytes", c.recording, dry, sum, made.Objects, made.ObjectBytes)
		}
		if _, err := os.Stat(stranger); err != nil {
			t.Errorf("%s: an object that it does not refer to is gone: %v", c.recording, err)
		}
		os.Remove(stranger)
		if after := namesIn(t, dir, "out."); strings.Join(after, " ") != strings.Join(before, " ") {
			t.Errorf("%s: %q are left of %q", c.recording, after, before)
		}
		if again := clean(t, opts); again.Missing != made.Objects || again.Removed != 0 || !again.Complete() {
			t.Errorf("%s: again: %+v", c.recording, again)
		}
		if sum := clean(t, objstore.CleanOptions{Input: c.opts.Input}); sum.Objects != 0 || !sum.Complete() {
			t.Errorf("%s: of the recording itself: %+v", c.recording, sum)
		}
	}
}

// What perf inject made has its build ids in the table only.
func TestClean_ResultOfPerfInject(t *testing.T) {
	dir := testrec.Place(t, "php")
	before := len(namesIn(t, dir, ""))
	testrec.Run(t, dir, testrec.Tool(t, "perf"), "--buildid-dir", "/dev/null", "inject", "--jit", "-i", "perf.data", "-o", "theirs.data")
	sum := clean(t, objstore.CleanOptions{Input: filepath.Join(dir, "theirs.data")})
	if sum.Removed+len(sum.Kept) != sum.Objects || sum.Objects < 40 {
		t.Errorf("got %s; want Removed+len(Kept) = Objects, Objects >= 40", asJSON(sum))
	}
	if left := len(namesIn(t, dir, "")); left != before+1+len(sum.Kept) {
		t.Errorf("%d files, before perf inject there were %d, and %d stayed", left, before, len(sum.Kept))
	}
	t.Logf("%d removed, %d left alone", sum.Removed, len(sum.Kept))
}

// What is not the object that was meant stays, and is reported.
func TestClean_OtherFilesStay(t *testing.T) {
	dir := testrec.Place(t, "php")
	objects := filepath.Join(dir, "objects")
	out := filepath.Join(dir, "out.data")
	made, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out, Objects: objects})
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	clean(t, objstore.CleanOptions{Input: out, DryRun: true, Log: func(path string) { paths = append(paths, path) }})
	do := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	good := read(t, paths[5])
	elsewhere := filepath.Join(dir, "elsewhere.so")
	do(os.Rename(paths[0], elsewhere)) // a link to the very file
	do(os.Symlink(elsewhere, paths[0]))
	do(os.Remove(paths[1]))
	do(os.Mkdir(paths[1], 0o700))
	do(os.Rename(paths[2], paths[2]+".moved")) // another object's content
	do(os.WriteFile(paths[2], good, 0o600))
	do(os.WriteFile(paths[3], []byte("no ELF file"), 0o600))
	do(os.Remove(paths[4]))
	other := filepath.Join(dir, "other-name.so")
	do(os.Link(paths[6], other))

	sum := clean(t, objstore.CleanOptions{Input: out})
	if sum.Missing != 1 || len(sum.Kept) != 4 || sum.Removed != made.Objects-5 {
		t.Errorf("got %s; want Missing = 1, 4 kept, Removed = %v", asJSON(sum), made.Objects-5)
	}
	for i, want := range []string{"symbolic link", "not a regular file", "build id is not the one", "no ELF file"} {
		if sum.Kept[i].File != paths[i] || !strings.Contains(sum.Kept[i].Text, want) {
			t.Errorf("%s, want %q", sum.Kept[i], want)
		}
		if _, err := os.Lstat(paths[i]); err != nil {
			t.Error(err)
		}
	}
	for _, path := range []string{elsewhere, other, paths[2] + ".moved", objects} {
		if _, err := os.Stat(path); err != nil {
			t.Error(err)
		}
	}
	if n := len(namesIn(t, objects, "")); n != 5 {
		t.Errorf("%d files are left", n)
	}
}

// Files that a recording names without a build id, or without their directory, and
// files with other names, are not its objects.
func TestClean_NotItsObjects(t *testing.T) {
	dir := testrec.Place(t, "php")
	if _, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data")}); err != nil {
		t.Fatal(err)
	}
	var path string
	clean(t, objstore.CleanOptions{Input: filepath.Join(dir, "out.data"), DryRun: true, Log: func(p string) { path = p }})
	rec := testrec.NewRecording()
	rec.Order = binary.BigEndian
	rec.Mmap2(5, 100, 0x1000, 0x1000, 0x80, path)
	rec.Mmap2(5, 100, 0x1000, 0x1000, 0x80, "jitted-1-1.so")
	rec.Mmap2(5, 100, 0x1000, 0x1000, 0x80, "/tmp/nowhere/jitted-1-1.so")
	rec.Mmap2(5, 100, 0x1000, 0x1000, 0x80, filepath.Join(dir, "perf.data"))
	rec.Mmap2(5, 100, 0x1000, 0x1000, 0x80, filepath.Join(dir, "out.data/jitted-1-1.so"))
	in := filepath.Join(dir, "hand.data")
	rec.Write(t, in)
	sum := clean(t, objstore.CleanOptions{Input: in})
	if sum.Objects != 4 || sum.Missing != 2 || len(sum.Kept) != 2 || sum.Removed != 0 {
		t.Errorf("got %s; want Objects = 4, Missing = 2, 2 kept, Removed = 0", asJSON(sum))
	}
	if _, err := os.Stat(path); err != nil {
		t.Error(err)
	}
}

// A recording of someone else's is refused without -f, and what is none is, always.
func TestClean_InputRefused(t *testing.T) {
	dir := testrec.Place(t, "php")
	out := filepath.Join(dir, "out.data")
	if _, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out}); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "nowhere"):        "no such file",
		filepath.Join(dir, "jit-10085.dump"): "perf.data",
		dir:                                  "it is a directory",
		"-":                                  "standard input",
	} {
		if _, err := objstore.Clean(t.Context(), objstore.CleanOptions{Input: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if sum, err := objstore.Clean(ctx, objstore.CleanOptions{Input: out}); err == nil {
		t.Errorf("cancelled, it did %+v", sum)
	}
	if os.Geteuid() != 0 {
		testrec.Skip(t, "only root can give files away")
	}
	if err := os.Chown(out, 12345, 12345); err != nil {
		t.Fatal(err)
	}
	if _, err := objstore.Clean(t.Context(), objstore.CleanOptions{Input: out}); err == nil || !strings.Contains(err.Error(), "use `Options.Force`") {
		t.Errorf("someone else's: got %v; want an error that names Options.Force", err)
	}
	if sum := clean(t, objstore.CleanOptions{Input: out, Force: true}); sum.Removed != 44 {
		t.Errorf("with force: %+v", sum)
	}
}

// A damaged recording removes nothing.
func TestClean_DamagedRecording(t *testing.T) {
	dir := testrec.Place(t, "php")
	out := filepath.Join(dir, "out.data")
	if _, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out}); err != nil {
		t.Fatal(err)
	}
	b := read(t, out)
	at := bytes.LastIndex(b, []byte{9, 0, 0, 0, 2, 0}) // a sample
	b[at+6], b[at+7] = 1, 0                            // of one byte
	if err := os.WriteFile(out, b, 0o600); err != nil {
		t.Fatal(err)
	}
	if sum, err := objstore.Clean(t.Context(), objstore.CleanOptions{Input: out}); err == nil {
		t.Errorf("got %s; want an error", asJSON(sum))
	}
	if n := len(namesIn(t, dir, "")); n < 45 {
		t.Errorf("%d files are left", n)
	}
}
