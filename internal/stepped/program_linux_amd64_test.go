package stepped

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A program is a process to watch. It must run until the file "stop" exists in dir, and
// then end by itself, so that its dump is complete.
type program struct {
	dir    string   // working directory
	args   []string // the program and its arguments
	env    []string // besides the test's
	thread string   // name of the thread to watch; "" for the first one

	// Watch it only if a part of a file is mapped twice.
	mapsTwice bool
}

// Limits of a program's time.
const (
	startTime = 20 * time.Second // until its thread exists
	endTime   = 30 * time.Second // after the request to stop
)

// watch runs the program, watches it and returns its steps and its pid. It skips the test
// if ptrace is refused. The watch is nil if p.mapsTwice is not met.
func (p *program) watch(t *testing.T, how plan) (*watch, int) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Dir, cmd.Env = p.dir, append(os.Environ(), p.env...)
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	var ended chan error // nil before the wait begins
	defer func() {
		cmd.Process.Kill() // it has ended, or the test has failed
		if ended == nil {
			cmd.Wait()
		}
	}()
	tid := pid
	for begin, ok := time.Now(), p.thread == ""; !ok; tid, ok = threadNamed(pid, p.thread) {
		if time.Since(begin) > startTime {
			t.Fatalf("%s has no thread %q after %v", p.args[0], p.thread, startTime)
		}
		time.Sleep(10 * time.Millisecond)
	}
	time.Sleep(how.warm)
	if p.mapsTwice {
		regions, err := regionsOf(pid)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(regions, func(r region) bool { return r.home != 0 }) {
			return nil, pid
		}
	}
	begin := time.Now()
	w, err := watchThread(pid, tid, how)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		testrec.Skip(t, "ptrace is not allowed here: %v", err)
	}
	if err != nil {
		t.Fatalf("%s: %v", strings.Join(p.args, " "), err)
	}
	t.Logf("%d instructions watched, %d of them in jitted code, in %v", w.all, len(w.steps), time.Since(begin))
	if err := os.WriteFile(filepath.Join(p.dir, "stop"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	ended = make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-time.After(endTime):
		t.Fatalf("%s has not ended %v after it was told to", p.args[0], endTime)
	}
	if err != nil {
		t.Fatalf("%s: unexpected error: %v\n%s", strings.Join(p.args, " "), err, said.String())
	}
	return w, pid
}

// dumpIn returns the only jitdump below a directory.
func dumpIn(t *testing.T, dir string) string {
	t.Helper()
	var paths []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".dump") {
			paths = append(paths, path)
		}
		return err
	})
	if err != nil || len(paths) != 1 {
		t.Fatalf("got the dumps %v below %s, %v; want one", paths, dir, err)
	}
	return paths[0]
}
