package fetch_test

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/fetch"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A machine has a result without its objects, which a server has.
type machine struct {
	t      *testing.T
	dir    string            // of the machine
	paths  map[string]string // of objects in the result, by build id in hexadecimal
	files  map[string]string // what the server sends, by build id
	server *httptest.Server
	asked  int
}

// newMachine injects a recording and takes its objects away.
func newMachine(t *testing.T, recording string, opts inject.Options) *machine {
	t.Helper()
	m := &machine{t: t, dir: testrec.Place(t, recording), paths: make(map[string]string), files: make(map[string]string)}
	opts.Input, opts.Output, opts.Objects, opts.Force = m.path("perf.data"), m.path("out.data"), m.path("objects"), true
	if sum, err := inject.Run(t.Context(), opts); err != nil || !sum.Complete() {
		t.Fatalf("got %v, %v; want a complete result", sum, err)
	}
	objects, err := filepath.Glob(m.path("objects/jit*.so"))
	if err != nil || len(objects) == 0 {
		t.Fatalf("got %d objects, %v; want some", len(objects), err)
	}
	for _, path := range objects {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elffile.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		id := hex.EncodeToString([]byte(f.BuildID()))
		file.Close()
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m.paths[id], m.files[id] = path, string(content)
	}
	if err := os.RemoveAll(m.path("objects")); err != nil {
		t.Fatal(err)
	}
	m.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		m.asked++
		content, ok := m.files[strings.Split(r.URL.Path, "/")[2]]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Write([]byte(content))
	}))
	t.Cleanup(m.server.Close)
	return m
}

func (m *machine) path(name string) string { return filepath.Join(m.dir, name) }

// run fetches, one object after the other, so that the test's server needs no locks.
func (m *machine) run(ctx context.Context, change func(*fetch.Options)) (*fetch.Summary, error) {
	m.t.Helper()
	testrec.Tool(m.t, "debuginfod-find")
	return m.runWithout(ctx, change)
}

// runWithout is run where debuginfod-find may be missing.
func (m *machine) runWithout(ctx context.Context, change func(*fetch.Options)) (*fetch.Summary, error) {
	opts := fetch.Options{Input: m.path("out.data"), Force: true, Cache: m.path("cache"), Servers: []string{m.server.URL}, Jobs: 1}
	if change != nil {
		change(&opts)
	}
	return fetch.Run(ctx, opts)
}

// fetch is a run without an error.
func (m *machine) fetch(change func(*fetch.Options)) *fetch.Summary {
	m.t.Helper()
	sum, err := m.run(m.t.Context(), change)
	if err != nil {
		m.t.Fatalf("got error %v; want none", err)
	}
	return sum
}

// inOrder returns the build ids of objects in the order of their names.
func (m *machine) inOrder() []string {
	return slices.SortedFunc(maps.Keys(m.paths), func(a, b string) int {
		return cmp.Or(len(m.paths[a])-len(m.paths[b]), strings.Compare(m.paths[a], m.paths[b]))
	})
}

func all(o *fetch.Options) { o.All = true }

func inPlace(o *fetch.Options) { o.All, o.InPlace = true, true }

// filesBelow returns what is in the files below a directory, by their paths in it.
func filesBelow(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && !d.Type().IsRegular() {
			return nil
		}
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[name] = string(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// wantCached checks that the cache has these objects, under the names that perf uses, and no other
// files.
func (m *machine) wantCached(ids ...string) {
	m.t.Helper()
	want := make(map[string]string)
	for _, id := range ids {
		want[filepath.Join(m.paths[id], id, "elf")[1:]] = m.files[id]
		link := m.path(filepath.Join("cache", ".build-id", id[:2], id[2:]))
		if content, err := os.ReadFile(filepath.Join(link, "elf")); err != nil || string(content) != m.files[id] {
			m.t.Errorf("got %d bytes, %v in %s; want the object", len(content), err, link)
		}
	}
	if got := filesBelow(m.t, m.path("cache")); !maps.Equal(got, want) {
		m.t.Errorf("got files %q; want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
}
