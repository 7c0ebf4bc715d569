package perfcache

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile/sys"
)

const (
	original = "/work/app/jitted-1-2.so"
	entryDir = "work/app/jitted-1-2.so/abcdef"
	linkName = ".build-id/ab/cdef"
)

var id = []byte{0xab, 0xcd, 0xef}

// add adds an entry with a content to the cache in a directory. A file with that content stays.
func add(t *testing.T, dir, content string) error {
	t.Helper()
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a := c.Adder()
	defer a.Close()
	stays := func(f *sys.File) bool {
		there := make([]byte, len(content)+1)
		n, _ := f.ReadAt(there, 0)
		return string(there[:n]) == content
	}
	return a.Add(original, id, stays, func(dir int, _, name string) error {
		fd, err := sys.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW, 0o600)
		if err != nil {
			return err
		}
		defer sys.Close(fd)
		_, err = sys.Write(fd, []byte(content))
		return err
	})
}

// put makes a file or, with a target, a link, and its directories.
func put(t *testing.T, path, content, target string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	err := os.Symlink(target, path)
	if target == "" {
		err = os.WriteFile(path, []byte(content), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wantEntry reports an entry that perf would not find, or with another content.
func wantEntry(t *testing.T, dir, content string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(dir, linkName, File)); string(got) != content || err != nil {
		t.Errorf("got an entry with %q, %v; want %q", got, err, content)
	}
}

func TestAdd_LinksOutOfCache(t *testing.T) {
	for _, planted := range []string{".build-id", ".build-id/ab", "work", "work/app", "work/app/jitted-1-2.so", entryDir, entryDir + "/elf"} {
		dir, outside := t.TempDir(), t.TempDir()
		put(t, filepath.Join(dir, planted), "", outside)
		if err := add(t, dir, "object"); err == nil {
			t.Errorf("%s is a link: got no error", planted)
		}
		if got, err := os.ReadDir(outside); len(got) != 0 || err != nil {
			t.Errorf("%s is a link: got %v, %v outside of the cache; want nothing", planted, got, err)
		}
		if _, err := os.Lstat(filepath.Join(dir, linkName)); err == nil {
			t.Errorf("%s is a link: got a link to the entry", planted)
		}
	}
}

func TestAdd_LinkOfBuildID(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	put(t, filepath.Join(outside, File), "object", "")
	for name, target := range map[string]string{"out of the cache": outside, "to nothing": "../../none", "to another entry": "../../other", "to the entry": "../../" + entryDir} {
		os.RemoveAll(filepath.Join(dir, linkName))
		os.RemoveAll(filepath.Join(dir, "other"))
		put(t, filepath.Join(dir, linkName), "", target)
		put(t, filepath.Join(dir, "other", File), "another object", "")
		if err := add(t, dir, "object"); err != nil {
			t.Errorf("link %s: got %v; want no error", name, err)
		}
		wantEntry(t, dir, "object")
		if got, err := os.Readlink(filepath.Join(dir, linkName)); got != "../../"+entryDir {
			t.Errorf("link %s: got a link to %q, %v; want the entry", name, got, err)
		}
	}
}

func TestAdd_OtherEntryWithContent(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "other", File), "object", "")
	put(t, filepath.Join(dir, linkName), "", "../../other")
	if err := add(t, dir, "object"); err != nil {
		t.Errorf("got %v; want no error", err)
	}
	wantEntry(t, dir, "object")
	if _, err := os.Lstat(filepath.Join(dir, "work")); err == nil {
		t.Error("got a second entry; want that the first stays")
	}
}

// Directories stay open from one entry to the next, of another path and another build id.
func TestAdd_SeveralDirectories(t *testing.T) {
	dir := t.TempDir()
	c, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	a := c.Adder()
	defer a.Close()
	for path, id := range map[string]string{"/a/x": "\x01\x02", "/a/y": "\x01\x03", "/b/x": "\x02\x02", "/x": "\x02\x04"} {
		if err := a.Add(path, []byte(id), nil, func(dir int, at, name string) error {
			return sys.Mkdirat(dir, name, 0o755)
		}); err != nil {
			t.Errorf("%s: got %v; want no error", path, err)
		}
	}
	for link, path := range map[string]string{"01/02": "a/x/0102", "01/03": "a/y/0103", "02/02": "b/x/0202", "02/04": "x/0204"} {
		got, err := filepath.EvalSymlinks(filepath.Join(dir, ".build-id", link, File))
		if want := filepath.Join(dir, path, File); got != want {
			t.Errorf("%s: got %q, %v; want %q", link, got, err, want)
		}
	}
}
