package testrec

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Skip skips a test that says nothing on this machine: another processor, another user, a
// kernel that forbids it. All skips begin with one word. JITINJECT_SKIPS names a file that gets
// a line for each: make test prints them.
func Skip(t testing.TB, format string, args ...any) {
	t.Helper()
	if path := os.Getenv("JITINJECT_SKIPS"); path != "" {
		if f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644); err == nil {
			fmt.Fprintf(f, "SKIPPED: %s: %s\n", t.Name(), strings.ReplaceAll(fmt.Sprintf(format, args...), "\n", " "))
			f.Close()
		}
	}
	t.Skipf("SKIPPED: "+format, args...)
}

// Missing skips a test that needs something that can be installed. With
// JITINJECT_TOOLS=required, as in make check, the test fails.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if os.Getenv("JITINJECT_TOOLS") == "required" {
		t.Fatalf("missing: "+format, args...)
	}
	Skip(t, "missing: "+format, args...)
}

// Tool returns the path of the first of the given programs that is installed. Where none
// is, the test is skipped as Missing says. With -short, no test starts a program that is not ours.
func Tool(t testing.TB, names ...string) string {
	t.Helper()
	if testing.Short() {
		Skip(t, "-short starts no %s", names[0])
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	Missing(t, "%s", strings.Join(names, " or "))
	return ""
}

// Perfs returns the perfs to try things with: the installed one, and those that
// JITINJECT_PERFS names, separated by colons. The keys are their versions. With -short there are
// none: tests that ask perf last go on with what they know by themselves.
func Perfs(t testing.TB) map[string]string {
	t.Helper()
	perfs := make(map[string]string)
	if testing.Short() {
		return perfs
	}
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

// CanRecord skips the test where the kernel does not let perf record.
func CanRecord(t testing.TB) {
	t.Helper()
	out, err := Command(t, t.TempDir(), Tool(t, "perf"), "record", "-q", "-e", "cpu-clock", "-k", "mono", "-o", "perf.data", "true").CombinedOutput()
	if err != nil {
		Skip(t, "perf record is not allowed here: %v\n%s", err, out)
	}
}

// Fresh is CanRecord for tests that record anew what a recording of testdata shows every time. They try
// the runtimes, the perf and the kernel of the machine, which change without us: make interop
// (JITINJECT_ALL=1) does that.
func Fresh(t testing.TB) {
	t.Helper()
	if os.Getenv("JITINJECT_ALL") == "" {
		Skip(t, "JITINJECT_ALL is not set")
	}
	CanRecord(t)
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

// PatientPerf returns the variable that configures perf to wait for addr2line. From 6.12 on it waits a second,
// or five, and then shows no line: too little on a busy machine.
func PatientPerf(t testing.TB) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "perfconfig")
	if err := os.WriteFile(config, []byte("[core]\n\taddr2line-timeout = 120000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return "PERF_CONFIG=" + config
}

// Run runs a command and returns what it prints on standard output. A command
// that fails fails the test.
func Run(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	stdout, _ := RunBoth(t, dir, name, args...)
	return stdout
}

// RunBoth is Run, and returns standard error as well.
//
// perf 6.1 starts an addr2line for each file. For a file that cannot be opened ("//anon"), addr2line
// ends at once, and SIGPIPE kills perf if that was quicker than perf's question. Such a run is
// repeated without the signal: then perf goes on.
func RunBoth(t testing.TB, dir, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	stdout, stderr, e := runBoth(Command(t, dir, name, args...))
	if exit := (*exec.ExitError)(nil); errors.As(e, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGPIPE {
		ignoring := []string{"-c", `trap "" PIPE; exec "$@"`, "sh", name}
		stdout, stderr, e = runBoth(Command(t, dir, "sh", append(ignoring, args...)...))
	}
	if e != nil {
		t.Fatalf("%s %s: %v\n%s%s", name, strings.Join(args, " "), e, stdout, stderr)
	}
	return stdout, stderr
}

func runBoth(cmd *exec.Cmd) (stdout, stderr string, e error) {
	var out, err bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &err
	e = cmd.Run()
	return out.String(), err.String(), e
}
