package hostile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Where threads, memory or descriptors are short, Go's runtime ends the process with exit code 2 and
// its own text. An earlier result stays, and the next run removes what is left.

// ofRuntime is the exit code of Go's runtime.
const ofRuntime = 2

// A shortage is a series of runs with more and more of something.
type shortage struct {
	t     *testing.T
	words string // in what the program says without enough
	short int    // number of runs that had too little
}

// run runs in a new directory with a limit, through another program. It reports whether the run had
// enough.
func (sh *shortage) run(limit any, as int, via ...string) (enough bool) {
	sh.t.Helper()
	s := newStage(sh.t, 400)
	s.must(os.Chmod(s.path("perf.data"), 0o600))
	s.put("out.data", precious)
	s.must(os.Chmod(s.path("out.data"), 0o666))
	if as >= 0 {
		for _, name := range []string{".", "perf.data", dumpName, "out.data"} {
			s.chown(as, name)
		}
	}
	before := s.list()
	args := []string{"-q", "-i", "perf.data", "-o", "out.data", "--objects", "objects"}
	code, stderr := s.short(via, args...)
	switch {
	case code == allInjected:
		s.shows("out.data", 400)
		return true
	case code == 126 && strings.Contains(stderr, "setpriv: failed to execute"):
		return false // the kernel starts no program for a user who has too many
	}
	sh.short++
	switch {
	case code == notWritten && strings.Contains(stderr, sh.words):
		s.untouched(before)
		return false
	case code == incomplete && strings.Contains(stderr, sh.words) && strings.Contains(stderr, "objects could not be made"):
		return false
	case code != ofRuntime && code != -1: // -1: it could not even end in its way
		sh.t.Fatalf("with a limit of %v: got exit code %d; want %d, %d or %d\n%s", limit, code, notWritten, incomplete, ofRuntime, stderr)
	}
	if out := s.read("out.data"); out != precious { // the runtime needed more after the result had its name
		s.shows("out.data", 400)
	}
	if as >= 0 {
		s.as(as, args...).wants(allInjected)
	} else {
		s.run(args...).wants(allInjected)
	}
	s.shows("out.data", 400)
	s.wantsNoPartial()
	if sh.t.Failed() {
		sh.t.Fatalf("failed with a limit of %v", limit)
	}
	return false
}

// short runs the command without enough of something: it may end in any way.
func (s *stage) short(via []string, args ...string) (code int, stderr string) {
	s.t.Helper()
	argv := append(append(append([]string{}, via...), program), args...)
	cmd := exec.Command(argv[0], argv[1:]...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = s.dir, &out, time.Second
	s.must(cmd.Start())
	late := time.AfterFunc(within, func() { cmd.Process.Kill() })
	defer late.Stop()
	cmd.Wait()
	return cmd.ProcessState.ExitCode(), out.String()
}

// wantsNoPartial wants no partial file and no lock.
func (s *stage) wantsNoPartial() {
	s.t.Helper()
	for name := range s.list() {
		if partial.MatchString(filepath.Base(name)) {
			s.t.Errorf("got leftover %s; want none", name)
		}
	}
}

// done wants runs with too little and with enough.
func (sh *shortage) done(enough bool) {
	sh.t.Helper()
	if sh.short == 0 || !enough {
		sh.t.Errorf("got %d runs with too little, and a last one with enough: %v; want some, and true", sh.short, enough)
	}
}

func TestShortage_AddressSpace(t *testing.T) {
	prlimit := testrec.Tool(t, "prlimit")
	sh := shortage{t: t, words: "memory"}
	enough := false
	for mb := 60; mb < 4000 && !enough; mb += 50 {
		if mb > 650 { // here it becomes enough
			mb -= 45
		}
		enough = sh.run(fmt.Sprint(mb, " MiB"), -1, prlimit, fmt.Sprintf("--as=%d", mb<<20))
	}
	sh.done(enough)
}

func TestShortage_UserProcesses(t *testing.T) {
	root(t) // which has no such limit
	prlimit, setpriv := testrec.Tool(t, "prlimit"), testrec.Tool(t, "setpriv")
	sh := shortage{t: t, words: "ulimit -u"}
	enough := false
	const user = "65531" // who has no other processes
	for n := 1; n < 200 && !enough; n++ {
		enough = sh.run(n, 65531, prlimit, fmt.Sprintf("--nproc=%d", n), setpriv, "--reuid", user, "--regid", user, "--clear-groups")
	}
	sh.done(enough)
}

func TestShortage_Descriptors(t *testing.T) {
	prlimit := testrec.Tool(t, "prlimit")
	sh := shortage{t: t, words: "ulimit -n"}
	enough := false
	for n := 3; n < 200 && !enough; n++ {
		enough = sh.run(n, -1, prlimit, fmt.Sprintf("--nofile=%d", n))
	}
	sh.done(enough)
}

// The first real-time signal ends any program in Go, which leaves it to the C library. The next run removes what is
// left.
func TestShortage_SignalThatGoLeaves(t *testing.T) {
	s := newStage(t, 1200)
	r := s.startSlow()
	r.cmd.Process.Signal(syscall.Signal(34))
	r.wait().wants(-1)
	s.inject("--objects", "objects").wants(allInjected)
	s.wantsNoPartial()
	s.run("clean", "out.data").wants(allInjected)
	if n := s.countObjects(); n > 0 {
		t.Errorf("got %d objects after clean; want none", n)
	}
}

// Without standard input, output or error, a run does the same, unless the result is for one of them.
func TestShortage_ClosedStreams(t *testing.T) {
	for _, closed := range []string{"<&-", ">&-", "2>&-", "<&- >&- 2>&-"} {
		s := newStage(t, 3)
		s.runVia([]string{"sh", "-c", `exec "$@" ` + closed, "sh"}, "-i", "perf.data", "-o", "out.data").wants(allInjected)
		s.shows("out.data", 3)
		before := s.list()
		via := []string{"sh", "-c", `exec "$@" ` + closed, "sh"}
		s.runVia(via, "-i", "perf.data", "-o", "nonexistent/out.data").wants(notWritten)
		s.untouched(before)
		if strings.Contains(closed, ">&- ") || closed == ">&-" {
			s.runVia(via, "-i", "perf.data", "-o", "-").wants(notWritten)
			s.untouched(before)
		}
	}
}
