package j9meta_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/format/j9meta"
)

// Of what a pattern names in a directory with captures, each capture comes once, and code with it.
func TestNamed_PatternAndDirectory(t *testing.T) {
	vector, err := os.ReadFile("testdata/plain-216.bin")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	const places = `"base": "0x1000", "startPC": "0x2000"`
	for name, text := range map[string]string{
		"a.bin": string(vector), "a.json": "{" + places + `, "code": "a.code", "cold_code": "cold.bin"}`, "a.code": "x", "cold.bin": "x",
		"b.bin": string(vector), "b.json": "{}", "b.code": "x", "perf.data": "x",
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ named, want string }{
		{"a.bin a.code a.json b.bin b.code b.json cold.bin perf.data", "a.bin b.bin b.code perf.data"},
		{"perf.data a.code ./a.json " + filepath.Join(dir, "a.bin") + " a.bin", "perf.data ./a.json"},
		{"a.bin cold.bin", "a.bin"},
		{"a.code b.bin", "a.code b.bin"},
		{"perf.data perf.data -", "perf.data perf.data -"},
		{"none.json none.bin a.code", "none.json a.code"},
		{"", ""},
	} {
		if got := j9meta.Named(strings.Fields(test.named)); !slices.Equal(got, strings.Fields(test.want)) {
			t.Errorf("%s: %v, want %s", test.named, got, test.want)
		}
	}
}
