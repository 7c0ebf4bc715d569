package dumptail

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/procmem"
	"github.com/jitinject/jitinject/internal/safefile/sys"
)

func TestDumps_OwnNumber(t *testing.T) {
	w := startWriter(t, compile(t, gcc), "stdio")
	answer := w.do("k")
	child, err := strconv.Atoi(strings.TrimSpace(answer))
	if err != nil {
		t.Fatalf("got answer %q; want the number of a child", answer)
	}
	defer unix.Kill(child, unix.SIGKILL)
	d := w.dump()
	if d.PID != w.pid() || d.Path != w.path() || d.FD < 3 {
		t.Errorf("got %+v; want the dump %s of process %d", d, w.path(), w.pid())
	}
	if info, err := os.Stat(w.path()); err != nil || !os.SameFile(info, d.Info) {
		t.Errorf("got the file %+v, %v; want that of %s", d.Info, err, w.path())
	}
	if dumps, err := Dumps(uint32(child)); len(dumps) > 0 || err != nil {
		t.Errorf("got %+v, %v of a child that inherited the dump; want none", dumps, err)
	}
	w.do("c")
	if dumps, err := Dumps(w.pid()); len(dumps) > 0 || err != nil {
		t.Errorf("got %+v, %v of a process that closed its dump; want none", dumps, err)
	}
}

func TestDumps_OtherNumber(t *testing.T) {
	w := startWriter(t, compile(t, gcc), "stdio", "1")
	w.do("w1")
	if dumps, err := Dumps(w.pid()); len(dumps) > 0 || err != nil {
		t.Errorf("got %+v, %v; want none: its name has another number", dumps, err)
	}
}

// A dump that is open for reading only is not written.
func TestDumps_OpenForReading(t *testing.T) {
	path := t.TempDir() + "/jit-" + strconv.Itoa(os.Getpid()) + ".dump"
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ flags, want int }{{os.O_RDONLY, 0}, {os.O_WRONLY, 1}, {os.O_RDWR | os.O_APPEND, 1}} {
		f, err := os.OpenFile(path, c.flags, 0)
		if err != nil {
			t.Fatal(err)
		}
		if dumps, err := Dumps(uint32(os.Getpid())); len(dumps) != c.want || err != nil {
			t.Errorf("got %+v, %v with flags %#x; want %d", dumps, err, c.flags, c.want)
		}
		f.Close()
	}
}

// A process may have its dump open as often as it likes.
func TestDumps_ManyDescriptors(t *testing.T) {
	path := t.TempDir() + "/jit-" + strconv.Itoa(os.Getpid()) + ".dump"
	for range 2 * maxDumps {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
	}
	if dumps, err := Dumps(uint32(os.Getpid())); len(dumps) != maxDumps || err != nil {
		t.Errorf("got %d, %v; want %d", len(dumps), err, maxDumps)
	}
}

// A denier fails the listing of descriptors.
type denier struct{ err error }

func (d denier) Before(c *sys.Call) error {
	if c.Name == "getdents64" && strings.HasSuffix(c.Path, "/fd") {
		return d.err
	}
	return nil
}

func (denier) After(*sys.Call, int, error) {}

func TestDumps_Errors(t *testing.T) {
	if _, err := Dumps(1 << 31); !errors.Is(err, procmem.ErrNone) {
		t.Errorf("got error %v; want %v", err, procmem.ErrNone)
	}
	defer sys.Use(denier{unix.EACCES})()
	if _, err := Dumps(uint32(os.Getpid())); !errors.Is(err, procmem.ErrNotAllowed) {
		t.Errorf("got error %v; want %v", err, procmem.ErrNotAllowed)
	}
}

func BenchmarkDumps(b *testing.B) {
	for range b.N {
		if _, err := Dumps(uint32(os.Getpid())); err != nil {
			b.Fatal(err)
		}
	}
}
