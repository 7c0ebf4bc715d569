package sys

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A FIFO in the place of a file must not stop the program.
func TestOpen_FIFO(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "fifo")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() error{
		"Open":  func() error { _, err := Open(path); return err },
		"DirFS": func() error { _, err := DirFS(dir).Open("fifo"); return err },
	} {
		done := make(chan error, 1)
		go func() { done <- open() }()
		select {
		case err := <-done:
			if err == nil || !strings.Contains(err.Error(), "it is no regular file") {
				t.Errorf("%s: got %v; want that it is no regular file", name, err)
			}
		case <-time.After(time.Minute):
			t.Fatalf("%s: got a call that waits for a writer; want an error", name)
		}
	}
	if f, err := Open(dir); err != nil {
		t.Errorf("a directory: got %v; want it opened", err)
	} else {
		f.Close()
	}
}
