package hostile

import (
	"errors"
	"os"
	"testing"
)

// A run that makes objects may need those which an older result refers to: clean leaves
// them to it.
func TestCleaning_BesideInject(t *testing.T) {
	s := newStage(t, 1200)
	s.inject("--objects", "objects").wants(allInjected)
	s.put("old.data", s.read("out.data"))

	slow := s.startSlow()
	before := s.countObjects()
	s.run("clean", "old.data").wants(notWritten, "objects: another run is writing into it", "nothing was removed")
	if after := s.countObjects(); after != before || after == 0 {
		t.Errorf("%d of %d objects are left", after, before)
	}

	slow.end().wants(allInjected)
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
