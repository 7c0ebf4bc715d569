package gate

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
)

// TestSummary_CountsAsPerfShows compares the summary's number of samples in functions with what each perf
// shows, for every file of the recordings that TestResult_NeverWorseThanPerf does not have. make interop
// has the other layouts, too, each with one perf by chance.
func TestSummary_CountsAsPerfShows(t *testing.T) {
	testrec.Tool(t, "perf")
	perfs := testrec.Perfs(t)
	archives, err := filepath.Glob(testrec.Path("recordings", "*.tar.zst"))
	if err != nil || len(archives) == 0 {
		t.Fatalf("got %d recordings, %v; want some", len(archives), err)
	}
	layouts := 1
	if os.Getenv("JITINJECT_ALL") != "" {
		layouts = len(modes)
	}
	compared := 0
	for _, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.zst")
		if slices.Contains(testrec.Names, name) || slices.Contains(testrec.Stacks, name) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			dir := testrec.Unpack(t, name)
			if _, err := os.Stat(filepath.Join(dir, "perf.data")); err == nil {
				dir = testrec.Place(t, name)
			}
			for _, input := range inputs(t, dir) {
				for _, m := range modes[:layouts] {
					result := filepath.Join(dir, m.name+".result")
					sum, err := inject.Run(t.Context(), inject.Options{
						Input: input, Output: result, Objects: filepath.Join(dir, "objects-"+m.name), Bundle: m.bundle, Sampled: m.sampled, DumpDirs: []string{filepath.Dir(input)},
					})
					if err != nil || sum.Samples == nil {
						t.Logf("%s, %s: not injected: %v", input, m.name, err)
						break
					}
					versions := slices.Sorted(maps.Keys(perfs))
					if m != modes[0] {
						versions = testrec.Chosen(t, versions, 1, 1)
					}
					for _, version := range versions {
						samples, err := judge.Script(t.Context(), perfs[version], result, "-G")
						if err != nil {
							t.Logf("%s: perf %s: %v", input, version, err)
							continue
						}
						compared++
						samples = slices.DeleteFunc(samples, func(s judge.Sample) bool {
							return slices.ContainsFunc(sum.Traces, func(c inject.TraceSummary) bool { return strings.HasPrefix(s.Event, c.Event) })
						})
						if shown := int64(judge.CountOf(samples).Named); shown != sum.Samples.Resolved {
							t.Errorf("%s, %s: got %d samples in functions in the summary; want %d, as perf %s shows", input, m.name, sum.Samples.Resolved, shown, version)
						}
					}
				}
			}
		})
	}
	if compared == 0 {
		t.Error("got no comparison; want some")
	}
}

// inputs returns the recordings in a directory.
func inputs(t *testing.T, dir string) (paths []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".data.dir") {
			paths = append(paths, path)
			return fs.SkipDir
		}
		if err == nil && !d.IsDir() && strings.HasSuffix(path, ".data") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
