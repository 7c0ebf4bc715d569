package stdio

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

// fileOf returns a file with a text, at its end.
func fileOf(t *testing.T, text string, flags int) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, flags, 0)
	if err == nil {
		_, err = f.Seek(0, io.SeekEnd)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// pipeOf returns the reading end of a pipe with a text. No more comes.
func pipeOf(t *testing.T, text string) *os.File {
	t.Helper()
	r, w, err := os.Pipe()
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { r.Close() })
	return r
}

// socketOf returns a socket with a text to read. No more comes.
func socketOf(t *testing.T, text string) *os.File {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	r, w := os.NewFile(uintptr(fds[0]), "r"), os.NewFile(uintptr(fds[1]), "w")
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	w.Close()
	t.Cleanup(func() { r.Close() })
	return r
}

// closed returns a file that is closed.
func closed(t *testing.T) *os.File {
	t.Helper()
	f := fileOf(t, magic, os.O_RDONLY)
	f.Close()
	return f
}

func TestHasRecording_Kinds(t *testing.T) {
	for _, c := range []struct {
		name string
		f    *os.File
		kind Kind
		is   bool
		rest string // what the input still has
		said string
	}{
		{"file", fileOf(t, magic+" rest", os.O_RDONLY), Regular, true, "", ""},
		{"other order", fileOf(t, magicSwapped, os.O_RDONLY), Regular, true, "", ""},
		{"script", fileOf(t, "#!/bin/sh\n", os.O_RDONLY), Regular, false, "", ""},
		{"short file", fileOf(t, "PERF", os.O_RDONLY), Regular, false, "", ""},
		{"empty file", fileOf(t, "", os.O_RDONLY), Regular, false, "", ""},
		{"file for writing", fileOf(t, magic, os.O_WRONLY), Regular, false, "", ""},
		{"pipe", pipeOf(t, magic+" rest"), FIFO, true, magic + " rest", ""},
		{"list", pipeOf(t, "one\ntwo\n"), FIFO, false, "one\ntwo\n", "standard input is not a recording"},
		{"short pipe", pipeOf(t, "PERF"), FIFO, false, "PERF", ""},
		{"empty pipe", pipeOf(t, ""), FIFO, false, "", ""},
		{"socket", socketOf(t, magic+" rest"), Socket, true, magic + " rest", ""},
		{"closed", closed(t), Other, false, "", ""},
		{"none", nil, Other, false, "", ""},
	} {
		var said bytes.Buffer
		is, err := HasRecording(c.f, &said)
		if is != c.is || err != nil || c.said == "" && said.Len() > 0 || !strings.Contains(said.String(), c.said) {
			t.Errorf("%s: got %v, %v, %q; want %v, no error, %q", c.name, is, err, said.String(), c.is, c.said)
		}
		if kind, err := KindOf(c.f); kind != c.kind || err != nil {
			t.Errorf("%s: got kind %v, %v; want %v", c.name, kind, err, c.kind)
		}
		if c.f == nil || c.name == "closed" || c.name == "file for writing" {
			continue
		}
		if rest, err := io.ReadAll(c.f); string(rest) != c.rest || err != nil {
			t.Errorf("%s: got %q, %v left; want %q", c.name, rest, err, c.rest)
		}
	}
}

// Standard input that cannot be read is not one without a recording.
func TestHasRecording_EveryCallFails(t *testing.T) {
	f := fileOf(t, magic, os.O_RDONLY)
	calls := 0
	for n := 1; ; n++ {
		fault := &faults.Fault{N: n}
		restore := sys.Use(fault)
		is, err := HasRecording(f, io.Discard)
		restore()
		if fault.Happened() == "" {
			if !is || err != nil {
				t.Errorf("no fault: got %v, %v; want a recording", is, err)
			}
			break
		}
		calls++
		if is || !errors.Is(err, unix.EIO) {
			t.Errorf("%s: got %v, %v; want %v", fault.Happened(), is, err, unix.EIO)
		}
	}
	if calls != 2 {
		t.Errorf("got %d calls on a file; want fstat and pread64", calls)
	}
}

func TestHasRecording_NoDescriptorLeft(t *testing.T) {
	r := pipeOf(t, magic)
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 3, Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	is, err := HasRecording(r, io.Discard)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if is || !errors.Is(err, unix.EMFILE) {
		t.Errorf("got %v, %v; want %v", is, err, unix.EMFILE)
	}
}
