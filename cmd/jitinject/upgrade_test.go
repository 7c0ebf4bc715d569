package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Where the kept results were made: the recordings name their objects there. A test puts them into a
// directory whose path has as many bytes.
var keptAt = "/var/tmp/kept/" + strings.Repeat("r", 60) + "/" + strings.Repeat("r", 60)

// placeKept unpacks the results of an earlier version, and returns their directory.
func placeKept(t *testing.T, version string) string {
	t.Helper()
	temp := t.TempDir()
	dir := filepath.Join(temp, strings.Repeat("r", len(keptAt)-len(temp)-1))
	if err := testrec.UnpackFile(testrec.Path("results", version+".tar.zst"), dir); err != nil {
		t.Fatal(err)
	}
	results, err := filepath.Glob(filepath.Join(dir, "*", "perf.jit.data"))
	if err != nil || len(results) == 0 {
		t.Fatalf("got %q, %v; want results in %s", results, err, dir)
	}
	for _, path := range results {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.ReplaceAll(b, []byte(keptAt), []byte(dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// The build-id cache has the objects at their paths below its own, with links to them.
	cache := filepath.Join(dir, "cache")
	links, err := filepath.Glob(filepath.Join(cache, ".build-id", "*", "*"))
	for _, link := range links {
		target, err := os.Readlink(link)
		if err = errors.Join(err, os.Remove(link), os.Symlink(strings.Replace(target, keptAt, dir, 1), link)); err != nil {
			t.Fatal(err)
		}
	}
	if err = errors.Join(err, os.MkdirAll(filepath.Join(cache, filepath.Dir(dir)), 0o755), os.Rename(filepath.Join(cache, keptAt), filepath.Join(cache, dir))); err != nil {
		t.Fatal(err)
	}
	return dir
}

// objectsIn returns the number of files below dir with the names of objects.
func objectsIn(t *testing.T, dir string) (n int) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && (strings.HasSuffix(path, ".so") || d.Name() == "elf") {
			n++
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Results of earlier versions can be verified, shown and removed: an object for each function and
// the build-id cache, bundles of the sampled functions, bundles without code.
func TestUpgrade_ResultsOfEarlierVersions(t *testing.T) {
	dir := placeKept(t, "0.1.0")
	for _, kept := range []struct {
		name, verified, removed, function string
		clean                             []string
		objects                           int // with those in the cache
	}{
		{"php", "44 mappings of 44 objects: no faults", "44 of 44 objects removed", "TRACE-1$collatz$2", []string{"--buildid-cache=" + dir + "/cache"}, 88},
		{"toyjit", "1 mapping of 1 object: no faults", "1 of 1 object removed", "deep", nil, 1},
		{"mono", "9 mappings of 4 objects: no faults", "4 of 4 objects removed", "App:IsPrime (int)", nil, 4},
	} {
		at := filepath.Join(dir, kept.name)
		all := objectsIn(t, dir)
		if code, out, stderr := verifyCommand(t, at, "perf.jit.data"); code != exitOK || !strings.Contains(out, kept.verified) {
			t.Errorf("%s: verify: got exit code %d, %q, %q; want %d, %q", kept.name, code, out, stderr, exitOK, kept.verified)
		}
		if !testing.Short() {
			for version, perf := range testrec.Perfs(t) {
				for args, want := range map[string]string{
					"report --stdio --no-children -g none -f -i perf.jit.data": "[.] " + kept.function,
					"export --format folded -o - perf.jit.data":                "_[j] ", // with a shorter name
				} {
					out, err := viewProgram(t, at, perf, strings.Fields(args)...).CombinedOutput()
					if err != nil || !strings.Contains(string(out), want) {
						t.Errorf("%s: %s with perf %s: got %v, %s; want %s", kept.name, args, version, err, out, want)
					}
				}
			}
		}
		code, _, stderr := command(t, at, append([]string{"clean", "perf.jit.data"}, kept.clean...)...)
		if left := objectsIn(t, dir); code != exitOK || !strings.Contains(stderr, kept.removed) || all-left != kept.objects {
			t.Errorf("%s: clean: got exit code %d, %d files removed, %q; want %d, %d, %q", kept.name, code, all-left, stderr, exitOK, kept.objects, kept.removed)
		}
	}
	if left := objectsIn(t, dir); left != 0 {
		t.Errorf("got %d objects after clean; want none", left)
	}
}
