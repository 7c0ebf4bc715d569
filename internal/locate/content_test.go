package locate_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
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

// A map with another number is of no process that has its own, and of none that has no code there.
func TestResolve_MapOfAnotherRun(t *testing.T) {
	for _, content := range []string{
		"7f0000000000 40 elsewhere\n",
		"7f7f4cafd000 13 plain_0\n",
	} {
		dir := t.TempDir()
		if err := os.CopyFS(dir, os.DirFS("testdata/container-map")); err != nil {
			t.Fatal(err)
		}
		own := "7f7f4cafd000 13 own\n7f7f4cafd100 1d own\n7f7f4cafd200 27 own\n7f7f4cafd300 31 own\n"
		write(t, filepath.Join(dir, "perf-1.map"), content)
		want := int64(0)
		if strings.Contains(content, "plain") {
			write(t, filepath.Join(dir, "perf-31659.map"), own)
			want = 405
		}
		sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Force: true})
		if err != nil {
			t.Fatal(err)
		}
		if sum.Samples == nil || sum.Samples.Resolved != want {
			t.Errorf("with %q: got samples %+v; want %d resolved", content, sum.Samples, want)
		}
		for _, d := range sum.Dumps {
			if filepath.Base(d.Path) == "perf-1.map" {
				t.Errorf("with %q: got %+v; want perf-1.map left alone", content, d)
			}
		}
	}
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}
