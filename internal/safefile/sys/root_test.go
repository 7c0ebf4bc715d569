package sys

import (
	"os"
	"path/filepath"
	"testing"
)

// in makes a directory with a subdirectory, and a directory outside of it that a link leads to.
func in(t *testing.T) (root *Root, dir, outside string) {
	dir, outside = t.TempDir(), t.TempDir()
	for _, err := range []error{
		os.MkdirAll(filepath.Join(dir, "sub", "deep"), 0o755),
		os.WriteFile(filepath.Join(dir, "sub", "deep", "file"), nil, 0o644),
		os.WriteFile(filepath.Join(outside, "kept"), nil, 0o644),
		os.Symlink("there", filepath.Join(outside, "link")),
		os.Symlink(outside, filepath.Join(dir, "out")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	root, err := OpenRoot(dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	return root, dir, outside
}

func TestRoot_RemoveAll(t *testing.T) {
	root, dir, outside := in(t)
	if err := os.Symlink(outside, filepath.Join(dir, "sub", "deep", "out")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"sub", "out", "none"} {
		if err := root.RemoveAll(name); err != nil {
			t.Errorf("RemoveAll %s: got %v; want no error", name, err)
		}
	}
	if left, err := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("got %v, %v; want an empty directory", left, err)
	}
	if _, err := os.Stat(filepath.Join(outside, "kept")); err != nil {
		t.Errorf("a file that a link leads to: got %v; want it kept", err)
	}
}

func TestRoot_NamesStayInside(t *testing.T) {
	root, _, outside := in(t)
	for _, name := range []string{"out/link", "../" + filepath.Base(outside) + "/link", "..", ".", "", "sub/..", "sub/../..", outside + "/link"} {
		if err := root.Mkdir(name, 0o755); err == nil {
			t.Errorf("Mkdir %q: got a directory; want an error", name)
		}
		if err := root.RemoveAll(name); err == nil {
			t.Errorf("RemoveAll %q: got no error", name)
		}
	}
	for _, name := range []string{"kept", "link"} {
		if _, err := os.Lstat(filepath.Join(outside, name)); err != nil {
			t.Errorf("%s outside: got %v; want it kept", name, err)
		}
	}
}
