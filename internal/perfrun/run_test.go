package perfrun

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/addr2line"
	"github.com/jitinject/jitinject/internal/testrec"
)

// viewMark makes the test program a command: its arguments are a perf, and arguments for that.
const viewMark = "JITINJECT_TEST_VIEW"

func TestMain(m *testing.M) {
	switch {
	case addr2line.IsFilter(os.Args):
		os.Exit(addr2line.Filter(os.Args))
	case os.Getenv(viewMark) != "":
		os.Unsetenv(viewMark)
		self, err := os.Executable()
		if err == nil {
			var ending Ending
			if ending, err = Run(os.Args[1], self, os.Args[2:], os.Stderr); err == nil {
				ending.End()
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	testrec.Main(m)
}

// viewCommand returns a command that runs a perf with the filter. Its temporary files are in temp.
func viewCommand(t *testing.T, dir, perf string, args ...string) (cmd *exec.Cmd, temp string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	temp = t.TempDir()
	cmd = testrec.Command(t, dir, self, append([]string{perf}, args...)...)
	cmd.Env = append(cmd.Env, viewMark+"=1", "TMPDIR="+temp)
	return cmd, temp
}

// isEmpty checks that nothing is left in a directory.
func isEmpty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); len(left) > 0 || err != nil {
		t.Errorf("got %v, %v left; want nothing", left, err)
	}
}

func TestRun_PerfHasFilterLimitAndStreams(t *testing.T) {
	testrec.Tool(t, addr2line.Name)
	perf := fakePerf(t, `cat; echo "$0 $*"; echo problem >&2; readlink "$(dirname "$(command -v addr2line)")/filter/addr2line"; ulimit -n; ulimit -Hn; exit 42`)
	cmd, temp := viewCommand(t, t.TempDir(), perf, "report", "-x y")
	cmd.Stdin = strings.NewReader("input\n")
	cmd.Args = append([]string{"sh", "-c", `ulimit -Sn 200; exec "$0" "$@"`}, append([]string{cmd.Path}, cmd.Args[1:]...)...)
	cmd.Path = testrec.Tool(t, "sh")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 42 || stderr.String() != "problem\n" {
		t.Errorf("got %v, %q; want exit status 42 and perf's message", err, stderr.String())
	}
	lines := strings.Split(string(out), "\n")
	self, _ := os.Executable()
	if len(lines) != 6 || lines[0] != "input" || !strings.HasSuffix(lines[1], " report -x y") || lines[2] != self || lines[3] != lines[4] || lines[3] == "200" {
		t.Errorf("got %q; want the input, arguments, a filter that ends at %s, and a raised limit", lines, self)
	}
	isEmpty(t, temp)
}

// Without addr2line, perf finds none.
func TestRun_NoAddr2line(t *testing.T) {
	perf := fakePerf(t, "command -v addr2line || echo none")
	cmd, temp := viewCommand(t, t.TempDir(), perf)
	cmd.Env = append(cmd.Env, "PATH="+t.TempDir())
	if out, err := cmd.CombinedOutput(); string(out) != "none\n" || err != nil {
		t.Errorf("got %q, %v; want none", out, err)
	}
	isEmpty(t, temp)
}

// Without a directory for the filter, perf runs.
func TestRun_NoTemporaryDirectory(t *testing.T) {
	testrec.Tool(t, addr2line.Name)
	cmd, temp := viewCommand(t, t.TempDir(), fakePerf(t, "echo went on; exit 5"))
	cmd.Env = append(cmd.Env, "TMPDIR="+filepath.Join(temp, "missing"))
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != 5 || !strings.HasPrefix(string(out), "jitinject: perf may be slow") || !strings.HasSuffix(string(out), "went on\n") {
		t.Errorf("got %q, exit code %d; want a message, and 5", out, cmd.ProcessState.ExitCode())
	}
}

// The process ends by the signal that ended perf.
func TestRun_EndsAsPerf(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGPIPE, unix.SIGSEGV, unix.SIGKILL} {
		cmd, temp := viewCommand(t, t.TempDir(), fakePerf(t, fmt.Sprintf("kill -%d $$", int(sig))))
		out, err := cmd.CombinedOutput()
		status := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !status.Signaled() || status.Signal() != sig || len(out) > 0 {
			t.Errorf("signal %v: got %v, %q; want that signal, no output", sig, err, out)
		}
		isEmpty(t, temp)
	}
}

// Signals to the command alone reach perf, which may handle them.
func TestRun_PassesSignals(t *testing.T) {
	for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
		perf := fakePerf(t, fmt.Sprintf("trap 'echo got it; exit 3' %d\nread line; echo $line\nwhile :; do sleep 0.01; done", int(sig)))
		cmd, temp := viewCommand(t, t.TempDir(), perf)
		// The tests may ignore SIGHUP, as under nohup. Then the command would, too, and this would not end.
		own := make(chan os.Signal, 1)
		signal.Notify(own, sig)
		in, out := testrec.Start(t, cmd)
		signal.Stop(own)
		fmt.Fprintln(in, "started")
		text := make([]byte, len("started\n"))
		if _, err := out.Read(text); err != nil {
			t.Fatal(err)
		}
		cmd.Process.Signal(sig)
		var rest bytes.Buffer
		rest.ReadFrom(out)
		cmd.Wait()
		if rest.String() != "got it\n" || cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("signal %v: got %q, exit code %d; want perf's handler, and 3", sig, rest.String(), cmd.ProcessState.ExitCode())
		}
		isEmpty(t, temp)
	}
}

// perf ends if the command is killed.
func TestRun_KilledEndsPerf(t *testing.T) {
	perf := fakePerf(t, "trap 'echo ended; exit' TERM\necho $$\nwhile :; do sleep 0.01; done")
	cmd, _ := viewCommand(t, t.TempDir(), perf)
	_, out := testrec.Start(t, cmd)
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	var rest bytes.Buffer
	done := make(chan bool)
	go func() { rest.ReadFrom(out); close(done) }()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		unix.Kill(pid, unix.SIGKILL)
		<-done
	}
	if !strings.Contains(rest.String(), "ended") {
		t.Errorf("got %q; want SIGTERM for perf", rest.String())
	}
}
