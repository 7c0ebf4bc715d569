package sys

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// open returns the number of descriptors that the process has.
func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// lentFiles returns n lent files. The i-th contains i.
func lentFiles(t *testing.T, n int) (files []*File, dir string) {
	t.Helper()
	dir = t.TempDir()
	for i := range n {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, fmt.Appendf(nil, "%08d", i), 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		f.Lend(info)
		files = append(files, f)
	}
	return files, dir
}

// Any number of files can be read, by several goroutines, while few descriptors are open.
func TestLend_ManyFiles(t *testing.T) {
	const n, goroutines = 4 * maxLent, 8
	before := descriptors(t)
	files, _ := lentFiles(t, n)
	if got := descriptors(t) - before; got > maxLent+2 {
		t.Errorf("got %d more descriptors; want at most %d", got, maxLent+2)
	}
	var wg sync.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			for k := range n {
				i := (k*(2*g+1) + g) % n
				b := make([]byte, 8)
				if _, err := files[i].ReadAt(b, 0); err != nil || string(b) != fmt.Sprintf("%08d", i) {
					t.Errorf("got %q of file %d, %v", b, i, err)
				}
			}
		})
	}
	wg.Wait()
	if got := descriptors(t) - before; got > maxLent+goroutines+2 {
		t.Errorf("got %d more descriptors; want at most %d", got, maxLent+goroutines+2)
	}
	for _, f := range files {
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := descriptors(t); got > before {
		t.Errorf("got %d descriptors; want %d", got, before)
	}
}

// A file that takes the place of a lent one is not read.
func TestLend_Replaced(t *testing.T) {
	files, dir := lentFiles(t, maxLent+1) // so the first is closed
	for _, replace := range []func(path string) error{
		func(path string) error { return os.Rename(filepath.Join(dir, "1"), path) },
		func(path string) error { return os.Remove(path) },
		func(path string) error { return os.Symlink(filepath.Join(dir, "2"), path) },
	} {
		if err := replace(filepath.Join(dir, "0")); err != nil {
			t.Fatal(err)
		}
		n, err := files[0].ReadAt(make([]byte, 8), 0)
		if err == nil || n != 0 || files[0].Failed() == nil {
			t.Errorf("got %d bytes, error %v, failed %v; want an error", n, err, files[0].Failed())
		}
	}
	for _, f := range files {
		f.Close()
	}
	if _, err := files[0].ReadAt(make([]byte, 8), 0); !errors.Is(err, os.ErrClosed) && err == nil {
		t.Errorf("got error %v of a closed file; want one", err)
	}
}

// A file that was removed before it is lent, and one with a link for a name, are still read.
func TestLend_NoName(t *testing.T) {
	dir := t.TempDir()
	removed, link := filepath.Join(dir, "removed"), filepath.Join(dir, "link")
	if err := errors.Join(os.WriteFile(removed, []byte("content"), 0o600), os.WriteFile(filepath.Join(dir, "target"), []byte("content"), 0o600), os.Symlink("target", link)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{removed, link} {
		f, err := Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if path == removed {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}
		f.Lend(info)
		others, _ := lentFiles(t, maxLent+1)
		b := make([]byte, 7)
		if _, err := f.ReadAt(b, 0); err != nil || string(b) != "content" {
			t.Errorf("%s: got %q, %v; want its content", path, b, err)
		}
		for _, other := range others {
			other.Close()
		}
	}
}
