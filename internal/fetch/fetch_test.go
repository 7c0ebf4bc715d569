package fetch_test

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/fetch"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/testrec"
)

func TestRun_AllIntoCache(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	ids := slices.Collect(maps.Keys(m.paths))
	sum := m.fetch(all)
	bytes := 0
	for _, content := range m.files {
		bytes += len(content)
	}
	if sum.Objects != 44 || sum.Wanted != 44 || sum.Fetched != 44 || len(sum.Missing) != 0 || sum.Bytes != int64(bytes) || sum.Into != m.path("cache") || sum.Unwinds {
		t.Errorf("got %+v; want 44 objects of %d bytes, all fetched", sum, bytes)
	}
	m.wantCached(ids...)
	// Servers are not asked for files that exist.
	m.asked = 0
	if sum := m.fetch(all); sum.There != 44 || sum.Fetched != 0 || m.asked != 0 {
		t.Errorf("got %+v after %d requests; want that all are there, after none", sum, m.asked)
	}
	// A damaged one is replaced.
	damaged := m.path(filepath.Join("cache", ".build-id", ids[0][:2], ids[0][2:], "elf"))
	if err := os.Truncate(damaged, int64(len(m.files[ids[0]])-1)); err != nil {
		t.Fatal(err)
	}
	if sum := m.fetch(all); sum.There != 43 || sum.Fetched != 1 {
		t.Errorf("got %+v; want that one is fetched", sum)
	}
	m.wantCached(ids...)
}

func TestRun_ThoseWithHits(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	sum := m.fetch(nil)
	if sum.Wanted != 3 || sum.Fetched != 3 {
		t.Errorf("got %+v; want 3 objects: no sample refers to the others", sum)
	}
}

func TestRun_DryRun(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	sum := m.fetch(func(o *fetch.Options) { o.DryRun, o.Servers = true, nil })
	if sum.Wanted != 3 || len(sum.Missing) != 3 || m.asked != 0 {
		t.Errorf("got %+v after %d requests; want 3 missing objects, after none", sum, m.asked)
	}
	for _, missing := range sum.Missing {
		if m.paths[missing.BuildID] != missing.Path || missing.Path == "" || missing.Reason != "" {
			t.Errorf("got %+v; want an object's build id and path", missing)
		}
	}
	if _, err := os.Lstat(m.path("cache")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v; want that there is no cache", err)
	}
}

// A file that is not the object is not taken, and leaves nothing.
func TestRun_OtherFiles(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	ids := m.inOrder()
	slices.SortStableFunc(ids, func(a, b string) int { // every fourth one comes first: a server may fail twice in a row
		return slices.Index(m.inOrder(), a)%4 - slices.Index(m.inOrder(), b)%4
	})
	objects := maps.Clone(m.files)
	m.files[ids[0]] = objects[ids[1]]
	m.files[ids[1]] = "no ELF"
	m.files[ids[2]] = ""
	m.files[ids[3]] = objects[ids[3]][:len(objects[ids[3]])-1]
	m.files[ids[4]] = objects[ids[4]][:100]
	delete(m.files, ids[5])
	m.files[ids[6]] = strings.Repeat("\x00", 1<<20)
	sum := m.fetch(all)
	if sum.Fetched != 44-7 || len(sum.Missing) != 7 {
		t.Fatalf("got %+v; want 7 missing objects", sum)
	}
	want := map[string]string{
		ids[0]: "the file has the build id " + ids[1], ids[1]: "no ELF file", ids[2]: "no server has it",
		ids[3]: "no ELF file", ids[4]: "no ELF file", ids[5]: "no server has it", ids[6]: "no ELF file",
	}
	for _, missing := range sum.Missing {
		if reason, ok := want[missing.BuildID]; !ok || !strings.Contains(missing.Reason, reason) || missing.Path != m.paths[missing.BuildID] || missing.Absent != (reason == "no server has it") {
			t.Errorf("got %+v; want %s with %q", missing, m.paths[missing.BuildID], reason)
		}
	}
	maps.Copy(m.files, objects)
	m.wantCached(ids[7:]...)
}

// A server that does not answer is not asked for each object.
func TestRun_ServerWithoutAnswers(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	m.server.Close()
	sum := m.fetch(all)
	stopped := 0
	for _, missing := range sum.Missing {
		if strings.Contains(missing.Reason, "servers failed 3 times in a row") {
			stopped++
		}
	}
	if len(sum.Missing) != 44 || stopped != 41 {
		t.Errorf("got %d missing objects, %d of them not asked for; want 44, 41: %+v", len(sum.Missing), stopped, sum.Missing[:1])
	}
}

// A server that fails has said nothing about its files.
func TestRun_ServerFails(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }))
	defer server.Close()
	sum := m.fetch(func(o *fetch.Options) { o.Servers = []string{server.URL} })
	if len(sum.Missing) != 3 || sum.Missing[0].Absent || !strings.Contains(sum.Missing[0].Reason, "a server answers with HTTP error 502") {
		t.Errorf("got %+v; want 3 missing objects, with HTTP error 502", sum)
	}
}

// The usual cache of clients is not used: it would say for ten minutes that the server has no file.
func TestRun_ServerHasItLater(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	t.Setenv("DEBUGINFOD_CACHE_PATH", m.path("client"))
	objects := m.files
	m.files = nil
	if sum := m.fetch(nil); len(sum.Missing) != 3 || !sum.Missing[0].Absent {
		t.Errorf("got %+v; want 3 objects that no server has", sum)
	}
	m.files = objects
	if sum := m.fetch(nil); sum.Fetched != 3 {
		t.Errorf("got %+v; want 3 objects", sum)
	}
	if got := filesBelow(t, m.path("client")); len(got) > 0 {
		t.Errorf("got %q in the cache of clients; want nothing", got)
	}
}

// Without debuginfod-find, a run that needs it says how to install it.
func TestRun_NoProgram(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	m.fetch(nil)
	t.Setenv("PATH", t.TempDir())
	if sum, err := m.runWithout(t.Context(), nil); err != nil || sum.There != 3 {
		t.Errorf("got %+v, %v; want 3 objects that are there", sum, err)
	}
	if sum, err := m.runWithout(t.Context(), all); sum != nil || !errors.Is(err, fetch.ErrNoProgram) {
		t.Errorf("got %+v, %v; want ErrNoProgram", sum, err)
	}
}

func TestRun_InPlace(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	ids := slices.Sorted(maps.Keys(m.paths))
	if err := os.Mkdir(m.path("objects"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.paths[ids[0]], []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	elsewhere := m.path("elsewhere")
	if err := os.WriteFile(elsewhere, []byte(m.files[ids[1]]), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, m.paths[ids[1]]); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(m.paths[ids[2]], []byte(m.files[ids[2]]), 0o600); err != nil {
		t.Fatal(err)
	}
	sum := m.fetch(inPlace)
	if sum.Fetched != 41 || sum.There != 1 || len(sum.Missing) != 2 || sum.Into != "" {
		t.Fatalf("got %+v; want 41 fetched, 1 there, 2 missing", sum)
	}
	for _, missing := range sum.Missing {
		want := map[string]string{ids[0]: "another file is there; it is left alone", ids[1]: "it is a symbolic link"}[missing.BuildID]
		if want == "" || !strings.Contains(missing.Reason, want) {
			t.Errorf("got %+v; want %q", missing, want)
		}
	}
	want := map[string]string{filepath.Base(m.paths[ids[0]]): "mine"}
	for _, id := range ids[2:] {
		want[filepath.Base(m.paths[id])] = m.files[id]
	}
	if got := filesBelow(t, m.path("objects")); !maps.Equal(got, want) {
		t.Errorf("got files %q; want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	// perf finds them there.
	if sum := m.fetch(nil); sum.Wanted != 3 || sum.There != 3 {
		t.Errorf("got %+v; want that all 3 are there", sum)
	}
	if _, err := os.Lstat(m.path("cache/.build-id")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v; want nothing in the cache", err)
	}
}

// Links do not lead out of the cache.
func TestRun_LinkOutOfCache(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	outside := t.TempDir()
	for _, name := range []string{".build-id", strings.Split(m.dir, "/")[1]} {
		if err := os.MkdirAll(m.path("cache"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(outside, m.path("cache/"+name)); err != nil {
			t.Fatal(err)
		}
		sum, err := m.run(t.Context(), all)
		if err != nil || sum.Fetched != 0 || len(sum.Missing) != sum.Wanted || !strings.Contains(sum.Missing[0].Reason, "cannot write it") {
			t.Errorf("%s: got %d fetched, %d missing, %v; want all %d missing, as they cannot be written", name, sum.Fetched, len(sum.Missing), err, sum.Wanted)
		}
		if got := filesBelow(t, outside); len(got) != 0 {
			t.Errorf("%s: got %q outside of the cache; want nothing", name, slices.Collect(maps.Keys(got)))
		}
		if err := os.RemoveAll(m.path("cache")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRun_InterruptedAnswer(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte("half"))
		w.(http.Flusher).Flush()
		cancel()
		<-r.Context().Done()
	}))
	defer server.Close()
	m.server = server
	sum, err := m.run(ctx, all)
	if !errors.Is(err, context.Canceled) || sum == nil || sum.Fetched != 0 {
		t.Errorf("got %+v, %v; want context.Canceled and a summary", sum, err)
	}
	m.wantCached()
}

// If a call fails, the cache has whole objects only, no other files, and the summary is right.
func TestRun_FailingCalls(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	for _, how := range []struct {
		name   string
		change func(*fetch.Options)
		dir    string
	}{{"cache", nil, "cache"}, {"in place", func(o *fetch.Options) { o.InPlace = true }, "objects"}} {
		calls := 0
		for n := 0; n <= calls; n++ {
			if err := os.RemoveAll(m.path(how.dir)); err != nil {
				t.Fatal(err)
			}
			fault := &faults.Fault{N: n}
			restore := sys.Use(fault)
			sum, err := m.run(t.Context(), how.change)
			restore()
			if n == 0 {
				calls = len(fault.Sites())
			}
			whole := 0
			for name, content := range filesBelow(t, m.path(how.dir)) {
				if !slices.Contains(slices.Collect(maps.Values(m.files)), content) {
					if err == nil || !strings.Contains(err.Error(), filepath.Base(name)) {
						t.Errorf("%s: %s: got file %s and error %v; want it to be an object, or named", how.name, fault.Happened(), name, err)
					}
					continue
				}
				whole++
			}
			if sum != nil && sum.Fetched > whole {
				t.Errorf("%s: %s: got %+v; want no more fetched than the %d that are there", how.name, fault.Happened(), sum, whole)
			}
			if err == nil && sum.There+sum.Fetched+len(sum.Missing) != sum.Wanted {
				t.Errorf("%s: %s: got %+v; want all wanted ones counted", how.name, fault.Happened(), sum)
			}
		}
		if calls < 50 {
			t.Errorf("%s: got %d calls; want more", how.name, calls)
		}
	}
}

// An object that cannot be written does not keep the others away. A directory in place of its link is
// no success.
func TestRun_OneUnwritable(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	id := m.inOrder()[0]
	if err := os.MkdirAll(m.path(filepath.Join("cache", ".build-id", id[:2], id[2:], "sub")), 0o755); err != nil {
		t.Fatal(err)
	}
	sum := m.fetch(all)
	if len(sum.Missing) != 1 || sum.Missing[0].BuildID != id || !strings.Contains(sum.Missing[0].Reason, "cannot write it") || sum.Fetched != sum.Wanted-1 {
		t.Errorf("got %d of %d fetched, missing %+v; want all but %s", sum.Fetched, sum.Wanted, sum.Missing, id)
	}
}

// Two runs at once put the same objects in place, and both succeed.
func TestRun_InPlaceTwiceAtOnce(t *testing.T) {
	if testing.Short() {
		testrec.Skip(t, "-short starts no debuginfod-find")
	}
	m := newMachine(t, "php", inject.Options{})
	var sums [2]*fetch.Summary
	var errs [2]error
	var wg sync.WaitGroup
	for i := range sums {
		wg.Add(1)
		go func() {
			defer wg.Done()
			sums[i], errs[i] = m.run(t.Context(), inPlace)
		}()
	}
	wg.Wait()
	for i, sum := range sums {
		if errs[i] != nil || len(sum.Missing) > 0 {
			t.Errorf("got missing %+v, %v; want none", sum.Missing, errs[i])
		}
	}
}

// A full disk ends the run: the other objects would fill it, too.
func TestRun_DiskFull(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	defer sys.Use(full{})()
	sum, err := m.run(t.Context(), all)
	if !errors.Is(err, unix.ENOSPC) || !strings.Contains(err.Error(), "no more objects are fetched") || sum.Fetched != 0 || m.asked != 1 || len(sum.Missing) != sum.Wanted {
		t.Errorf("got %+v, %v after %d requests; want ENOSPC after 1", sum, err, m.asked)
	}
	m.wantCached()
}

type full struct{}

func (full) Before(c *sys.Call) error {
	if c.Name == "write" || c.Name == "copy_file_range" {
		return unix.ENOSPC
	}
	return nil
}

func (full) After(*sys.Call, int, error) {}

func TestRun_UnreadableInput(t *testing.T) {
	m := newMachine(t, "php", inject.Options{})
	for input, want := range map[string]string{
		"-": "does not read standard input", m.path("nowhere"): "there is no such file; name a result", m.path("sort.php"): "name a result of jitinject",
	} {
		sum, err := m.run(t.Context(), func(o *fetch.Options) { o.Input = input })
		if sum != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v; want %q", input, sum, err, want)
		}
	}
	if sum := m.fetch(func(o *fetch.Options) { o.Input = m.path("perf.data") }); sum.Objects != 0 || sum.Wanted != 0 {
		t.Errorf("got %+v; want no objects", sum)
	}
	if err := os.WriteFile(m.path("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if sum, err := m.run(t.Context(), func(o *fetch.Options) { o.Cache = m.path("file") }); sum != nil || err == nil || !strings.Contains(err.Error(), "cannot put objects into a build-id cache there") {
		t.Errorf("got %+v, %v; want an error about the cache", sum, err)
	}
	// Nothing is put into the cache when all objects are at their paths.
	m.fetch(inPlace)
	if sum := m.fetch(func(o *fetch.Options) { o.All, o.Cache = true, m.path("file") }); sum.There != len(m.paths) || sum.Wanted != sum.There {
		t.Errorf("got %+v; want %d objects there", sum, len(m.paths))
	}
}
