package show_test

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Every line of JSON is an object with a type; with hex and disassembly it holds the
// same fields and more.
func TestJSONLines(t *testing.T) {
	if testing.Short() {
		testrec.Skip(t, "-short shows no large recordings")
	}
	for _, name := range showtest.Recordings(t) {
		if slices.Contains(showtest.Often, name) && os.Getenv("JITINJECT_ALL") == "" {
			continue
		}
		dir := testrec.Unpack(t, name)
		for _, path := range showtest.Dumps(t, dir) {
			plain := strings.Split(strings.TrimSuffix(showtest.Shown(t, path, show.Options{JSON: true}), "\n"), "\n")
			more := strings.Split(strings.TrimSuffix(showtest.Shown(t, path, show.Options{JSON: true, Hex: true, Disassemble: true}), "\n"), "\n")
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
				if typ := string(a["type"]); b["hex"] == nil && typ != `"file"` && typ != `"error"` {
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
	for _, name := range testrec.Few(showtest.Recordings(t), 3) {
		dir := testrec.Unpack(t, name)
		for _, path := range showtest.Dumps(t, dir) {
			text := showtest.Shown(t, path, show.Options{})
			lines := strings.Split(strings.TrimSuffix(showtest.Shown(t, path, show.Options{JSON: true}), "\n"), "\n")
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
		for _, path := range showtest.Dumps(t, dir) {
			in, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			want := showtest.Shown(t, path, show.Options{})
			out, err := testrec.SwapFile(in)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, out, 0o600); err != nil {
				t.Fatal(err)
			}
			got := showtest.Shown(t, path, show.Options{})
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
