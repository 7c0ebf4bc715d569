package locate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/runtime/perfmap"
)

// Files are found by their first bytes and by where their functions lie. The summary says so.
func TestResolve_FilesKnownByContent(t *testing.T) {
	for _, c := range []struct {
		name, file, note string
		resolved         int64
	}{
		{"container-map", "perf-1.map", "where its functions lie", 405},
		{"cut-dump-and-map", "perf-20619.map", "completes the dump", 767},
		{"dump-of-another-name", "jit17206-17204.dump", "first bytes", 471},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(filepath.Join("testdata", c.name))); err != nil {
				t.Fatal(err)
			}
			sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Force: true})
			if err != nil {
				t.Fatal(err)
			}
			if sum.Samples == nil || sum.Samples.Resolved != c.resolved {
				t.Errorf("got samples %+v; want %d resolved", sum.Samples, c.resolved)
			}
			for _, d := range sum.Dumps {
				if filepath.Base(d.Path) == c.file && d.Functions == 4 && strings.Contains(d.Note, c.note) {
					return
				}
			}
			t.Errorf("got dumps %+v; want %s with 4 functions, found by %q", sum.Dumps, c.file, c.note)
		})
	}
}

// A map with another number is used only if nothing else comes into question: its functions are where the
// samples are, no other map fits, and its number is that of no process.
func TestResolve_MapsOfOthers(t *testing.T) {
	const own = "7f7f4cafd000 13 own\n7f7f4cafd100 1d own\n7f7f4cafd200 27 own\n7f7f4cafd300 31 own\n"
	for _, c := range []struct {
		name     string
		maps     map[string]string
		used     string
		resolved int64
	}{
		{"elsewhere", map[string]string{"perf-1.map": "7f0000000000 40 elsewhere\n"}, "", 0},
		{"the process's own", map[string]string{"perf-1.map": "7f7f4cafd000 13 plain_0\n", "perf-31659.map": own}, "perf-31659.map", 405},
		{"two that fit", map[string]string{"perf-0.map": strings.ReplaceAll(own, "own", "wrong")}, "", 0},
		{"one with few samples", map[string]string{"perf-0.map": "7f7f4cafd100 1d stale\n"}, "perf-1.map", 405},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.CopyFS(dir, os.DirFS("testdata/container-map")); err != nil {
				t.Fatal(err)
			}
			for name, content := range c.maps {
				write(t, filepath.Join(dir, name), content)
			}
			sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Force: true})
			if err != nil {
				t.Fatal(err)
			}
			if sum.Samples == nil || sum.Samples.Resolved != c.resolved {
				t.Errorf("got samples %+v; want %d resolved", sum.Samples, c.resolved)
			}
			used := ""
			for _, d := range sum.Dumps {
				used += filepath.Base(d.Path)
			}
			if used != c.used {
				t.Errorf("got %s; want %s used", used, c.used)
			}
		})
	}
}

// Maps of processes that share code by forks are not told apart by their functions.
func TestResolve_MapsOfForkedProcesses(t *testing.T) {
	for _, name := range []string{"forked-workers", "forked-sibling"} {
		sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join("testdata", name, "perf.data"), Output: filepath.Join(t.TempDir(), "out.data"), Force: true})
		if err != nil || len(sum.Dumps) > 0 {
			t.Errorf("%s: got %+v, %v; want no map used", name, sum, err)
		}
	}
	named := []config.SideFile{{Kind: perfmap.Kind, Path: "testdata/forked-workers/perf-8.map"}}
	sum, err := engine.Run(t.Context(), config.Options{Input: "testdata/forked-workers/perf.data", Output: filepath.Join(t.TempDir(), "out.data"), Force: true, SideFiles: named})
	if err != nil || len(sum.Dumps) > 0 || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "since a fork; name its process") {
		t.Errorf("got %+v, %v; want that the map's process must be named", sum, err)
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
