package show_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/testrec"
)

// shown returns what is shown of a file. Damage is no failure.
func shown(t testing.TB, path string, opts show.Options) string {
	t.Helper()
	var out bytes.Buffer
	err := show.File(&out, path, &opts)
	var damaged *show.Damaged
	if nothing := errors.Is(err, show.ErrNoMatch); nothing && out.Len() > 0 {
		t.Errorf("%s: nothing to show is %q", path, out.String())
	} else if err != nil && !nothing && !errors.As(err, &damaged) {
		t.Fatalf("%s: %v", path, err)
	}
	return out.String()
}

// whole returns what is shown of a file that has no damage.
func whole(t testing.TB, path string, opts show.Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := show.File(&out, path, &opts); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return out.String()
}

// recordings are all of testdata.
func recordings(t testing.TB) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(testrec.Path("recordings", "*.tar.zst"))
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, p := range paths {
		names = append(names, strings.TrimSuffix(filepath.Base(p), ".tar.zst"))
	}
	return names
}

// shownFiles are the files of a recording that can be shown.
func shownFiles(t testing.TB, dir string) (paths []string) {
	t.Helper()
	for _, pattern := range []string{"*.data", "*.data.dir", "*.dump"} {
		more, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, more...)
	}
	if len(paths) == 0 {
		t.Fatalf("%s: only %v to be shown", dir, paths)
	}
	return paths
}

// Every line of JSON is an object with a type; with hex and disassembly it holds the
// same fields and more.
func TestJSONLines(t *testing.T) {
	for _, name := range recordings(t) {
		if slices.Contains(often, name) && os.Getenv("JITINJECT_ALL") == "" {
			continue
		}
		dir := testrec.Unpack(t, name)
		for _, path := range shownFiles(t, dir) {
			plain := strings.Split(strings.TrimSuffix(shown(t, path, show.Options{JSON: true}), "\n"), "\n")
			more := strings.Split(strings.TrimSuffix(shown(t, path, show.Options{JSON: true, Hex: true, Disassemble: true}), "\n"), "\n")
			if len(plain) != len(more) || len(plain) < 3 {
				t.Fatalf("%s: %d lines, with hex and code %d", path, len(plain), len(more))
			}
			for i := range plain {
				var a, b map[string]json.RawMessage
				if err := json.Unmarshal([]byte(plain[i]), &a); err != nil {
					t.Fatalf("%s: line %d: %v\n%s", path, i, err, plain[i])
				}
				if err := json.Unmarshal([]byte(more[i]), &b); err != nil {
					t.Fatalf("%s: line %d with hex and code: %v\n%s", path, i, err, more[i])
				}
				if len(more[i]) < 10_000 { // it takes its time
					if key := twice(t, more[i]); key != "" {
						t.Fatalf("%s: there are two %s: %.300s", path, key, more[i])
					}
				}
				if a["type"] == nil {
					t.Fatalf("%s: no type: %s", path, plain[i])
				}
				for key, value := range a {
					if !bytes.Equal(value, b[key]) {
						t.Fatalf("%s: line %d: %s is %s, with hex and code %s", path, i, key, value, b[key])
					}
				}
				if typ := string(a["type"]); b["hex"] == nil && typ != `"file"` && !(typ == `"header"` && !strings.HasSuffix(path, ".dump")) && typ != `"error"` {
					t.Fatalf("%s: no bytes: %.200s", path, more[i])
				}
			}
		}
	}
}

// twice returns a key that an object of a JSON text has twice, or "".
func twice(t *testing.T, text string) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var walk func() string
	walk = func() string {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		open, ok := token.(json.Delim)
		if !ok {
			return ""
		}
		keys := make(map[string]bool)
		for d.More() {
			if open == '{' {
				key, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				if name := key.(string); keys[name] {
					return name
				} else {
					keys[name] = true
				}
			}
			if key := walk(); key != "" {
				return key
			}
		}
		if _, err := d.Token(); err != nil {
			t.Fatal(err)
		}
		return ""
	}
	return walk()
}

// Text and JSON have the same items in the same order, and no line of either could do
// something to a terminal.
func TestTextAndJSON(t *testing.T) {
	head := regexp.MustCompile(`(?m)^(?:0x([0-9a-f]+) +(?:[0-9]+\.[0-9]{9} +)?)?([A-Za-z][A-Za-z0-9_]*) `)
	for _, name := range recordings(t) {
		dir := testrec.Unpack(t, name)
		for _, path := range shownFiles(t, dir) {
			text := shown(t, path, show.Options{})
			lines := strings.Split(strings.TrimSuffix(shown(t, path, show.Options{JSON: true}), "\n"), "\n")
			heads := head.FindAllStringSubmatch(text, -1)
			if len(heads) != len(lines) {
				t.Fatalf("%s: %d items as text, %d as JSON", path, len(heads), len(lines))
			}
			for i, line := range lines {
				var it struct{ Type string }
				if json.Unmarshal([]byte(line), &it) != nil || it.Type != heads[i][2] {
					t.Fatalf("%s: item %d is %q as text and %q as JSON", path, i, heads[i][0], line)
				}
			}
			for i, c := range []byte(text) {
				if c < ' ' && c != '\n' || c == 0x7f {
					t.Fatalf("%s: byte %#x in the text at %d", path, c, i)
				}
			}
		}
	}
}

// A recording of a machine with the other byte order shows the same.
func TestSwapped(t *testing.T) {
	for _, name := range testrec.Names {
		if name == "erlang" && testing.Short() {
			continue
		}
		dir := testrec.Unpack(t, name)
		for _, path := range shownFiles(t, dir) {
			in, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := shown(t, path, show.Options{})
			out, err := testrec.SwapFile(in)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, out, 0o600); err != nil {
				t.Fatal(err)
			}
			got := shown(t, path, show.Options{})
			if !strings.Contains(got, "order=big-endian") {
				t.Fatalf("%s: it was not swapped", path)
			}
			got = strings.Replace(got, "order=big-endian", "order=little-endian", 1)
			if got != want {
				g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
				for i := range min(len(g), len(w)) {
					if g[i] != w[i] {
						t.Fatalf("%s: line %d\n%s\nin the other byte order\n%s", path, i, w[i], g[i])
					}
				}
				t.Fatalf("%s: %d lines, in the other byte order %d", path, len(w), len(g))
			}
		}
	}
}

// A stream shows what the same file does.
func TestPipe(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	path := filepath.Join(dir, "perf.pipe.data")
	in, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	go func() {
		io.Copy(w, bytes.NewReader(in))
		w.Close()
	}()
	got := whole(t, "-", show.Options{Stdin: r})
	want := strings.Replace(whole(t, path, show.Options{}), "name="+path, "name=-", 1)
	if got != want {
		t.Errorf("through a pipe, %d bytes of text; from the file, %d", len(got), len(want))
	}
}
