package hostile

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// chown gives files of the stage to someone.
func (s *stage) chown(uid int, names ...string) {
	s.t.Helper()
	for _, name := range names {
		s.must(os.Lchown(s.path(name), uid, uid))
	}
}

// The recording steers what is read and made, so it must be the user's own. The dumps
// are those of whatever process was recorded.
func TestOwners_RecordingOfOther(t *testing.T) {
	root(t)
	s := newStage(t, 3)
	s.chown(nobody, "perf.data")
	before := s.list()
	s.inject().wants(notWritten, "perf.data", "neither to you nor to root", "-f")
	s.run("clean", "perf.data").wants(notWritten, "neither to you nor to root")
	s.untouched(before)
	s.inject("-f").wants(allInjected)
	s.shows("out.data", 3)
}

// perf record -a of root records everybody's programs.
func TestOwners_DumpOfOther(t *testing.T) {
	root(t)
	s := newStage(t, 3)
	s.chown(nobody, dumpName)
	s.inject().wants(allInjected, "3 mappings")
	s.shows("out.data", 3)
}

// A dump that only another user may read is a sentence, and no part of the recording
// is lost.
func TestOwners_DumpUnreadable(t *testing.T) {
	root(t)
	s := newStage(t, 3)
	s.chown(nobody, ".", "perf.data")
	s.must(os.Chmod(s.path(dumpName), 0o600))
	before := s.list()
	s.as(nobody, "-i", "perf.data", "-o", "out.data").wants(notWritten, dumpName, "permission denied", "no output was written")
	s.untouched(before)
}

// Who may not read a dump may not read its code in objects.
func TestOwners_DumpPrivate(t *testing.T) {
	for _, args := range [][]string{{}, {"--bundle"}} {
		s := newStage(t, 3)
		s.must(os.Chmod(s.path(dumpName), 0o600))
		s.inject(args...).wants(allInjected)
		for _, name := range append(s.objectNames("out.data"), s.path("out.data")) {
			if st, err := os.Stat(name); err != nil || st.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s: mode %v, %v", name, st.Mode(), err)
			}
		}
	}
}

// In a directory like /tmp, where all may make files and none may remove another's,
// files that somebody else has put there stay, and are not believed.
func TestPlanted_StickyDirectory(t *testing.T) {
	root(t)
	s := newStage(t, 3)
	const other = nobody - 1
	s.chown(other, "perf.data", dumpName)
	s.must(os.Chmod(s.dir, 0o777|os.ModeSticky))
	planted := fmt.Sprintf("jitted-%d-1.so", pid)
	s.put(planted, precious)
	s.chown(nobody, planted)
	s.as(other, "-i", "perf.data", "-o", "out.data").wants(incomplete, "1 objects could not be made", "operation not permitted")
	if s.read(planted) != precious {
		t.Error("another user's file was changed")
	}
	if names := s.objectNames("out.data"); len(names) != 2 || strings.Contains(strings.Join(names, " "), planted) {
		t.Errorf("the result refers to %v", names)
	}

	// The output's place is taken, too.
	s.put("taken.data", precious)
	s.chown(nobody, "taken.data")
	before := s.list()
	s.as(other, "-i", "perf.data", "-o", "taken.data").wants(notWritten, "taken.data", fmt.Sprintf("belongs to user %d", nobody), "-o")
	s.untouched(before)

	// Root may replace everything, and what it makes is its own.
	s.inject("-f").wants(allInjected, "1 object was replaced, as the contents differed")
	s.shows("out.data", 3)
	if info, err := os.Stat(s.path(planted)); err != nil || owner(info) != 0 {
		t.Errorf("%s: got %v, %v; want no error, owner(info) = 0", planted, info, err)
	}
}

// A file of another user is not believed even if it is right: that user may change it
// afterwards. Nor is one that others may write to.
func TestPlanted_ObjectOfOther(t *testing.T) {
	root(t)
	const other = nobody - 1
	for _, args := range [][]string{{}, {"--bundle"}} {
		s := newStage(t, 3)
		s.must(os.Chmod(s.dir, 0o777|os.ModeSticky))
		s.inject(args...).wants(allInjected)
		names := s.objectNames("out.data")
		for _, name := range names {
			s.must(os.Lchown(name, nobody, nobody))
		}
		s.inject(args...).wants(allInjected)
		for _, name := range names {
			if info, err := os.Stat(name); err != nil || owner(info) != 0 {
				t.Errorf("%s: got %v, %v; want no error, owner(info) = 0", name, info, err)
			}
			s.must(os.Chmod(name, 0o666))
		}
		s.inject(args...).wants(allInjected)
		for _, name := range names {
			if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o644 {
				t.Errorf("%s: got %v, %v; want no error, info.Mode().Perm() = 0o644", name, info, err)
			}
		}
		s.shows("out.data", 3)

		// Who cannot replace it goes without; root's is as good as one's own.
		s.chown(other, "perf.data", dumpName)
		s.as(other, append(args, "-i", "perf.data", "-o", "theirs.data")...).wants(allInjected)
		s.shows("theirs.data", 3)
		s.must(os.Lchown(names[0], nobody, nobody))
		r := s.as(other, append(args, "-i", "perf.data", "-o", "fewer.data")...)
		if r.code == allInjected || !strings.Contains(r.stderr, fmt.Sprintf("belongs to user %d", nobody)) {
			t.Errorf("for %v: got exit code %d; want another one, and the owner's number\n%s", args, r.code, r.stderr)
		}
	}
}
