package clients

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// The build-id cache, and what leaves a machine by it.

// at runs perf report with another directory for a home.
func (r *result) at(home, perf string, args ...string) string {
	r.t.Helper()
	cmd := testrec.Command(r.t, r.dir, perf, args...)
	cmd.Env = append(cmd.Env, "HOME="+home)
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("%s %v: %v", perf, args, err)
	}
	return string(out)
}

// hottestLine asks perf annotate for the line with most samples of the hot function.
// Some versions of perf crash over that.
func (r *result) hottestLine(home, perf string) (line string, crashed bool) {
	r.t.Helper()
	cmd := testrec.Command(r.t, r.dir, perf, "annotate", "--objdump="+testrec.Tool(r.t, "objdump"), "--stdio", "-l", "-f", "-i", "out.data", hotFunction)
	cmd.Env = append(cmd.Env, "HOME="+home)
	out, err := cmd.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		status := failed.Sys().(syscall.WaitStatus)
		sig := status.Signal()
		if status.Exited() { // it has caught the signal, or a shell has run it
			sig = syscall.Signal(status.ExitStatus() - 128)
		}
		if sig == syscall.SIGSEGV || sig == syscall.SIGABRT || sig == syscall.SIGBUS {
			return "", true
		}
		r.t.Fatalf("%s annotate: %v\n%s", perf, err, failed.Stderr)
	}
	if err != nil {
		r.t.Fatal(err)
	}
	first := hottest.FindStringSubmatch(string(out))
	if first == nil {
		r.t.Errorf("%s annotate shows no line:\n%s", perf, out)
		return "", false
	}
	return first[1], false
}

// A recording is packed up with perf archive, unpacked on what could be another machine,
// without the objects, and shows what it showed.
func TestPerfArchive_OnAnotherMachine(t *testing.T) {
	archiver := testrec.Tool(t, "perf")
	eachPerf(t, inject.Options{BuildIDCache: ".debug"}, func(t *testing.T, perf string, r *result) {
		if r.summary.Cached != r.summary.Objects {
			t.Errorf("%d of %d objects are in the cache", r.summary.Cached, r.summary.Objects)
		}
		// What else was hit is not in the cache, which perf archive mentions.
		r.run(archiver, "archive", "out.data")
		packed, err := filepath.Glob(r.path("out.data.tar.*"))
		if err != nil || len(packed) != 1 {
			t.Fatalf("perf archive made %v, %v", packed, err)
		}
		other, empty := filepath.Join(t.TempDir(), "home"), t.TempDir()
		if err := os.MkdirAll(filepath.Join(other, ".debug"), 0o755); err != nil {
			t.Fatal(err)
		}
		r.run(testrec.Tool(t, "tar"), "xf", packed[0], "-C", filepath.Join(other, ".debug"))
		crashes := false
		if perf != archiver { // which is to annotate
			_, crashes = r.hottestLine(empty, perf)
		}
		if err := os.RemoveAll(r.path("objects")); err != nil {
			t.Fatal(err)
		}
		args := []string{"report", "--stdio", "-n", "-g", "none", "--no-children", "--sort", "sym", "-f", "-i", "out.data"}
		for home, want := range map[string]int{other: hotSamples, r.dir: hotSamples, empty: 0} {
			if n := samplesOf(r.at(home, perf, args...), hotFunction); n != want {
				t.Errorf("with home %s, %d samples are in the hot function, want %d", home, n, want)
			}
		}
		if line, crashed := r.hottestLine(other, perf); (crashed || line != "hot.js:13") && !crashes {
			t.Errorf("the hottest line is %q, want hot.js:13", line)
		}
	})
}

// The layout is perf's: what perf buildid-cache --add makes of an object is what we have
// made of it, but for an empty file of perf probe's.
func TestBuildIDCache_LayoutOfPerf(t *testing.T) {
	for version, perf := range testrec.Perfs(t) {
		r := injected(t, "php", inject.Options{BuildIDCache: "cache"})
		objects, err := filepath.Glob(r.path("objects/jitted-*.so"))
		if err != nil || len(objects) != r.summary.Objects {
			t.Fatalf("got %v, %v; want no error, %d objects", len(objects), err, r.summary.Objects)
		}
		r.run(perf, "buildid-cache", "--add", strings.Join(objects, ","))
		ours, theirs := tree(t, r.path("cache")), tree(t, r.path(".debug"))
		for name, what := range theirs {
			if filepath.Base(name) != "probes" && ours[name] != what {
				t.Errorf("perf %s: perf has %s %.60q, we have %.60q", version, name, what, ours[name])
			}
			delete(ours, name)
		}
		for name := range ours {
			t.Errorf("perf %s: %s is ours only", version, name)
		}
		list := r.run(perf, "--buildid-dir", r.path("cache"), "buildid-cache", "--list")
		if n := strings.Count(list, "/jitted-"); n != len(objects) {
			t.Errorf("perf %s lists %d objects of the cache, want %d", version, n, len(objects))
		}
		// perf takes out of it what we have put in.
		r.run(perf, "--buildid-dir", r.path("cache"), "buildid-cache", "--remove", objects[0])
		list = r.run(perf, "--buildid-dir", r.path("cache"), "buildid-cache", "--list")
		if strings.Contains(list, objects[0]+"\n") {
			t.Errorf("perf %s: %s is still there", version, objects[0])
		}
	}
}

// tree lists what is in a directory: contents of files, where links lead.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		if d.Type()&os.ModeSymlink != 0 {
			all[name], err = os.Readlink(path)
			return err
		}
		b, err := os.ReadFile(path)
		all[name] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A run more changes nothing; what cannot be put into the cache is told, and the result
// is there; clean leaves the cache to perf.
func TestBuildIDCache_SecondRun(t *testing.T) {
	r := injected(t, "php", inject.Options{BuildIDCache: "cache"})
	before := tree(t, r.path("cache"))
	opts := inject.Options{Input: r.path("perf.data"), Output: r.path("out.data"), Objects: r.path("objects"), BuildIDCache: r.path("cache"), Force: true}
	sum, err := inject.Run(t.Context(), opts)
	if err != nil || !sum.Complete() || sum.Cached != sum.Objects {
		t.Fatalf("got %v, %+v; want no error, nothing missing, Cached = Objects", err, sum)
	}
	if after := tree(t, r.path("cache")); len(after) != len(before) {
		t.Errorf("%d files, before %d", len(after), len(before))
	}
	if _, err := inject.Clean(t.Context(), inject.CleanOptions{Input: r.path("out.data")}); err != nil {
		t.Fatal(err)
	}
	if after := tree(t, r.path("cache")); len(after) != len(before) {
		t.Errorf("clean leaves %d files of %d in the cache", len(after), len(before))
	}

	// Links of others do not lead out of the cache.
	outside := t.TempDir()
	opts.BuildIDCache = r.path("trap")
	if err := os.MkdirAll(r.path("trap"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, r.path("trap/.build-id")); err != nil {
		t.Fatal(err)
	}
	sum, err = inject.Run(t.Context(), opts)
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "could not be put into the build-id cache") {
		t.Errorf(`got %v, %+v; want no error, 1 problem, Problems[0].Text with "could not be put into the build-id cache"`, err, sum)
	}
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 0 {
		t.Errorf("got %v outside of the cache, %v; want nothing", entries, err)
	}
	opts.BuildIDCache = r.path("perf.data")
	sum, err = inject.Run(t.Context(), opts)
	if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "Options.BuildIDCache = DIR") {
		t.Errorf(`got %v, %+v; want no error, 1 problem, Problems[0].Text with "Options.BuildIDCache = DIR"`, err, sum)
	}
}
