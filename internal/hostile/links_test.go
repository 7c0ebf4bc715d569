package hostile

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// Links that someone planted, to a file that is to be destroyed.

const precious = "precious"

// victim makes the file.
func (s *stage) victim() string {
	s.put("victim", precious)
	return s.path("victim")
}

// spared wants it to be as it was.
func (s *stage) spared() {
	s.t.Helper()
	if got := s.read("victim"); got != precious {
		s.t.Errorf("the victim now holds %.40q", got)
	}
}

func (s *stage) link(to, name string) {
	s.t.Helper()
	s.must(os.Symlink(to, s.path(name)))
}

// regular wants a name to be that of a file, not of a link.
func (s *stage) regular(name string) {
	s.t.Helper()
	if st, err := os.Lstat(s.path(name)); err != nil || !st.Mode().IsRegular() {
		s.t.Errorf("%s is no file: %v %v", name, st, err)
	}
}

// In the place of the output or of what it replaces, the link goes, not what it
// leads to.
func TestLinks_Output(t *testing.T) {
	s := newStage(t, 3)
	victim := s.victim()
	s.link(victim, "out.data")
	s.link(victim, "out.data.old")
	s.inject().wants(allInjected, "3 mappings")
	s.spared()
	s.regular("out.data")
	s.shows("out.data", 3)
	if to, err := os.Readlink(s.path("out.data.old")); err != nil || to != victim {
		t.Errorf("what was there before is not kept: %q, %v", to, err)
	}
	s.inject().wants(allInjected)
	s.spared()
	s.regular("out.data.old")
	s.shows("out.data.old", 3)
}

// A link in the place of an object is replaced; so is one that leads nowhere, which
// would have a file made elsewhere.
func TestLinks_Objects(t *testing.T) {
	for _, args := range [][]string{{}, {"--bundle"}} {
		s := newStage(t, 3)
		victim := s.victim()
		s.inject(args...).wants(allInjected)
		s.objectsBecomeLinks("out.data", victim, s.path("elsewhere"))
		s.inject(args...).wants(allInjected, "as the contents differed")
		s.spared()
		s.shows("out.data", 3)
		if _, err := os.Lstat(s.path("elsewhere")); err == nil {
			t.Errorf("for %v: got a file where a link led; want the link replaced", args)
		}
	}
}

// objectsBecomeLinks puts links into the places of the objects of a result.
func (s *stage) objectsBecomeLinks(output string, targets ...string) {
	s.t.Helper()
	names := s.objectNames(output)
	for i, name := range names {
		s.must(os.Remove(name))
		s.must(os.Symlink(targets[i%len(targets)], name))
	}
}

// The names of temporary files can be foretold.
func TestLinks_TemporaryFiles(t *testing.T) {
	s := newStage(t, 3)
	victim := s.victim()
	s.inject().wants(allInjected)
	planted := s.list()
	for _, name := range append(s.objectNames("out.data"), s.path("out.data"), s.path("jitted-4711-0"), s.path("jitinject")) {
		dir, base := name[:strings.LastIndexByte(name, '/')+1], name[strings.LastIndexByte(name, '/')+1:]
		for i := range 30 {
			temp := dir + "." + base + "." + string(rune('0'+i%10)) + ".partial"
			if i < 10 {
				s.must(os.Symlink(victim, temp))
			}
		}
		if strings.HasSuffix(name, ".so") {
			s.must(os.WriteFile(name, nil, 0o644)) // it will have to be replaced
		}
	}
	for _, args := range [][]string{{}, {"--bundle"}} {
		s.inject(args...).wants(allInjected)
		s.spared()
		s.shows("out.data", 3)
	}
	for name, what := range s.list() {
		if _, known := planted[name]; strings.HasPrefix(name, ".") && !known && !strings.HasPrefix(what, "L") {
			t.Errorf("%s was left", name)
		}
	}
}

// A directory on the way to the objects that somebody else has made a link: the
// kernel tells of mapped files where they are, so links come later.
func TestLinks_Directories(t *testing.T) {
	root(t)
	s := emptyStage(t)
	s.must(os.Mkdir(s.path("dumps"), 0o777))
	s.must(os.Mkdir(s.path("etc"), 0o755))
	inside := &stage{t, s.path("dumps")}
	inside.functions(3)
	s.must(os.Rename(s.path("dumps/perf.data"), s.path("perf.data")))
	s.must(os.Rename(s.path("dumps/"+dumpName), s.path("etc/"+dumpName)))
	s.must(os.Remove(s.path("dumps")))
	s.link("etc", "dumps")
	s.must(os.Lchown(s.path("dumps"), nobody, nobody))
	before := s.list()
	s.inject().wants(incomplete, "dumps", "symbolic link", "left out", "--objects")
	s.shows("out.data", 0)
	s.must(os.Remove(s.path("out.data")))
	s.untouched(before)
	s.inject("--objects", "objects").wants(allInjected)
	s.shows("out.data", 3)

	// One of the user's own, or root's, is as good as a directory.
	s.must(os.Lchown(s.path("dumps"), os.Geteuid(), -1))
	s.inject().wants(allInjected)
	s.shows("out.data", 3)
}

// The directory of the objects gives way to another one while they are made.
func TestLinks_DirectorySwappedDuringRun(t *testing.T) {
	for start := time.Now(); time.Since(start) < patience; {
		if swapDirectory(t) {
			return
		}
	}
	t.Fatalf("no run was stopped while it made objects within %v; want one", patience)
}

// swapDirectory stops a run while it makes objects, and puts a link into the place of their
// directory. It returns false if the run was too fast for that.
func swapDirectory(t *testing.T) bool {
	const functions = 3000
	s := newStage(t, functions)
	s.must(os.Mkdir(s.path("away"), 0o755))
	s.put("away/precious", precious)
	cmd := exec.Command(program, "-i", "perf.data", "-o", "out.data", "--objects", "objects")
	cmd.Dir = s.dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	s.must(cmd.Start())
	late := time.AfterFunc(within, func() { cmd.Process.Kill() })
	defer late.Stop()
	count := func() int {
		entries, _ := os.ReadDir(s.path("objects"))
		return len(entries)
	}
	for end := time.Now().Add(within); count() < 50 && time.Now().Before(end); {
	}
	resume := stop(t, cmd.Process)
	if count() > functions*9/10 {
		cmd.Process.Kill()
		cmd.Wait()
		return false
	}
	s.must(os.Rename(s.path("objects"), s.path("moved")))
	s.must(os.Symlink("away", s.path("objects")))
	resume()
	cmd.Wait()
	r := &result{t, cmd.String(), cmd.ProcessState.ExitCode(), "", stderr.String()}
	r.wants(incomplete, "objects", "was moved or replaced while", "inject again")
	entries, err := os.ReadDir(s.path("away"))
	if s.must(err); len(entries) != 1 || s.read("away/precious") != precious {
		t.Errorf("got %d files where the link leads; want only the one that was there", len(entries))
	}
	return true
}
