package showtest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write what is shown into testdata")

// Put writes a file. Tests of what is shown change to a fresh directory first: names of files
// are part of that.
func Put(t testing.TB, name string, content []byte) {
	t.Helper()
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Golden compares what is shown with a file of testdata.
func Golden(t *testing.T, testdata, name, got string) {
	t.Helper()
	path := filepath.Join(testdata, name)
	if *update {
		Put(t, path, []byte(got))
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got == string(want) {
		return
	}
	g, w := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	for i := range max(len(g), len(w)) {
		if i >= len(g) || i >= len(w) || g[i] != w[i] {
			t.Fatalf("%s: line %d is\n%s\nand not\n%s\n(go test -run Golden -update, if that is right)", name, i+1, LineAt(g, i), LineAt(w, i))
		}
	}
}

// LineAt returns the i-th line, or that there is none.
func LineAt(lines []string, i int) string {
	if i < len(lines) {
		return lines[i]
	}
	return "(nothing)"
}
