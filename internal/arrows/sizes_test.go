package arrows

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Sizes of what one reads at a time, in lines without tests.
const (
	mostOfPackage = 4000
	mostOfFile    = 500
)

func TestSizes_OfPackagesAndFiles(t *testing.T) {
	lines := make(map[string]int)
	err := filepath.WalkDir("../..", func(path string, d os.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git" || d.Name() == "build"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		n := bytes.Count(text, []byte("\n"))
		lines[filepath.Dir(path)] += n
		if n > mostOfFile {
			t.Errorf("%s: got %d lines; want at most %d", path, n, mostOfFile)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(lines) < 50 {
		t.Errorf("got %d packages; want those of the whole tree", len(lines))
	}
	for dir, n := range lines {
		if n > mostOfPackage {
			t.Errorf("%s: got %d lines; want at most %d, or a second package", dir, n, mostOfPackage)
		}
	}
}
