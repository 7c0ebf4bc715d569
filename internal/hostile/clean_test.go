package hostile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A run that makes objects may need those which an older result refers to: clean leaves
// them to it.
func TestCleanBesideInject(t *testing.T) {
	s := newStage(t, 1200)
	s.inject("--objects", "objects").wants(allInjected)
	s.put("old.data", s.read("out.data"))

	// It is kept at its work by a pipe that nobody empties.
	s.must(syscall.Mkfifo(s.path("slow"), 0o600))
	pipe, err := os.OpenFile(s.path("slow"), os.O_RDWR, 0)
	s.must(err)
	defer pipe.Close()
	cmd := exec.Command(program, "-q", "-i", "perf.data", "-o", "slow", "--objects", "objects")
	cmd.Dir = s.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	s.must(cmd.Start())
	first := make([]byte, 1)
	if _, err := pipe.Read(first); err != nil { // now it writes
		t.Fatal(err)
	}
	before := s.countObjects()
	s.run("clean", "old.data").wants(notWritten, "objects: it is being written into", "nothing was removed")
	if after := s.countObjects(); after != before || after == 0 {
		t.Errorf("%d of %d objects are left", after, before)
	}

	go func() {
		io.Copy(io.Discard, pipe)
	}()
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	s.shows("old.data", 1200)
	s.run("clean", "old.data").wants(allInjected, "objects removed")
	if n := s.countObjects(); n != 0 {
		t.Errorf("%d objects are left", n)
	}
}

// countObjects returns how many files are in the directory of the objects.
func (s *stage) countObjects() (n int) {
	s.t.Helper()
	entries, err := os.ReadDir(s.path("objects"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		s.t.Fatal(err)
	}
	return len(entries)
}
