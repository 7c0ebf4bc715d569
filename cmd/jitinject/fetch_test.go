package main

import (
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/testrec"
)

// serveObjects takes the objects of a directory away and serves them by build id.
func serveObjects(t *testing.T, dir string) *httptest.Server {
	t.Helper()
	objects := make(map[string][]byte)
	paths, err := filepath.Glob(filepath.Join(dir, "jitted-*.so"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %d objects, %v; want some", len(paths), err)
	}
	for _, path := range paths {
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
		if objects[id], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := strings.Split(r.URL.Path, "/")[2]
		if objects[id] == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Write(objects[id])
	}))
	t.Cleanup(server.Close)
	return server
}

// The command says what it fetched, and its exit code whether something is missing.
func TestFetchCommand_SaysWhatIsMissing(t *testing.T) {
	testrec.Tool(t, "debuginfod-find")
	dir := testrec.Place(t, "php")
	for _, name := range []string{"URLS", "TIMEOUT", "MAXTIME", "MAXSIZE", "RETRY_LIMIT", "HEADERS_FILE", "CACHE_PATH"} {
		unsetenv(t, "DEBUGINFOD_"+name)
	}
	unsetenv(t, "PERF_BUILDID_DIR")
	unsetenv(t, "PERF_CONFIG")
	t.Setenv("HOME", filepath.Join(dir, "home"))
	if code, _, stderr := command(t, dir); code != exitOK {
		t.Fatal(stderr)
	}
	server := serveObjects(t, dir)
	empty := httptest.NewServer(http.NotFoundHandler())
	defer empty.Close()
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	step := func(args string, want int, texts ...string) (stdout, stderr string) {
		t.Helper()
		code, stdout, stderr := command(t, dir, strings.Fields(args)...)
		if code != want {
			t.Errorf("%q: got exit code %d; want %d\n%s", args, code, want, stderr)
		}
		for _, text := range texts {
			if !strings.Contains(stderr, text) {
				t.Errorf("%q: got %q; want %q", args, stderr, text)
			}
		}
		return stdout, stderr
	}
	step("fetch", exitUsage, "fetch needs the names", "see jitinject fetch --help")
	step("fetch perf.jit.data", exitUsage, "no server is named: use --server URL, or set DEBUGINFOD_URLS")
	step("fetch --in-place --buildid-cache x --server http://a perf.jit.data", exitUsage, "--in-place")
	step("fetch --server "+server.URL+" nowhere.data", exitFailed, "there is no such file")
	step("fetch --server "+server.URL+" perf.data", exitOK, "nothing to fetch")
	stdout, _ := step("fetch -n perf.jit.data", exitOK, "perf.jit.data: 3 of 44 objects are needed, 3 are missing\n")
	if lines := strings.Split(strings.TrimSpace(stdout), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[0], "c22d8195ab5c31809a3c3842ae75b81966c74a37 "+dir+"/jitted-10085-39.so") {
		t.Errorf("got %q; want 3 build ids and paths", stdout)
	}
	_, stderr := step("fetch --server "+empty.URL+" perf.jit.data", exitIncomplete, "3 of 44 objects are needed: 0 fetched, 3 missing", "kill -USR1")
	if n := strings.Count(stderr, "): no server has it\n"); n != 3 {
		t.Errorf("got %d lines about objects; want 3\n%s", n, stderr)
	}
	step("fetch --all --server "+empty.URL+" perf.jit.data", exitIncomplete, "34 more are missing; -v names them")
	step("fetch --server "+gone.URL+" perf.jit.data", exitIncomplete, "debuginfod-find: Server query failed: Connection refused", "3 missing")
	t.Setenv("DEBUGINFOD_URLS", gone.URL+" "+empty.URL+" "+server.URL)
	stdout, _ = step("fetch -v perf.jit.data", exitOK, "3 of 44 objects are needed: 3 fetched (3,040 bytes in ")
	if !strings.Contains(stdout, "/jitted-10085-39.so\n") {
		t.Errorf("got %q; want the names of objects", stdout)
	}
	if cached, _ := filepath.Glob(filepath.Join(dir, "home/.debug/.build-id/*/*/elf")); len(cached) != 3 {
		t.Errorf("got %q; want 3 objects in ~/.debug", cached)
	}
	step("fetch perf.jit.data", exitOK, "0 fetched, 3 there already\n")
	stdout, stderr = step("fetch --json --all --buildid-cache cache perf.jit.data", exitOK)
	var sum struct{ Objects, Wanted, Fetched int }
	if err := json.Unmarshal([]byte(stdout), &sum); err != nil || sum.Objects != 44 || sum.Wanted != 44 || sum.Fetched != 44 || strings.Contains(stderr, "wanted") {
		t.Errorf("got %+v, %v; want 44 objects, all fetched\n%s%s", sum, err, stdout, stderr)
	}
	if cached, _ := filepath.Glob(filepath.Join(dir, "cache/.build-id/*/*/elf")); len(cached) != 44 {
		t.Errorf("got %d; want 44 objects in the named cache", len(cached))
	}
	if _, stderr := step("fetch -q --all --in-place perf.jit.data", exitOK); strings.Contains(stderr, "wanted") {
		t.Errorf("got %q; want no summary", stderr)
	}
	step("verify perf.jit.data", exitOK)
}
