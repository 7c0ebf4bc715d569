package testrec

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Tool returns the path of the first of the given programs that is installed.
// Where none is, the test is skipped, loudly; with JITINJECT_TOOLS=required, as
// in make check, it fails.
func Tool(t testing.TB, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("JITINJECT_TOOLS") == "required" {
		t.Fatalf("%s is not installed", strings.Join(names, " or "))
	}
	t.Skipf("SKIPPED: %s is not installed", strings.Join(names, " or "))
	return ""
}

// Perfs returns the perfs to try things with: the installed one, and those that
// JITINJECT_PERFS names, separated by colons. The keys are their versions.
func Perfs(t testing.TB) map[string]string {
	t.Helper()
	perfs := make(map[string]string)
	paths := []string{Tool(t, "perf")}
	for _, path := range append(paths, strings.Split(os.Getenv("JITINJECT_PERFS"), ":")...) {
		if path == "" {
			continue
		}
		out, err := exec.Command(path, "--version").Output()
		if err != nil {
			t.Fatalf("%s --version: %v", path, err)
		}
		perfs[strings.TrimPrefix(strings.TrimSpace(string(out)), "perf version ")] = path
	}
	return perfs
}

// CanRecord skips the test, loudly, where the kernel does not let perf record.
func CanRecord(t testing.TB) {
	t.Helper()
	out, err := Command(t, t.TempDir(), Tool(t, "perf"), "record", "-q", "-e", "cpu-clock", "-k", "mono", "-o", "perf.data", "true").CombinedOutput()
	if err != nil {
		t.Skipf("SKIPPED: perf record is not allowed here: %v\n%s", err, out)
	}
}

// Command prepares a command that runs in dir and has it for a home: perf fills
// ~/.debug. Tools speak English.
func Command(t testing.TB, dir, name string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "LC_ALL=C", "DEBUGINFOD_URLS=", "PERF_CONFIG=/dev/null")
	return cmd
}

// Run runs a command and returns what it prints on standard output. A command
// that fails fails the test.
func Run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	stdout, _ := RunBoth(t, dir, name, args...)
	return stdout
}

// RunBoth is Run, and returns standard error as well.
func RunBoth(t testing.TB, dir, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	cmd := Command(t, dir, name, args...)
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	if e := cmd.Run(); e != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), e, out.Bytes(), err.Bytes())
	}
	return out.String(), err.String()
}
