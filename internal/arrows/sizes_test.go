package arrows

import (
	"bytes"
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
	eachFile(t, func(path string, text []byte) {
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return
		}
		n := bytes.Count(text, []byte("\n"))
		lines[filepath.Dir(path)] += n
		if n > mostOfFile {
			t.Errorf("%s: got %d lines; want at most %d", path, n, mostOfFile)
		}
	})
	if len(lines) < 50 {
		t.Errorf("got %d packages; want those of the whole tree", len(lines))
	}
	for dir, n := range lines {
		if n > mostOfPackage {
			t.Errorf("%s: got %d lines; want at most %d, or a second package", dir, n, mostOfPackage)
		}
	}
}
