package record

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

// execArgs is set for a process that becomes a command: the arguments of Exec, one a line.
const execArgs = "JITINJECT_TEST_EXEC"

// becomes runs Exec in a process of its own, whose environment and PATH are others than the command's.
func becomes(t *testing.T, env Environment, args ...string) (output string, code int) {
	t.Helper()
	return becomesWith(t, env, "", args...)
}

// becomesWith does so with a text after the descriptor.
func becomesWith(t *testing.T, env Environment, suffix string, args ...string) (output string, code int) {
	t.Helper()
	f, err := env.file()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, "-test.run=^TestExec_InAProcess$")
	args[0] += fmt.Sprintf(",%d%s", f.Fd(), suffix) // inherited, as perf and the process that it starts inherit it
	cmd.Env = []string{execArgs + "=" + strings.Join(args, "\n"), "PREFIX=/of/perf", "PATH=/of/perf", "JITINJECT_PRIVATE_TMP=1"}
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// TestExec_InAProcess is what such a process runs.
func TestExec_InAProcess(t *testing.T) {
	args, ok := os.LookupEnv(execArgs)
	if !ok {
		return
	}
	err := Exec(strings.Split(args, "\n"))
	os.Stderr.WriteString("Exec: " + err.Error() + "\n")
	os.Exit(99)
}

// The command gets its own environment, not perf's; nothing else is inherited.
func TestExec_EnvironmentOfTheCommand(t *testing.T) {
	env := Environment{"PATH=" + os.Getenv("PATH"), "A=1", "B=two lines\nof text", "EMPTY="}
	group := strconv.Itoa(ownGroup())
	out, code := becomes(t, env, group, "--", testrec.Tool(t, "env"), "-0")
	if want := strings.Join(env, "\x00") + "\x00"; code != 0 || out != want {
		t.Errorf("got %q, exit code %d; want %q", out, code, want)
	}
	out, code = becomes(t, env, group, "--", "sh", "-c", "readlink /proc/$$/fd/* | grep memfd; cut -d' ' -f5 /proc/$$/stat")
	if code != 0 || out != group+"\n" {
		t.Errorf("got %q, exit code %d; want no descriptor of the environment, and process group %s", out, code, group)
	}
}

// A shell ignores SIGINT for what runs in the background of a script, and perf's handler would undo that.
func TestExec_IgnoredInterrupt(t *testing.T) {
	env := Environment{"PATH=" + os.Getenv("PATH")}
	for _, ignored := range []bool{true, false} {
		suffix, want := "", ""
		if ignored {
			suffix, want = ",2", "on\n"
		}
		out, _ := becomesWith(t, env, suffix, strconv.Itoa(ownGroup()), "--", "sh", "-c", "kill -INT $$; echo on")
		if out != want {
			t.Errorf("SIGINT ignored %v: got %q; want %q", ignored, out, want)
		}
	}
}

// Programs are found in the command's PATH. A script without #! is one for sh.
func TestExec_FindsPrograms(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "tool"), "echo tool $1 $PREFIX\n")
	write(t, filepath.Join(dir, "broken"), "#!/not/there\n")
	write(t, filepath.Join(dir, "text"), "text")
	if err := os.Chmod(filepath.Join(dir, "text"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := Environment{"PATH=" + dir}
	group := strconv.Itoa(ownGroup())
	if out, code := becomes(t, env, group, "--", "tool", "one"); out != "tool one\n" || code != 0 {
		t.Errorf("got %q, exit code %d; want the tool", out, code)
	}
	for _, args := range [][]string{
		{group, "--", "not-there"}, {group, "--", "broken"}, {group, "--", filepath.Join(dir, "text")}, {group, "--", dir},
		{group}, {group, "--"}, {group, "tool", "--"}, {"x", "--", "tool"}, {"", "--", "tool"},
	} {
		if out, code := becomes(t, env, args...); code != 99 || !strings.HasPrefix(out, "Exec: ") {
			t.Errorf("%q: got %q, exit code %d; want an error", args, out, code)
		}
	}
}

// Without the descriptor, as if a user had typed the option.
func TestReadEnvironment_NoDescriptor(t *testing.T) {
	if env, err := readEnvironment(1 << 20); err == nil {
		t.Errorf("got %q; want an error", env)
	}
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(p[1])
	if env, err := readEnvironment(p[0]); err == nil {
		t.Errorf("got %q from a pipe; want an error", env)
	}
}
