package engine_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// withSource is what a dump says about a function of 16 bytes in a file.
func withSource(t testing.TB, addr uint64, file string) *jitdump.DebugInfo2 {
	t.Helper()
	var b jitdump.InlineBuilder
	b.Function("f", file, 1, 0, 0)
	b.At(0, jitdump.Outer, 2, 0)
	b.At(8, jitdump.Outer, 3, 0)
	info, err := b.Record(16)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// sourceWorld has a function for each of some source files, all of which say what
// they are called.
func sourceWorld(t *testing.T, files ...string) *world {
	w := newWorld(t)
	w.mark(100, 10, "jit-100.dump")
	var recs []timed
	for i, file := range files {
		addr, time := 0x10000+0x1000*uint64(i), 20+uint64(i)
		recs = append(recs,
			timed{time, jitdump.NewEmbeddedSource(file, []byte("text of\n"+file+" line two\nline three\n"))},
			timed{time, withSource(t, addr, file)},
			load(time, 100, uint64(i), addr, "func"+string(rune('a'+i)), code(16, byte(i))))
		w.expect(100, 100, addr+8, "func"+string(rune('a'+i))+"+0x8")
	}
	w.dump("jit-100.dump", x86(100), recs...)
	return w
}

// tree lists the files below a directory.
func tree(t testing.TB, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			files = append(files, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Sources are written where the objects say, and tools show them.
func TestSources_ShownByTools(t *testing.T) {
	objdump, addr2line := testrec.Tool(t, "objdump"), testrec.Tool(t, "addr2line")
	w := sourceWorld(t, "/src/app/a.toy", "lib/b.toy")
	w.opts.Sources = w.path("sources")
	if sum := w.check(); sum.Dumps[0].Sources != 2 {
		t.Errorf("the summary counts %d sources", sum.Dumps[0].Sources)
	}
	if got, want := tree(t, w.opts.Sources), []string{"lib/b.toy", "src/app/a.toy"}; !slices.Equal(got, want) {
		t.Errorf("files %q, want %q", got, want)
	}
	out := testrec.Run(t, w.dir, objdump, "-dS", "jitted-100-0.so")
	if !strings.Contains(out, "/src/app/a.toy line two") || !strings.Contains(out, "line three") {
		t.Errorf("objdump -S does not show the source:\n%s", out)
	}
	out = testrec.Run(t, w.dir, addr2line, "-e", "jitted-100-1.so", "0x88")
	if want := w.path("sources/lib/b.toy") + ":3\n"; out != want {
		t.Errorf("addr2line says %q, want %q", out, want)
	}
	if perf := testrec.Tool(t, "perf"); perf != "" {
		out, _ := testrec.RunBoth(t, w.dir, perf, "annotate", "--stdio", "-f", "-i", w.opts.Output, "-s", "funca")
		if !strings.Contains(out, "/src/app/a.toy line two") && !strings.Contains(out, "line three") {
			t.Errorf("perf annotate does not show the source:\n%s", out)
		}
	}
}

// Whatever a file is called, it stays inside, and nothing that is there changes.
func TestSources_HostileNames(t *testing.T) {
	w := sourceWorld(t, "../../etc/x", "/../../../y", "a/../../../z", "dir/", "..", "file", "file/below", "there", "link/out", strings.Repeat("n", 300), strings.Repeat("d/", 5000)+"deep", "sp ace\\n")
	w.opts.Sources = w.path("in/sources")
	if err := os.MkdirAll(w.opts.Sources, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.opts.Sources, "there"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(w.dir, filepath.Join(w.opts.Sources, "link")); err != nil {
		t.Fatal(err)
	}
	w.check()
	all := tree(t, w.dir)
	for _, f := range all {
		if base := filepath.Base(f); !strings.HasPrefix(f, "in/sources/") && !strings.HasPrefix(base, "jit") && !strings.HasSuffix(base, ".data") {
			t.Errorf("%s was written", f)
		}
	}
	for _, want := range []string{"etc/x", "y", "z", "dir", "file", "sp ace\\n"} {
		if !slices.Contains(all, "in/sources/"+want) {
			t.Errorf("there is no %s in %q", want, all)
		}
	}
	if b, _ := os.ReadFile(filepath.Join(w.opts.Sources, "there")); string(b) != "mine" {
		t.Errorf("a file that was there holds %q", b)
	}
	aside := 0
	for _, f := range all {
		if strings.HasPrefix(f, "in/sources/@") {
			aside++
		}
	}
	if aside != 6 { // "..", file/below, there, link/out, the long one, and the deep one
		t.Errorf("%d files aside in %q", aside, all)
	}
	// Once more: all is there already.
	before := len(all)
	w.check()
	if after := tree(t, w.dir); len(after) > before+1 { // out.data.old
		t.Errorf("%d files, and after the second run %q", before, after)
	}
}

// A run that fails leaves no sources behind.
func TestSources_RunFails(t *testing.T) {
	w := sourceWorld(t, "d/a.toy")
	w.opts.Sources = w.path("new/sources")
	w.dump("jit-200.dump", x86(200), timed{1, &jitdump.Move{PID: 200, CodeIndex: 5}})
	w.mark(200, 11, "jit-200.dump")
	w.opts.Strict = true
	if sum, err := w.run(); err == nil {
		t.Fatalf("no error: %+v", sum)
	}
	if _, err := os.Stat(w.path("new")); !os.IsNotExist(err) {
		t.Errorf("left behind: %v, %v", tree(t, w.path("new")), err)
	}
}

func TestSources_EmbeddedInObjects(t *testing.T) {
	dwarfdump := testrec.Tool(t, "llvm-dwarfdump-14", "llvm-dwarfdump")
	w := sourceWorld(t, "a.toy")
	line := func() string {
		w.check()
		return testrec.Run(t, w.dir, dwarfdump, "--debug-line", "--verify", "jitted-100-0.so") +
			testrec.Run(t, w.dir, dwarfdump, "--debug-line", "jitted-100-0.so")
	}
	if out := line(); strings.Contains(out, "source:") || !strings.Contains(out, "md5_checksum") {
		t.Errorf("without being asked:\n%s", out)
	}
	w.opts.EmbedSources = true
	if out := line(); !strings.Contains(out, "text of\\na.toy line two") || !strings.Contains(out, "No errors.") {
		t.Errorf("asked for:\n%s", out)
	}
	w.opts.DWARF = 4
	if out := line(); strings.Contains(out, "source:") || !strings.Contains(out, "No errors.") {
		t.Errorf("version 4:\n%s", out)
	}
}

// A disk that is full is told of once.
func TestSources_DiskFull(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mount("jitinject", dir, "tmpfs", 0, "size=64k"); err != nil {
		testrec.Skip(t, "no file system of my own: %v", err)
	}
	defer unix.Unmount(dir, 0)
	var files []string
	for i := range 20 {
		files = append(files, fmt.Sprintf("%d/%s", i, strings.Repeat("n", 200)))
	}
	w := sourceWorld(t, files...)
	w.opts.Sources = filepath.Join(dir, "sources")
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 2 || !strings.Contains(sum.Problems[0].Advice, "make room") || !strings.Contains(sum.Problems[1].Text, "more of its source files") {
		t.Fatalf(`got %s, %v; want no error, 2 problems, Problems[0].Advice with "make room", Problems[1].Text with "more of its source files"`, asJSON(sum), err)
	}
	w.resolve(w.opts.Output)
}

// Who may not read a dump may not read its code either.
func TestObjects_DumpUnreadableForOthers(t *testing.T) {
	for dump, want := range map[os.FileMode]os.FileMode{0o600: 0o600, 0o640: 0o640, 0o644: 0o644, 0o777: 0o644} {
		w := sourceWorld(t, "a.toy")
		w.opts.Sources = w.path("sources")
		if err := os.Chmod(w.path("jit-100.dump"), dump); err != nil {
			t.Fatal(err)
		}
		w.check()
		for _, file := range []string{"jitted-100-0.so", "sources/a.toy"} {
			st, err := os.Stat(w.path(file))
			if err != nil || st.Mode() != want {
				t.Errorf("of a dump with %v, %s has %v, %v; want %v", dump, file, st.Mode(), err, want)
			}
		}
	}
}
