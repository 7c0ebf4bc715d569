package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A slowRun is the program, reading a recording from a FIFO that nobody fills but the
// test, with its messages on a terminal.
type slowRun struct {
	*testTerminal
	cmd       *exec.Cmd
	fifo      *os.File
	recording []byte
}

func startSlow(t *testing.T, env []string, args ...string) *slowRun {
	t.Helper()
	return startSlowAs(t, func(*exec.Cmd, *slowRun) {}, env, args...)
}

// startSlowAs changes how it is started.
func startSlowAs(t *testing.T, change func(cmd *exec.Cmd, r *slowRun), env []string, args ...string) *slowRun {
	t.Helper()
	program, err := os.Executable() // which is the program if it is told so
	if err != nil {
		t.Fatal(err)
	}
	dir := testrec.Unpack(t, "node-pipe")
	r := &slowRun{testTerminal: openTerminal(t)}
	if r.recording, err = os.ReadFile(filepath.Join(dir, "perf.pipe.data")); err != nil {
		t.Fatal(err)
	}
	fifo := filepath.Join(dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	r.cmd = testrec.Command(t, dir, program, append([]string{"-i", "fifo", "-o", "out.data"}, args...)...)
	r.cmd.Env = append(append(r.cmd.Env, beProgram+"=1", "TERM=xterm"), env...)
	r.cmd.Stderr = r.slave
	change(r.cmd, r)
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.cmd.Process.Kill() })
	if r.fifo == nil {
		if r.fifo, err = os.OpenFile(fifo, os.O_WRONLY, 0); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { r.fifo.Close() })
	return r
}

// feed writes a part of the recording.
func (r *slowRun) feed(t *testing.T, from, to int) {
	t.Helper()
	if err := r.fifo.SetWriteDeadline(time.Now().Add(20 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.fifo.Write(r.recording[from:to]); err != nil {
		t.Fatal(err)
	}
}

const someBytes = 70000

// finish feeds the rest and returns what is on the screen then.
func (r *slowRun) finish(t *testing.T) (lines []string, raw string) {
	t.Helper()
	r.feed(t, someBytes, len(r.recording))
	r.fifo.Close()
	if err := r.cmd.Wait(); err != nil {
		t.Errorf("unexpected error: %v\n%q", err, r.raw())
	}
	raw = r.close()
	lines, x := screenOf(t, raw)
	if x != 0 || strings.Contains(raw, "\x1b[?25") {
		t.Errorf("the cursor is in column %d, or was hidden: %q", x, raw)
	}
	return lines, raw
}

func TestBar_OnTerminal(t *testing.T) {
	r := startSlow(t, nil, "-v")
	r.feed(t, 0, someBytes)
	raw := r.wait(t, "a bar", func(raw string) bool { return strings.Contains(raw, "copying") && strings.Contains(raw, "B/s") })
	lines, x := screenOf(t, raw[:strings.LastIndex(raw, "\r")+1])
	if n := len(lines); n < 1 || !strings.Contains(lines[n-1], "copying") || x != 0 {
		t.Errorf("%q in column %d", lines, x)
	}

	// The terminal becomes narrower, and the bar with it.
	const narrow = 24
	if err := unix.IoctlSetWinsize(int(r.master.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: narrow}); err != nil {
		t.Fatal(err)
	}
	from := len(r.raw())
	raw = r.wait(t, "another bar", func(raw string) bool { return strings.Count(raw[from:], "\x1b[J") > 5 })
	frames := strings.Split(raw, "\r\x1b[J")
	last := strings.TrimSpace(frames[len(frames)-2])
	if n := utf8.RuneCountInString(last); n > narrow || !strings.HasPrefix(last, "copying") {
		t.Errorf("%d columns in %d: %q", n, narrow, last)
	}

	lines, _ = r.finish(t)
	text := strings.Join(lines, "\n")
	if strings.Contains(text, "copying") || !strings.Contains(text, "out.data: 2,208 mappings") {
		t.Errorf("on the screen:\n%s", text)
	}
}

// Messages come before the bar, and whole.
func TestBar_MessagesBeforeIt(t *testing.T) {
	tty := openTerminal(t)
	t.Setenv("TERM", "xterm")
	c := newConsole("jitinject", tty.slave)
	var progress report.Progress
	stop := showProgress(c, "always", false, &progress)
	for i := range 5 {
		c.mu.Lock()
		c.meter.show(report.ProgressState{Phase: report.PhaseObjects, Done: int64(i) * 10, Total: 50}, time.Now())
		c.mu.Unlock()
		time.Sleep(150 * time.Millisecond)
		if _, err := c.Write([]byte("message\n")); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	raw := tty.close()
	if !strings.Contains(raw, "making objects [=") || !strings.Contains(raw, "80%") {
		t.Errorf("no bar: %q", raw)
	}
	if lines, _ := screenOf(t, raw); strings.Join(lines, "\n") != strings.Repeat("message\n", 5) {
		t.Errorf("on the screen: %q", lines)
	}
}

// Where a bar would be in the way there is none.
func TestBar_WhereUnwanted(t *testing.T) {
	for name, c := range map[string]struct {
		env  []string
		args []string
	}{
		"a terminal that moves no cursor": {env: []string{"TERM=dumb"}},
		"never":                           {args: []string{"--progress", "never"}},
		"quiet":                           {args: []string{"-q"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startSlow(t, c.env, c.args...)
			r.feed(t, 0, someBytes)
			time.Sleep(barDelay + 5*barTick)
			if _, raw := r.finish(t); strings.Contains(raw, "copying") || strings.Contains(raw, "\x1b") {
				t.Errorf("got %q; want one without \"copying\", one without \"\\x1b\"", raw)
			}
		})
	}
	t.Run("a short run", func(t *testing.T) {
		tty := openTerminal(t)
		t.Setenv("TERM", "xterm")
		t.Chdir(testrec.Place(t, "php"))
		began := time.Now()
		if code := run([]string{"jitinject"}, nil, nil, tty.slave); code != exitOK {
			t.Errorf("exit code %d", code)
		}
		took := time.Since(began)
		if raw := tty.close(); !strings.Contains(raw, "44 mappings") || took < barDelay && strings.Contains(raw, "\x1b") {
			t.Errorf("after %v: %q", took, raw)
		}
	})
	t.Run("no terminal", func(t *testing.T) {
		t.Parallel()
		messages := filepath.Join(t.TempDir(), "messages")
		r := startSlowAs(t, func(cmd *exec.Cmd, _ *slowRun) {
			var err error
			if cmd.Stderr, err = os.Create(messages); err != nil {
				t.Fatal(err)
			}
		}, nil)
		r.feed(t, 0, someBytes)
		time.Sleep(barDelay + 5*barTick)
		r.finish(t)
		if b, err := os.ReadFile(messages); err != nil || bytes.Contains(b, []byte("copying")) || !bytes.Contains(b, []byte("2,208 mappings")) {
			t.Errorf(`got %q, %v; want no error, b without "copying", b with "2,208 mappings"`, b, err)
		}
	})
	// Others of a pipeline write to the terminal, too.
	for name, args := range map[string][]string{"a pipe comes in": {"-i", "-"}, "a pipe goes out": {"-o", "-"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startSlowAs(t, func(cmd *exec.Cmd, r *slowRun) {
				if args[0] == "-i" {
					in, err := os.OpenFile(filepath.Join(cmd.Dir, "fifo"), os.O_RDONLY|syscall.O_NONBLOCK, 0)
					if err == nil {
						err = syscall.SetNonblock(int(in.Fd()), false)
					}
					if err != nil {
						t.Fatal(err)
					}
					cmd.Stdin = in
					t.Cleanup(func() { in.Close() })
					// A program that reads where nobody writes yet finds the end.
					if r.fifo, err = os.OpenFile(in.Name(), os.O_WRONLY, 0); err != nil {
						t.Fatal(err)
					}
				} else {
					cmd.Stdout = new(bytes.Buffer) // through a pipe
				}
			}, nil, args...)
			r.feed(t, 0, someBytes)
			time.Sleep(barDelay + 5*barTick)
			if _, raw := r.finish(t); strings.Contains(raw, "copying") || strings.Contains(raw, "\x1b") || !strings.Contains(raw, "2,208 mappings") {
				t.Errorf("got %q; want one without \"copying\", one without \"\\x1b\", one with \"2,208 mappings\"", raw)
			}
		})
	}
}

// A job of a shell shows a bar while the terminal is its own, and goes on without one
// while it is not, be it that a terminal stops those who write there then.
func TestBar_BackgroundJob(t *testing.T) {
	for name, c := range map[string]struct {
		script string
		bar    bool
	}{
		"in the foreground": {`set -m; "$@"`, true},
		"in the background": {`set -m; stty tostop; "$@" & wait $!`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shell := testrec.Tool(t, "bash")
			r := startSlowAs(t, func(cmd *exec.Cmd, r *slowRun) {
				cmd.Args = append([]string{shell, "-c", c.script, shell, cmd.Path}, cmd.Args[1:]...)
				cmd.Path, cmd.Stdin = shell, r.slave
				cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
			}, nil, "-q", "--progress", "always")
			r.feed(t, 0, someBytes)
			if c.bar {
				r.wait(t, "a bar", func(raw string) bool { return strings.Contains(raw, "copying") })
			} else {
				time.Sleep(5 * barTick)
			}
			over := time.AfterFunc(20*time.Second, func() { syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) })
			defer over.Stop()
			if _, raw := r.finish(t); strings.Contains(raw, "copying") != c.bar {
				t.Errorf(`got %q; want strings.Contains(raw, "copying") = %v`, raw, c.bar)
			}
		})
	}
}

// Where it is asked for and there is no terminal, there are lines.
func TestProgressLines_WithoutTerminal(t *testing.T) {
	r := startSlow(t, []string{"TERM=dumb"}, "--progress", "always")
	r.feed(t, 0, someBytes)
	raw := r.wait(t, "a line", func(raw string) bool { return strings.Contains(raw, "copying the pipe: ") })
	if strings.Contains(raw, "\x1b") {
		t.Errorf("got %q; want one without \"\\x1b\"", raw)
	}
	if lines, _ := r.finish(t); !strings.Contains(strings.Join(lines, "\n"), "out.data: 2,208 mappings") {
		t.Errorf("got %q; want strings.Join(lines, \"\\n\") with \"out.data: 2,208 mappings\"", lines)
	}
}

// A signal leaves no part of a bar behind.
func TestBar_Interrupted(t *testing.T) {
	r := startSlow(t, nil)
	r.feed(t, 0, someBytes)
	r.wait(t, "a bar", func(raw string) bool { return strings.Contains(raw, "copying") })
	r.slave.WriteString("^C") // as the terminal shows it
	r.cmd.Process.Signal(syscall.SIGTERM)
	r.cmd.Wait()
	raw := r.close()
	lines, x := screenOf(t, raw)
	if len(lines) > 0 && strings.Contains(lines[0], "removing the files of this run") { // if that takes long
		lines = lines[1:]
	}
	if strings.Join(lines, "\n") != "jitinject: interrupted; nothing was written\n" || x != 0 || strings.Contains(raw, "\x1b[?25") {
		t.Errorf("got %q; want strings.Join(lines, \"\\n\") = \"jitinject: interrupted; nothing was written\\n\", x = 0, one without \"\\x1b[?25\"\n%q", lines, raw)
	}
}

func TestGauge_EveryShare(t *testing.T) {
	var g gauge
	start := time.Now()
	at := func(seconds float64) time.Time { return start.Add(time.Duration(seconds * 1e9)) }
	step := func(seconds float64, s report.ProgressState, want string) {
		t.Helper()
		g.update(s, at(seconds))
		left, right := g.text(s)
		if got := left + ": " + right; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	survey := func(done int64) report.ProgressState {
		return report.ProgressState{Phase: report.PhaseSurvey, Done: done * 1e6, Total: 1000e6}
	}
	step(0, survey(0), "reading the recording:   0%")
	step(0.2, survey(20), "reading the recording:   2%  100 MB/s")
	step(1, survey(100), "reading the recording:  10%  9 s left  100 MB/s")
	step(2, survey(200), "reading the recording:  20%  8 s left  100 MB/s")
	for i := range 100 { // it has become slower
		g.update(survey(200+int64(i)), at(2.1+float64(i)))
	}
	if mb := g.rate / 1e6; mb < 0.9 || mb > 1.1 {
		t.Errorf("%.2f MB/s, long after it has slowed down to 1", mb)
	}
	step(103, report.ProgressState{Phase: report.PhaseObjects, Total: 10}, "making objects:   0%")
	step(104, report.ProgressState{Phase: report.PhaseObjects, Total: 10, Done: 20}, "making objects: 100%  0 s left  20 functions/s")
	step(105, report.ProgressState{Phase: report.PhaseStream}, "copying the pipe: 0 bytes, 0 bytes/s")
	step(106, report.ProgressState{Phase: report.PhaseStream, Done: 30000}, "copying the pipe: 30 kB, 30 kB/s")
	step(107, report.ProgressState{Phase: report.PhasePlan}, "planning objects: ")
	step(108, report.ProgressState{Phase: report.PhaseSync}, "waiting for the disk: ")
	for seconds, want := range map[float64]string{0: "0 s", 0.1: "1 s", 99: "99 s", 100: "2 min", 121: "3 min", 6000: "2 h", 7200: "2 h", 1e9: "days"} {
		if got := remaining(seconds); got != want {
			t.Errorf("for %v seconds: got %s, want %s", seconds, got, want)
		}
	}
}
