package arrows

import (
	"bytes"
	"cmp"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The budget of this house, which somebody must be able to read and to carry on. A number here may
// fall. It rises only with a line in RATIONALE.md that says what the house has gained.
const (
	mostLinked = 96_950  // lines of Go that are linked into the command, without other modules
	mostLines  = 108_410 // all lines of Go without tests
	mostWords  = 59_470  // of all pages, but CHANGELOG.md
)

// slack is the part of a number that may remain unused when the number is not lowered: 1 in 50.
const slack = 50

func TestBudget_OfLinesAndWords(t *testing.T) {
	linked, lines, words := 0, 0, 0
	list := exec.Command(cmp.Or(os.Getenv("GO"), "go"), "list", "-deps", "-f", `{{with .Module}}{{if .Main}}{{range $.GoFiles}}{{$.Dir}}/{{.}}{{"\n"}}{{end}}{{end}}{{end}}`, "./cmd/jitinject")
	list.Dir = "../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range strings.Fields(string(out)) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		linked += bytes.Count(text, []byte("\n"))
	}
	eachFile(t, func(path string, text []byte) {
		switch {
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			lines += bytes.Count(text, []byte("\n"))
		case strings.HasSuffix(path, ".md") && filepath.Base(path) != "CHANGELOG.md":
			words += len(bytes.Fields(text))
		}
	})
	for _, b := range []struct {
		what      string
		got, most int
	}{{"lines linked into the command", linked, mostLinked}, {"lines of Go without tests", lines, mostLines}, {"words of pages", words, mostWords}} {
		if b.got > b.most {
			t.Errorf("got %d %s; want at most %d, or a line in RATIONALE.md that says why", b.got, b.what, b.most)
		}
		if b.most-b.got > b.most/slack {
			t.Errorf("got %d %s; want the budget of %d lowered to that", b.got, b.what, b.most)
		}
	}
}

// eachFile calls f for the files of the tree, but those that tests read and that a build makes.
func eachFile(t *testing.T, f func(path string, text []byte)) {
	t.Helper()
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "build" || d.Name() == "bin"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, ".md"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		f(path, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
