package hostile

import (
	"bytes"
	"fmt"
	"github.com/jitinject/jitinject/internal/testrec"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Runs that are kept at their work.

// A slowRun has made its objects, in the directory objects, and writes its result into a
// pipe that nobody empties.
type slowRun struct {
	s      *stage
	cmd    *exec.Cmd
	pipe   *os.File
	stderr bytes.Buffer
}

// startSlow starts such a run of the stage, which needs a thousand functions for that,
// through another program if one is named.
func (s *stage) startSlow(via ...string) *slowRun {
	s.t.Helper()
	return s.startSlowIn(nil, via...)
}

// startSlowIn is startSlow with attributes of the process.
func (s *stage) startSlowIn(attributes *syscall.SysProcAttr, via ...string) *slowRun {
	s.t.Helper()
	return s.startSlowAs(program, attributes, via...)
}

// startSlowAs is startSlowIn for a build of the program.
func (s *stage) startSlowAs(program string, attributes *syscall.SysProcAttr, via ...string) *slowRun {
	s.t.Helper()
	if err := syscall.Mkfifo(s.path("slow"), 0o600); err != nil && err != syscall.EEXIST {
		s.t.Fatal(err)
	}
	pipe, err := os.OpenFile(s.path("slow"), os.O_RDWR, 0)
	s.must(err)
	s.t.Cleanup(func() { pipe.Close() })
	argv := append(append([]string{}, via...), program, "-q", "-i", "perf.data", "-o", "slow", "--objects", "objects")
	r := &slowRun{s: s, cmd: exec.Command(argv[0], argv[1:]...), pipe: pipe}
	r.cmd.Dir, r.cmd.SysProcAttr = s.dir, attributes
	r.cmd.Stderr = &r.stderr
	s.must(r.cmd.Start())
	s.must(pipe.SetReadDeadline(time.Now().Add(within)))
	_, err = pipe.Read(make([]byte, 1)) // now it writes
	s.must(err)
	s.must(pipe.SetReadDeadline(time.Time{}))
	return r
}

// end empties the pipe and waits for the end.
func (r *slowRun) end() *result {
	r.s.t.Helper()
	go io.Copy(io.Discard, r.pipe)
	return r.wait()
}

// wait waits for the end.
func (r *slowRun) wait() *result {
	r.s.t.Helper()
	late := time.AfterFunc(within, func() { r.cmd.Process.Kill() })
	defer late.Stop()
	r.cmd.Wait()
	r.pipe.Close()
	return &result{r.s.t, r.cmd.String(), r.cmd.ProcessState.ExitCode(), "", r.stderr.String()}
}

// nohup, and the shell for what runs in the background of a script, say which signals
// are not to end a program: they ignore them before it starts.
func TestSignals_IgnoredBeforeStart(t *testing.T) {
	s := newStage(t, 1200)
	for _, test := range []struct {
		sig     syscall.Signal
		ignored string
	}{{syscall.SIGHUP, "HUP"}, {syscall.SIGINT, "INT"}} {
		r := s.startSlow("sh", "-c", "trap '' "+test.ignored+`; exec "$0" "$@"`)
		if !ignores(t, r.cmd.Process.Pid, test.sig) {
			t.Errorf("for %v: the run does not ignore it; want it ignored, as before the start", test.sig)
		}
		r.cmd.Process.Signal(test.sig)
		r.end().wants(allInjected)

		r = s.startSlow("sh", "-c", `exec "$0" "$@"`)
		r.cmd.Process.Signal(test.sig)
		r.wait().wants(notWritten, "interrupted")
	}
}

// ignores reports whether a process ignores a signal.
func ignores(t *testing.T, pid int, sig syscall.Signal) bool {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(status), "\nSigIgn:")
	if !found {
		t.Fatalf("got a status without SigIgn:\n%s", status)
	}
	mask, err := strconv.ParseUint(strings.Fields(rest)[0], 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return mask>>(sig-1)&1 != 0
}

// stop stops a run and waits until it stands still. resume lets it go on.
func stop(t *testing.T, run *os.Process) (resume func()) {
	t.Helper()
	pid := run.Pid
	syscall.Kill(pid, syscall.SIGSTOP)
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(time.Millisecond) {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		if state := string(stat[bytes.LastIndexByte(stat, ')')+2]); state == "T" || state == "Z" {
			return func() { syscall.Kill(pid, syscall.SIGCONT) }
		}
	}
	t.Fatalf("process %d runs for %v after SIGSTOP; want it stopped", pid, within)
	return nil
}

// However long it takes to remove what was made, an interrupted run does, and a second
// interrupt does not keep it from that.
func TestSignals_SecondDuringUndo(t *testing.T) {
	s := newStage(t, 20000)
	amid, start := 0, time.Now()
	for amid == 0 && time.Since(start) < patience {
		r := s.startSlow()
		all := s.countObjects()
		sent := time.Now()
		r.cmd.Process.Signal(syscall.SIGINT)
		for end := time.Now().Add(within); s.countObjects() == all && time.Now().Before(end); {
		}
		resume := stop(t, r.cmd.Process)
		if time.Since(sent) > 400*time.Millisecond { // it may have said that another interrupt ends it
			resume()
			r.wait()
			s.must(os.RemoveAll(s.path("objects")))
			continue
		}
		r.cmd.Process.Signal(syscall.SIGINT)
		if s.countObjects() > 0 {
			amid++
			time.Sleep(4 * time.Second) // longer than an undo may take without a message
		}
		resume()
		if result := r.wait(); amid > 0 {
			result.wants(notWritten, "removing the files of this run", "interrupted; what was written is not complete")
		}
		if n := s.countObjects(); n > 0 {
			t.Errorf("got %d objects after the undo; want none", n)
		}
	}
	if amid == 0 {
		t.Errorf("no run was stopped while it removed objects within %v; want one", patience)
	}
}

// A second interrupt after the run has said that it removes its files ends it at once. Temporary files
// go, and objects that stay are whole: the next run uses them.
func TestSignals_SecondAfterMessage(t *testing.T) {
	s := newStage(t, 20000)
	// How long removing takes depends on the machine: the second signal comes earlier each time.
	delays := []time.Duration{300, 100, 50, 20, 10, 5}
	for start, try := time.Now(), 0; ; try++ {
		r := s.startSlow()
		all := s.countObjects()
		r.cmd.Process.Signal(syscall.SIGINT)
		for end := time.Now().Add(within); s.countObjects() == all && time.Now().Before(end); {
		}
		resume := stop(t, r.cmd.Process)
		time.Sleep(2 * time.Second) // its half second is over
		resume()
		time.Sleep(delays[try%len(delays)] * time.Millisecond)
		r.cmd.Process.Signal(syscall.SIGINT)
		result := r.wait()
		said := func(text string) bool { return strings.Contains(result.stderr, text) }
		if !said("removing the files of this run") || !said("there is no result") && !said("objects of it may stay") {
			if try == 2*len(delays) {
				testrec.Skip(t, "removing files is too fast here for a second signal: %v\n%s", time.Since(start), result.stderr)
			}
			continue // it, or the signal, was quicker
		}
		result.wants(notWritten, "removing the files of this run", "what was written is not complete; objects of it may stay")
		break
	}
	left := s.countObjects()
	objects := s.list()
	s.inject("--objects", "objects").wants(allInjected)
	whole := s.list()
	for name, what := range objects {
		if strings.HasSuffix(name, ".so") && whole[name] != what {
			t.Errorf("got %s cut; want each of the %d objects that stay whole", name, left)
		}
	}
	s.run("clean", "-q", "out.data").wants(allInjected)
	s.wantsNoPartial()
	if n := s.countObjects(); n > 0 {
		t.Errorf("got %d objects after clean; want none", n)
	}
}
