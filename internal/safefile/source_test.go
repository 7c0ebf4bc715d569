package safefile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/safefile"
)

// Paths of source files come from files that anyone may have written.
func TestReadSource_RegularFilesOnly(t *testing.T) {
	dir := t.TempDir()
	text, link, fifo, huge := filepath.Join(dir, "a.js"), filepath.Join(dir, "link.js"), filepath.Join(dir, "fifo"), filepath.Join(dir, "huge")
	if err := os.WriteFile(text, []byte("a line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(text, link); err != nil {
		t.Fatal(err)
	}
	if err := unix.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(huge, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(huge, 8<<20+1); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{text, link} {
		if got, err := safefile.ReadSource(path); string(got) != "a line\n" || err != nil {
			t.Errorf("%s: got %q, %v; want the text", path, got, err)
		}
	}
	for path, want := range map[string]string{
		fifo: "not a regular file", dir: "not a regular file", "/dev/zero": "not a regular file",
		"/proc/self/status": "empty", huge: "more than 8 MiB", dir + "/none": "no such file",
	} {
		if got, err := safefile.ReadSource(path); got != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %d bytes, %v; want %q", path, len(got), err, want)
		}
	}
}
