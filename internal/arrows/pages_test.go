package arrows_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fileName    = regexp.MustCompile(`[A-Za-z0-9_/.-]*[A-Za-z0-9_]\.(?:go|txt|h|s)\b`)
	packageName = regexp.MustCompile(`\*\*([a-z0-9/]+)\*\*|\bPackage ([a-z0-9/]+)|(?:^|[^a-z0-9/.])((?:internal|cmd)/[a-z0-9/]*[a-z0-9](?:[a-z_]*\.[a-z]+)?)`)
	// otherTree matches files of perf, the kernel and OpenJ9.
	otherTree = regexp.MustCompile(`^(?:tools|include|compiler|runtime/oti)/`)
)

// Files and packages that ARCHITECTURE.md, RATIONALE.md and the packages' doc.go mention are there. The
// end of a path is enough.
func TestPages_NameWhatExists(t *testing.T) {
	paths, pages := make(map[string]bool), []string{"../../ARCHITECTURE.md", "../../RATIONALE.md"}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == "../../.git", path == "../../build", path == "../../bin":
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Name() == "doc.go":
			pages = append(pages, path)
		}
		for end := strings.TrimPrefix(path, "../../"); ; {
			paths[end] = true
			_, rest, more := strings.Cut(end, "/")
			if !more {
				return nil
			}
			end = rest
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	files, packages := 0, 0
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range fileName.FindAllString(string(text), -1) {
			if files++; !paths[name] && !otherTree.MatchString(name) {
				t.Errorf("got %s in %s; want the name of a file", name, page)
			}
		}
		for _, m := range packageName.FindAllStringSubmatch(string(text), -1) {
			if m[1] != "" && !strings.HasSuffix(page, ".md") {
				continue // bold text
			}
			name := m[1] + m[2] + m[3]
			if packages++; !paths[name] {
				t.Errorf("got package %s in %s; want one that exists", name, page)
			}
		}
	}
	if files < 50 || packages < 150 {
		t.Errorf("got %d names of files and %d of packages; want 50 and 150", files, packages)
	}
}
