package hostile

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// Other users put devices, FIFOs and links where a run reads or writes.

func TestPlanted_LinkToDevice(t *testing.T) {
	for _, name := range []string{"perf.jit.data", "named.data"} {
		s := newStage(t, 3)
		s.link("/dev/full", name)
		args := []string{}
		if name == "named.data" {
			args = []string{"-o", name}
		}
		before := s.list()
		s.run(args...).wants(notWritten, name, "a device", "-o")
		s.untouched(before)
	}
	// A device that was named itself is written to.
	s := newStage(t, 3)
	s.run("-i", "perf.data", "-o", "/dev/null").wants(allInjected)
}

func TestPlanted_FIFO(t *testing.T) {
	root(t)
	for _, c := range []struct {
		fifo  string
		owner int
		args  []string
		word  string
	}{
		{"perf.jit.data", nobody, nil, "was not named"},
		{"perf.jit.data", 0, nil, "was not named"},
		{"out.data", nobody, []string{"-o", "out.data"}, fmt.Sprintf("belongs to user %d", nobody)},
		{"perf.data", nobody, nil, "FIFO"},
		{"perf.data", nobody, []string{"-i", "perf.data"}, "belongs neither to you nor to root"},
	} {
		s := newStage(t, 3)
		os.Remove(s.path(c.fifo))
		s.must(syscall.Mkfifo(s.path(c.fifo), 0o666))
		s.chown(c.owner, c.fifo)
		// With both ends open, nothing waits.
		both, err := syscall.Open(s.path(c.fifo), syscall.O_RDWR|syscall.O_NONBLOCK, 0)
		s.must(err)
		s.run(c.args...).wants(notWritten, c.fifo, c.word)
		if n, _ := syscall.Read(both, make([]byte, 1)); n > 0 {
			t.Errorf("with %v: got %d bytes in the FIFO; want 0", c.args, n)
		}
		syscall.Close(both)
	}
}

func TestPlanted_LinkToObjects(t *testing.T) {
	root(t)
	s := newStage(t, 3)
	s.must(os.Mkdir(s.path("victims"), 0o755))
	for _, option := range []string{"--objects", "--sources", "--buildid-cache"} {
		s.link(s.path("victims"), "planted")
		s.must(os.Lchown(s.path("planted"), nobody, nobody))
		before := s.list()
		r := s.inject(option + "=" + filepath.Join("planted", "in"))
		if option == "--buildid-cache" { // the result is there
			r.wants(incomplete, "planted", "symbolic link")
			s.must(os.Remove(s.path("out.data")))
			for _, name := range []string{"jitted-4711-0.so", "jitted-4711-1.so", "jitted-4711-2.so"} {
				s.must(os.Remove(s.path(name)))
			}
		} else {
			r.wants(notWritten, "planted", "symbolic link", fmt.Sprint(nobody))
		}
		s.untouched(before)
		s.must(os.Remove(s.path("planted")))
	}
}

// Opening a FIFO waits for a reader, so its owner is looked at before.
func TestPlanted_FIFOWithoutReader(t *testing.T) {
	root(t)
	s := newStage(t, 3)
	s.must(syscall.Mkfifo(s.path("out.data"), 0o666))
	s.chown(nobody, "out.data")
	s.run("-o", "out.data").wants(notWritten, "out.data", fmt.Sprintf("belongs to user %d", nobody))
}

// An earlier result gets a side name, which another user may have taken.
func TestPlanted_SideName(t *testing.T) {
	root(t)
	s := newStage(t, 3)
	s.inject().wants(allInjected)
	earlier := s.read("out.data")
	for i := range 3 {
		name := fmt.Sprintf(".out.data.old.e%d.partial", i)
		s.put(name, "planted")
		s.chown(nobody, name)
	}
	s.inject().wants(allInjected)
	if got := s.read("out.data.old"); got != earlier {
		t.Errorf("got %d bytes as out.data.old; want the %d of the earlier result", len(got), len(earlier))
	}
	if got := s.read(".out.data.old.e0.partial"); got != "planted" {
		t.Errorf("got %q as the planted file; want it unchanged", got)
	}
}

// If other users have all names of the lock file, runs cannot know of each other, so clean removes
// nothing.
func TestPlanted_LockNames(t *testing.T) {
	root(t)
	s := newStage(t, 3)
	for i := range 16 {
		name := fmt.Sprintf(".jitinject-0.lock.%d.partial", i)
		s.put(name, "")
		s.chown(nobody, name)
	}
	s.inject().wants(allInjected)
	s.shows("out.data", 3)
	s.run("clean", "out.data").wants(notWritten, "lock")
	s.shows("out.data", 3)
}
