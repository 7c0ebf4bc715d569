package hostile

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// Where threads, memory or descriptors are short, Go's runtime ends the process. The watcher makes
// a sentence and an exit code of that, and has the files of the run removed.

// watched skips a test that needs a watcher.
func watched(t *testing.T) {
	t.Helper()
	if !hasWatcher() {
		testrec.Skip(t, "there is no watcher for this machine")
	}
}

// A shortage is a series of runs with more and more of something.
type shortage struct {
	t     *testing.T
	words string // in what a run without enough says
	short int    // number of runs that had too little
}

// run runs in a new directory with a limit, through another program. It reports whether the run had
// enough.
func (sh *shortage) run(limit any, as int, via ...string) (enough bool) {
	sh.t.Helper()
	s := newStage(sh.t, 400)
	s.must(os.Chmod(s.path("perf.data"), 0o600))
	if as >= 0 {
		for _, name := range []string{".", "perf.data", dumpName} {
			s.chown(as, name)
		}
	}
	s.put("out.data", precious)
	s.must(os.Chmod(s.path("out.data"), 0o666))
	if as >= 0 {
		s.chown(as, "out.data")
	}
	before := s.list()
	r := s.runVia(via, "-q", "-i", "perf.data", "-o", "out.data", "--objects", "objects")
	if r.code == allInjected {
		s.shows("out.data", 400)
		return true
	}
	if r.code == 126 && strings.Contains(r.stderr, "setpriv: failed to execute") {
		return false // the kernel starts no program for a user who has too many
	}
	sh.short++
	if r.code == incomplete && strings.Contains(r.stderr, sh.words) && strings.Contains(r.stderr, "objects could not be made") {
		return false
	}
	if r.code == incomplete && strings.Contains(r.stderr, sh.words) && strings.HasSuffix(r.stderr, "; the result is complete\n") {
		s.shows("out.data", 400) // Go's runtime needed more after the result had its name
		return false
	}
	r.wants(notWritten, sh.words)
	if n := strings.Count(r.stderr, "\n"); n != 1 {
		sh.t.Errorf("with a limit of %v: got %d lines; want 1\n%s", limit, n, r.stderr)
	}
	s.untouched(before)
	if sh.t.Failed() {
		sh.t.Fatalf("failed with a limit of %v", limit)
	}
	return false
}

// done wants runs with too little and with enough.
func (sh *shortage) done(enough bool) {
	sh.t.Helper()
	if sh.short == 0 || !enough {
		sh.t.Errorf("got %d runs with too little, and a last one with enough: %v; want some, and true", sh.short, enough)
	}
}

func TestShortage_AddressSpace(t *testing.T) {
	watched(t)
	prlimit := testrec.Tool(t, "prlimit")
	sh := shortage{t: t, words: "too little memory"}
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
	watched(t)
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

func TestShortage_PidsOfCgroup(t *testing.T) {
	watched(t)
	root(t)
	group := ""
	for _, top := range []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup"} {
		dir := filepath.Join(top, "jitinject-test")
		if err := os.Mkdir(dir, 0o755); err != nil {
			continue
		}
		t.Cleanup(func() { syscall.Rmdir(dir) })
		if _, err := os.Stat(filepath.Join(dir, "pids.max")); err == nil {
			group = dir
			break
		}
	}
	if group == "" {
		testrec.Skip(t, "there is no pids cgroup")
	}
	sh := shortage{t: t, words: "pids.max"}
	enough := false
	for n := 1; n < 200 && !enough; n++ {
		if err := os.WriteFile(filepath.Join(group, "pids.max"), fmt.Append(nil, n), 0); err != nil {
			t.Fatal(err)
		}
		enough = sh.run(n, -1, "sh", "-c", "echo $$ >"+group+`/cgroup.procs && exec "$@"`, "sh")
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

// The kernel kills the process that has most memory: the watched one.
func TestShortage_KilledWorker(t *testing.T) {
	watched(t)
	s := newStage(t, 1200)
	before := s.list()
	r := s.startSlow()
	before["slow"] = s.list()["slow"]
	syscall.Kill(worker(t, r.cmd.Process.Pid), syscall.SIGKILL)
	r.wait().wants(notWritten, "it was killed, as the kernel does when memory runs out")
	s.untouched(before)
}

// A fault of the program leaves nothing, and says what to report.
func TestShortage_FaultOfProgram(t *testing.T) {
	watched(t)
	s := newStage(t, 1200)
	before := s.list()
	r := s.startSlow()
	before["slow"] = s.list()["slow"]
	syscall.Kill(worker(t, r.cmd.Process.Pid), syscall.SIGABRT)
	r.wait().wants(notWritten, "a fault in jitinject: SIGABRT: abort", "report it with all of this at https://", "goroutine 1 ")
	s.untouched(before)
}

// Without standard input, output or error, a run does the same.
func TestShortage_ClosedStreams(t *testing.T) {
	for _, closed := range []string{"<&-", ">&-", "2>&-", "<&- >&- 2>&-"} {
		s := newStage(t, 3)
		s.runVia([]string{"sh", "-c", `exec "$@" ` + closed, "sh"}, "-i", "perf.data", "-o", "out.data").wants(allInjected)
		s.shows("out.data", 3)
		before := s.list()
		s.runVia([]string{"sh", "-c", `exec "$@" ` + closed, "sh"}, "-i", "perf.data", "-o", "nonexistent/out.data").wants(notWritten)
		s.untouched(before)
	}
}

// Both the run and the process that is to remove its files are killed: the cause is unknown.
func TestShortage_KilledTwice(t *testing.T) {
	watched(t)
	for start := time.Now(); ; {
		s := newStage(t, 1200)
		r := s.startSlow()
		// Another run that seems to use the objects makes the second process wait for a moment.
		name := fmt.Sprintf("objects/.jitinject-%d.lock.0.partial", os.Geteuid())
		lock, err := os.Open(s.path(name))
		s.must(err)
		s.must(syscall.Flock(int(lock.Fd()), syscall.LOCK_SH))
		first := worker(t, r.cmd.Process.Pid)
		children := fmt.Sprintf("/proc/%d/task/%[1]d/children", r.cmd.Process.Pid)
		syscall.Kill(first, syscall.SIGKILL)
		for killed := false; !killed && time.Since(start) < patience; {
			b, _ := os.ReadFile(children)
			if second, err := strconv.Atoi(strings.TrimSpace(string(b))); err == nil && second != first {
				killed = syscall.Kill(second, syscall.SIGKILL) == nil
			} else if len(b) == 0 {
				break // it has ended
			}
		}
		result := r.wait()
		lock.Close()
		if !strings.Contains(result.stderr, "as the kernel does when memory runs out") || time.Since(start) > patience { // else the second process was quicker
			result.wants(notWritten, "it has crashed, and so has the process that removes its files", "ulimit -n", "ulimit -t")
			return
		}
	}
}

// A run that is short of memory only at its end leaves nothing for the second process, either.
func TestShortage_NoMemoryForSecond(t *testing.T) {
	watched(t)
	prlimit := testrec.Tool(t, "prlimit")
	s := newStage(t, 1200)
	r := s.startSlow()
	if out, err := exec.Command(prlimit, "--as=50000000", "--pid", fmt.Sprint(r.cmd.Process.Pid)).CombinedOutput(); err != nil {
		t.Fatalf("prlimit: %v\n%s", err, out)
	}
	syscall.Kill(worker(t, r.cmd.Process.Pid), syscall.SIGKILL)
	r.wait().wants(notWritten, "jitinject: there is too little memory; raise the limit")
}
