package hostile

import (
	"bytes"
	"fmt"
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
	t.Parallel() // it waits most of the time
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
	t.Parallel() // it waits most of the time
	s := newStage(t, 20000)
	for start := time.Now(); ; {
		r := s.startSlow()
		all := s.countObjects()
		r.cmd.Process.Signal(syscall.SIGINT)
		for end := time.Now().Add(within); s.countObjects() == all && time.Now().Before(end); {
		}
		// Removing takes less time than the two waits, so the run stands still during these.
		resume := stop(t, r.cmd.Process)
		time.Sleep(time.Second) // its half second is over, and it says so when it goes on
		resume()
		time.Sleep(20 * time.Millisecond)
		resume = stop(t, r.cmd.Process)
		time.Sleep(400 * time.Millisecond) // two signals within 0.2 s are one
		r.cmd.Process.Signal(syscall.SIGINT)
		resume()
		result := r.wait()
		if !strings.Contains(result.stderr, "objects of it may stay") {
			if time.Since(start) > patience {
				t.Fatalf("got no run that the second signal ended within %v; want one\n%s", patience, result.stderr)
			}
			continue // it was quicker
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
