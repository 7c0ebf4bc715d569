package addr2line

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

// The test program is the filter if it is started as addr2line.
func TestMain(m *testing.M) {
	if IsFilter(os.Args) {
		os.Exit(Filter(os.Args))
	}
	testrec.Main(m)
}

// link makes a directory with a link addr2line to a program.
func link(t *testing.T, program string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.Symlink(program, filepath.Join(dir, Name)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// filterCommand returns a command that is the filter, with directories in PATH after it.
func filterCommand(t *testing.T, after []string, args ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := link(t, self)
	cmd := testrec.Command(t, t.TempDir(), filepath.Join(dir, Name), args...)
	cmd.Env = append(cmd.Env, "PATH="+strings.Join(append([]string{dir}, after...), ":"))
	return cmd
}

// script makes a directory with a shell script addr2line.
func script(t *testing.T, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Name), []byte("#!/bin/sh\n"+text), 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// program compiles a program with an inlined call, and returns addresses of its code and one without
// code.
func program(t *testing.T) (path string, addresses []string) {
	t.Helper()
	dir := t.TempDir()
	const source = "int g(int x) { return x * 3 + 1; }\nstatic inline int h(int x) { return g(x) + 2; }\nint main(int argc, char **argv) { return h(argc) + g(argc); }\n"
	if err := os.WriteFile(filepath.Join(dir, "a.c"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	testrec.Run(t, dir, testrec.Tool(t, "gcc"), "-O2", "-g", "-o", "a", "a.c")
	for line := range strings.Lines(testrec.Run(t, dir, testrec.Tool(t, "nm"), "a")) {
		if f := strings.Fields(line); len(f) == 3 && (f[2] == "main" || f[2] == "g") {
			addresses = append(addresses, f[0])
		}
	}
	if len(addresses) != 2 {
		t.Fatalf("got %d functions; want 2", len(addresses))
	}
	return filepath.Join(dir, "a"), append(addresses, "0000000000000001")
}

// ask asks as perf does, and returns the pairs of lines of each answer. The end of each is known by
// the answer to the end mark.
func ask(t *testing.T, cmd *exec.Cmd, wantsAddress bool, addresses []string) (answers []string) {
	t.Helper()
	in, out := testrec.Start(t, cmd)
	lines := bufio.NewScanner(out)
	next := func() string {
		if !lines.Scan() {
			t.Fatalf("got %v; want a line", lines.Err())
		}
		return lines.Text()
	}
	zero := "0x0000000000000000"
	if wantsAddress {
		fmt.Fprint(in, ",\n")
		if got := []string{next(), next(), next()}; strings.Join(got, " ") != zero+" ?? ??:0" {
			t.Fatalf("got %q from the test of style; want the answer of binutils", got)
		}
	}
	for _, address := range addresses {
		fmt.Fprint(in, address+"\n,\n")
		answer := ""
		for first := true; ; first = false {
			line := next()
			if wantsAddress && line == zero {
				if a, b := next(), next(); a != "??" || b != "??:0" {
					t.Errorf("got %q, %q at the end; want ??, ??:0", a, b)
				}
				break
			}
			if wantsAddress && strings.HasPrefix(line, "0x") {
				continue
			}
			pair := line + " " + next()
			if !wantsAddress && pair == "?? ??:0" && !first {
				break
			}
			answer += pair + "\n"
		}
		answers = append(answers, answer)
	}
	in.Close()
	if rest, err := io.ReadAll(out); len(rest) > 0 || err != nil {
		t.Errorf("got %q, %v after the last answer; want nothing", rest, err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("got %v; want no error", err)
	}
	return answers
}

// Each real addr2line answers both kinds of perf, and gets no end mark.
func TestFilter_AnswersOfRealPrograms(t *testing.T) {
	file, addresses := program(t)
	for _, name := range []string{"addr2line", "llvm-addr2line"} {
		t.Run(name, func(t *testing.T) {
			tool := testrec.Tool(t, name)
			log := filepath.Join(t.TempDir(), "asked")
			dir := script(t, fmt.Sprintf("tee %s | %s \"$@\"\n", log, tool))
			for options, wantsAddress := range map[string]bool{"-i -f": false, "-a -i -f": true} {
				args := append([]string{"-e", file}, strings.Fields(options)...)
				got := ask(t, filterCommand(t, []string{dir, os.Getenv("PATH")}, args...), wantsAddress, addresses)
				for i, address := range addresses {
					want := testrec.Run(t, t.TempDir(), tool, "-e", file, "-i", "-f", address)
					if strings.ReplaceAll(strings.TrimSpace(got[i]), " ", "\n") != strings.TrimSpace(want) {
						t.Errorf("%s %s: got %q; want %q", options, address, got[i], want)
					}
				}
				if asked, err := os.ReadFile(log); err != nil || bytes.Contains(asked, []byte(",")) || bytes.Count(asked, []byte("ffffffffffffffff\n")) < len(addresses) {
					t.Errorf("got %q, %v asked; want no end mark", asked, err)
				}
			}
		})
	}
}

// perf 5 has addresses as arguments.
func TestFilter_OtherArgumentsAreNotFiltered(t *testing.T) {
	dir := script(t, `echo "$@"; cat; echo $PATH; exit 7`)
	cmd := filterCommand(t, []string{dir, "/usr/bin:/bin"}, "-e", "x", "-i", "-f", "10")
	cmd.Stdin = strings.NewReader(",\n")
	out, err := cmd.Output()
	if want := "-e x -i -f 10\n,\n/usr/bin:/bin\n"; string(out) != want || cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("got %q, %v; want %q, exit status 7", out, err, want)
	}
}

// Filters in PATH, also copies of the program, end at the real one.
func TestFilter_NeverStartsItself(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(self)
	if err != nil {
		t.Fatal(err)
	}
	twin := t.TempDir()
	if err := os.WriteFile(filepath.Join(twin, Name), text, 0o755); err != nil {
		t.Fatal(err)
	}
	real := script(t, "read line; echo $line; exit 3")
	notExecutable := t.TempDir()
	if err := os.WriteFile(filepath.Join(notExecutable, Name), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := filterCommand(t, []string{twin, link(t, self), twin, notExecutable, real, "/bin"}, "-e", "x", "-i", "-f")
	cmd.Stdin = strings.NewReader(",\n")
	if out, err := cmd.Output(); string(out) != "ffffffffffffffff\n" || cmd.ProcessState.ExitCode() != 3 {
		t.Errorf("got %q, %v; want the question, exit status 3", out, err)
	}
	cmd = filterCommand(t, []string{link(t, self), notExecutable}, "-e", "x", "-i", "-f")
	if out, err := cmd.CombinedOutput(); !strings.Contains(string(out), "no other addr2line") || cmd.ProcessState.ExitCode() != notFound {
		t.Errorf("got %q, %v; want a message, exit status %d", out, err, notFound)
	}
}

// If the real one ends, perf sees the end of its output, and still can write.
func TestFilter_RealOneEndsFirst(t *testing.T) {
	dir := script(t, "echo partial\nkill -9 $$\n")
	cmd := filterCommand(t, []string{dir, "/bin"}, "-e", "x", "-a", "-i", "-f")
	in, out := testrec.Start(t, cmd)
	if text, err := io.ReadAll(out); string(text) != "partial\n" || err != nil {
		t.Errorf("got %q, %v; want what it has written", text, err)
	}
	for range 3 {
		if _, err := fmt.Fprint(in, "0000000000001040\n,\n"); err != nil {
			t.Errorf("got %v; want a reader", err)
		}
	}
	in.Close()
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 128+9 {
		t.Errorf("got exit code %d; want %d", code, 128+9)
	}
}

// perf 6.1 kills the filter. The real one ends, even if it computes.
func TestFilter_Killed(t *testing.T) {
	dir := script(t, "trap '' PIPE; echo $$; while :; do :; done\n")
	cmd := filterCommand(t, []string{dir, "/bin"}, "-e", "x", "-a", "-i", "-f")
	_, out := testrec.Start(t, cmd)
	var pid int
	if _, err := fmt.Fscan(out, &pid); err != nil {
		t.Fatal(err)
	}
	cmd.Process.Kill()
	cmd.Wait()
	for range 200 {
		if unix.Kill(pid, 0) == unix.ESRCH {
			return
		}
		state, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if bytes.Contains(state, []byte(") Z ")) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("got a process that goes on; want its end")
	unix.Kill(pid, unix.SIGKILL)
}

// Many addresses at once, before answers are read, do not block.
func TestFilter_ManyQuestionsAtOnce(t *testing.T) {
	file, addresses := program(t)
	const n = 20_000
	cmd := filterCommand(t, []string{os.Getenv("PATH")}, "-e", file, "-a", "-i", "-f")
	testrec.Tool(t, Name)
	cmd.Stdin = strings.NewReader(strings.Repeat(addresses[0]+"\n", n) + ",\n")
	out, err := cmd.Output()
	if got := strings.Count(string(out), "0x"+addresses[0]); got != n || err != nil || !strings.HasSuffix(string(out), "0x0000000000000000\n??\n??:0\n") {
		t.Errorf("got %d answers, %v; want %d", got, err, n)
	}
}
