package stepped

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// run starts a program and watches it.
func run(t *testing.T, warm time.Duration, b bursts, env []string, dir string, args ...string) *watched {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := false
	defer func() {
		if !done {
			cmd.Process.Kill()
		}
		cmd.Wait()
	}()
	time.Sleep(warm)
	w, err := watch(cmd.Process.Pid, b)
	if errors.Is(err, unix.EPERM) {
		t.Skipf("SKIPPED: ptrace is not allowed here: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	done = true // it ends by itself, and so writes all of its dump
	return w
}

func one(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s: %v, %v", pattern, paths, err)
	}
	return paths[0]
}

func report(t *testing.T, v *verdict) {
	t.Log(v)
	for name, f := range v.functions {
		t.Logf("%-60s %d right %d none %d wrong", name, f.right, f.none, f.wrong)
	}
	shown := 0
	for name, f := range v.functions {
		if f.wrong > 0 && shown < 40 {
			shown++
			t.Errorf("%s: %d right, %d none, %d wrong; %s", name, f.right, f.none, f.wrong, f.first)
		}
	}
}

func TestNode(t *testing.T) {
	node := os.Getenv("NODE")
	if node == "" {
		node = "node"
	}
	dir := t.TempDir()
	prog := filepath.Join(dir, "prog.js")
	os.WriteFile(prog, []byte(os.Getenv("PROG")), 0o644)
	if p := os.Getenv("SCRIPT"); p != "" {
		prog = p
	}
	steps := run(t, 400*time.Millisecond, bursts{60, 10000, 20 * time.Millisecond}, nil, dir, append(append([]string{node, "--perf-prof"}, strings.Fields(os.Getenv("FLAGS"))...), prog, "14000")...)
	report(t, judge(t, one(t, filepath.Join(dir, "jit-*.dump")), nil, steps))
}
