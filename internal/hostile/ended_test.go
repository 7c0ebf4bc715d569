package hostile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A signal ends any run within a second, with the documented exit code, and nothing is left. On a
// busy machine, tests grant more.
const promptly = 4 * time.Second

// A situation is where a run is when a signal comes.
type situation struct {
	name string
	args []string
	// prepare makes the files that the run needs.
	prepare func(s *stage)
	// stdin, stdout and stderr are files that stay open, or nil for an empty input and for
	// output that is read.
	stdin, stdout, stderr func(s *stage) *os.File

	code  int
	words string // in the message; "" if it cannot be read
}

// fifo makes a FIFO and keeps it open.
func (s *stage) fifo(name string) *os.File {
	s.t.Helper()
	if err := syscall.Mkfifo(s.path(name), 0o600); err != nil && err != syscall.EEXIST {
		s.t.Fatal(err)
	}
	f, err := os.OpenFile(s.path(name), os.O_RDWR, 0)
	s.must(err)
	s.t.Cleanup(func() { f.Close() })
	return f
}

// fullPipe returns the end of a pipe that takes no more.
func (s *stage) fullPipe() *os.File {
	s.t.Helper()
	r, w, err := os.Pipe()
	s.must(err)
	s.t.Cleanup(func() { r.Close(); w.Close() })
	s.must(w.SetWriteDeadline(time.Now().Add(100 * time.Millisecond)))
	for buf := make([]byte, 4096); ; {
		if _, err := w.Write(buf); err != nil {
			break
		}
	}
	fd, err := syscall.Dup(int(w.Fd())) // without O_NONBLOCK
	s.must(err)
	s.must(syscall.SetNonblock(fd, false))
	return os.NewFile(uintptr(fd), "full pipe")
}

// heldLock has a process that never ends use the directory objects.
func (s *stage) heldLock() {
	s.t.Helper()
	s.must(os.MkdirAll(s.path("objects"), 0o755))
	name := fmt.Sprintf("objects/.jitinject-%d.lock.0.partial", os.Geteuid())
	s.put(name, "")
	s.must(os.Chmod(s.path(name), 0o600))
	f, err := os.Open(s.path(name))
	s.must(err)
	s.t.Cleanup(func() { f.Close() })
	s.must(syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
}

// situations are those in which a run may be for any time.
var situations = []situation{
	{name: "waiting for a writer of the input", args: []string{"-q", "-i", "fifo", "-o", "out.data"},
		prepare: func(s *stage) { s.must(syscall.Mkfifo(s.path("fifo"), 0o600)) }, code: notWritten, words: "interrupted; nothing was written"},
	{name: "waiting for a reader of the output", args: []string{"-q", "-i", "perf.data", "-o", "fifo", "--objects", "objects"},
		prepare: func(s *stage) { s.must(syscall.Mkfifo(s.path("fifo"), 0o600)) }, code: notWritten, words: "interrupted; nothing was written"},
	{name: "reading a slow pipe", args: []string{"-q", "-i", "-", "-o", "out.data"},
		stdin: func(s *stage) *os.File { return s.fifo("slow") }, code: notWritten, words: "interrupted; nothing was written"},
	{name: "writing into a full pipe", args: []string{"-q", "-i", "perf.data", "-o", "-", "--objects", "objects"},
		stdout: (*stage).fullPipe, code: notWritten, words: "interrupted; what was written is not complete"},
	{name: "waiting for another run", args: []string{"-q", "-i", "perf.data", "-o", "out.data", "--objects", "objects"},
		prepare: (*stage).heldLock, code: notWritten, words: "interrupted; nothing was written"},
	{name: "waiting for a reader of the messages", args: []string{"-i", "nothing.data", "-o", "out.data"},
		stderr: (*stage).fullPipe, code: notWritten},
	{name: "waiting for a reader of the summary", args: []string{"-q", "-i", "perf.data", "-o", "/dev/null", "--summary", "json", "--objects", "objects"},
		stdout: (*stage).fullPipe, code: incomplete, words: "interrupted; the result is complete"},
	{name: "clean, waiting for another run", args: []string{"clean", "result.data"},
		prepare: func(s *stage) {
			s.run("-q", "-i", "perf.data", "-o", "result.data", "--objects", "objects").wants(allInjected)
			s.heldLock()
		}, code: incomplete, words: "interrupted; the other objects are still there"},
	{name: "verify, waiting for a writer", args: []string{"verify", "fifo"},
		prepare: func(s *stage) { s.must(syscall.Mkfifo(s.path("fifo"), 0o600)) }, code: notWritten},
	{name: "dump, waiting for a writer", args: []string{"dump", "fifo"},
		prepare: func(s *stage) { s.must(syscall.Mkfifo(s.path("fifo"), 0o600)) }, code: -1},
	{name: "dump, writing into a full pipe", args: []string{"dump", "--no-pager", dumpName},
		stdout: (*stage).fullPipe, code: -1},
}

// start starts a run in the situation.
func (at *situation) start(s *stage) (cmd *exec.Cmd, stderr *bytes.Buffer) {
	s.t.Helper()
	cmd, stderr = exec.Command(program, at.args...), new(bytes.Buffer)
	cmd.Dir, cmd.Stderr, cmd.WaitDelay = s.dir, stderr, within
	if at.stdin != nil {
		cmd.Stdin = at.stdin(s)
	}
	if at.stdout != nil {
		f := at.stdout(s)
		defer f.Close()
		cmd.Stdout = f
	}
	if at.stderr != nil {
		f := at.stderr(s)
		defer f.Close()
		cmd.Stderr = f
	}
	s.must(cmd.Start())
	return cmd, stderr
}

// signals are those that the program ends after.
var signals = []syscall.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE, syscall.SIGILL, syscall.SIGSEGV, syscall.SIGSYS, syscall.SIGTRAP}

func TestEnded_WhileWaiting(t *testing.T) {
	if testing.Short() {
		testrec.Skip(t, "-short waits for no signals")
	}
	for i, at := range situations {
		t.Run(at.name, func(t *testing.T) {
			for j := range 2 {
				sig := signals[(2*i+j)%len(signals)]
				if at.stdin != nil && sig == syscall.SIGINT || at.code == -1 {
					sig = syscall.SIGTERM // an interrupt is for the program before the pipe
				}
				at.end(t, sig)
			}
		})
	}
}

// end ends runs by a signal, until one was in the situation.
func (at *situation) end(t *testing.T, sig syscall.Signal) {
	t.Helper()
	for wait := 300 * time.Millisecond; ; wait *= 2 {
		s := newStage(t, 200)
		if at.prepare != nil {
			at.prepare(s)
		}
		cmd, stderr := at.start(s)
		before := s.list()
		time.Sleep(wait)
		sent := time.Now()
		if err := cmd.Process.Signal(sig); err != nil {
			t.Fatalf("for %v: got %v; want a run that goes on", sig, err)
		}
		late := time.AfterFunc(within, func() { cmd.Process.Kill() })
		cmd.Wait()
		took := time.Since(sent)
		late.Stop()
		code := cmd.ProcessState.ExitCode()
		if took > promptly {
			t.Errorf("for %v: got an end after %v; want one within %v", sig, took, promptly)
		}
		for name := range before { // what the run had made when the list was made
			if strings.HasSuffix(name, ".partial") && !strings.Contains(name, ".lock.") || strings.HasSuffix(name, ".so") {
				delete(before, name)
			}
		}
		// The signal came before the program listened to it, or before it had a result.
		early := (code == -1 || code == ofRuntime) && at.code != -1 || code == notWritten && at.code == incomplete
		if early && wait < 10*time.Second {
			continue
		}
		if code != at.code || !strings.Contains(stderr.String(), at.words) {
			t.Errorf("for %v: got exit code %d, %q; want %d, %q", sig, code, stderr, at.code, at.words)
		}
		if at.code != incomplete {
			at.wantsNothing(s, before)
		}
		return
	}
}

// wantsNothing wants no files that a run has made.
func (at *situation) wantsNothing(s *stage, before map[string]string) {
	s.t.Helper()
	for name := range s.list() {
		if _, ok := before[name]; !ok {
			s.t.Errorf("got %s after the run; want nothing left", name)
		}
	}
}

// A run with much to do ends at any moment.
func TestEnded_AtAnyMoment(t *testing.T) {
	s := emptyStage(t)
	s.busy()
	start := time.Now()
	args := []string{"-q", "-i", "perf.data", "-o", "out.data", "--objects", "objects"}
	s.run(args...)
	takes := time.Since(start)
	s.must(os.Remove(s.path("out.data")))
	s.must(os.RemoveAll(s.path("objects")))
	before := s.list()
	rnd := rand.New(rand.NewPCG(1, 2))
	for i := range times(15) {
		sig := signals[i%len(signals)]
		cmd := exec.Command(program, args...)
		var stderr bytes.Buffer
		cmd.Dir, cmd.Stderr = s.dir, &stderr
		s.must(cmd.Start())
		time.Sleep(time.Duration(rnd.Int64N(int64(takes))))
		cmd.Process.Signal(sig)
		sent := time.Now()
		late := time.AfterFunc(within, func() { cmd.Process.Kill() })
		cmd.Wait()
		late.Stop()
		if took := time.Since(sent); took > promptly && !strings.Contains(stderr.String(), "removing the files of this run") {
			t.Errorf("for %v: got an end after %v; want one within %v\n%s", sig, took, promptly, stderr.String())
		}
		switch code := cmd.ProcessState.ExitCode(); code {
		case notWritten:
			if !strings.Contains(stderr.String(), "interrupted; nothing was written") {
				t.Errorf("for %v: got %q; want \"interrupted; nothing was written\"", sig, stderr.String())
			}
			s.untouched(before)
		case -1, ofRuntime: // before the program listened to it; SIGQUIT makes Go's runtime say more
			s.untouched(before)
		case allInjected, incomplete:
			s.must(os.Remove(s.path("out.data")))
			s.must(os.RemoveAll(s.path("objects")))
		default:
			t.Errorf("for %v: got exit code %d; want a documented one\n%s", sig, code, stderr.String())
		}
		if t.Failed() {
			return
		}
	}
}

// busy makes a recording with many processes that fork each other, many that have no dump, and
// functions.
func (s *stage) busy() {
	s.t.Helper()
	const functions, forks, missing = 500, 2000, 300
	r := testrec.NewRecording()
	r.Comm(pid, 900, "prog", true)
	r.Marker(pid, 1000, s.path(dumpName))
	var recs []timed
	for i := range uint64(functions) {
		recs = append(recs, timed{2000 + i, load(i, fmt.Sprintf("f%d", i))})
		r.Sample(pid, 1000000+i, base+64*i+8)
	}
	s.dump(dumpName, recs...)
	r.Fork(10000, pid, 2000000)
	for i := range uint32(forks) {
		r.Fork(10001+i, 10000+i, 2000001+uint64(i))
		r.Sample(10001+i, 3000000+uint64(i), base+8)
	}
	for i := range uint32(missing) {
		r.Comm(90000+i, 4000000+uint64(i), "prog", true)
		r.Marker(90000+i, 4000001+uint64(i), fmt.Sprintf("/nonexistent/jit-%d.dump", 90000+i))
		r.Sample(90000+i, 5000000+uint64(i), base+8)
	}
	r.Write(s.t, s.path("perf.data"))
}

// timeout(1) sends a signal to its child, and again to the group: they are one.
func TestEnded_GroupOfProcesses(t *testing.T) {
	s := newStage(t, 3000)
	r := s.startSlowIn(&syscall.SysProcAttr{Setpgid: true})
	syscall.Kill(r.cmd.Process.Pid, syscall.SIGINT)
	syscall.Kill(-r.cmd.Process.Pid, syscall.SIGINT)
	result := r.wait().wants(notWritten, "interrupted; what was written is not complete") // into a pipe
	if strings.Contains(result.stderr, "removing the files of this run") && s.countObjects() > 0 {
		t.Errorf("got %d objects after one signal to the group; want none\n%s", s.countObjects(), result.stderr)
	}
}
