package trials

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A shell is an interactive bash at a terminal.
type shell struct {
	*process
	mu   sync.Mutex
	text bytes.Buffer // all that the terminal shows
}

func newShell(s *site, mode string) *shell {
	s.t.Helper()
	user, programs := openTerminal(s.t)
	p := &process{site: s, what: "bash", tty: user, ended: make(chan struct{})}
	p.cmd = exec.Command(testrec.Tool(s.t, "bash"), "--norc", "--noprofile", "-i")
	p.cmd.Dir = s.dir
	p.cmd.Env = append(os.Environ(), "HOME="+s.home, "LC_ALL=C", "DEBUGINFOD_URLS=", "PERF_CONFIG=/dev/null", "HISTFILE=", "PS1=$ ", "TERM=dumb", "TRIAL_MODE="+mode, "TRIAL_SIGNS="+s.signs)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = programs, programs, programs
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	s.must(p.cmd.Start())
	programs.Close()
	sh := &shell{process: p}
	go func() { // a read fails when the last program has closed the terminal
		b := make([]byte, 4096)
		for {
			n, err := user.Read(b)
			sh.mu.Lock()
			sh.text.Write(b[:n])
			sh.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	go func() {
		p.cmd.Wait()
		close(p.ended)
	}()
	s.t.Cleanup(p.sweep)
	return sh
}

func (sh *shell) write(text string) { io.WriteString(sh.tty, text) }

// shown returns what the terminal shows since the last call of forget.
func (sh *shell) shown() string {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return strings.ReplaceAll(sh.text.String(), "\r", "")
}

func (sh *shell) forget() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	sh.text.Reset()
}

// shows waits until the terminal shows a text.
func (sh *shell) shows(pattern string) {
	sh.site.t.Helper()
	is := regexp.MustCompile(pattern)
	end := time.Now().Add(within)
	for !is.MatchString(sh.shown()) {
		if time.Now().After(end) {
			sh.site.t.Fatalf("the terminal does not show %q:\n%s", pattern, sh.shown())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// state returns the state of a process as /proc has it: T if it is stopped, t by its tracer.
func state(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	return strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))[0]
}

// Ctrl-Z stops the command and jitinject, fg continues both, and Ctrl-C ends them.
func TestRecord_JobControl(t *testing.T) {
	t.Parallel()
	testrec.CanRecord(t)
	w := &ways[0]
	s := w.site(t, "", 0)
	before, tmp := s.list(), leftInTmp()
	sh := newShell(s, "busy")
	sh.write(program + " record -F 499 node hot.js\n")
	pid := sh.ready()
	for round := range 2 {
		sh.forget()
		sh.write("\x1a")
		sh.shows("Stopped")
		sh.until("the program is stopped", func() bool { return strings.Contains("Tt", state(pid)) })
		sh.write("echo shell=$((6*7))\n") // the shell has the terminal
		sh.shows("shell=42")
		if got := state(pid); !strings.Contains("Tt", got) {
			t.Fatalf("round %d: got state %s of the program; want it stopped", round, got)
		}
		sh.write("fg\n")
		sh.until("the program runs", func() bool { return state(pid) == "R" })
		sh.samples(pid)
	}
	sh.forget()
	sh.write("\x03")
	sh.shows("next: jitinject report")
	sh.write("echo code=$?.\n")
	sh.shows(`code=\d+\.`)
	if got := sh.shown(); !strings.Contains(got, "code=130.") {
		t.Errorf("got no exit code 130:\n%s", got)
	}
	sh.stderr.WriteString(sh.shown())
	s.resolved(w, &ends[0], sh.process)
	s.clean(w, sh.process, before, tmp)
}

// bg: the command goes on without the terminal, and SIGTERM ends it.
func TestRecord_InTheBackground(t *testing.T) {
	t.Parallel()
	testrec.CanRecord(t)
	w := &ways[0]
	s := w.site(t, "", 0)
	sh := newShell(s, "busy")
	sh.write(program + " record -F 499 node hot.js\n")
	pid := sh.ready()
	sh.write("\x1a")
	sh.shows("Stopped")
	sh.write("bg\n")
	sh.until("the program runs", func() bool { return state(pid) == "R" })
	sh.write("kill -TERM %1; wait %1; echo code=$?.\n")
	sh.shows(`code=\d+\.`)
	if got := sh.shown(); !strings.Contains(got, "code=143.") {
		t.Errorf("got no exit code 143:\n%s", got)
	}
	sh.stderr.WriteString(sh.shown())
	s.resolved(w, &ends[0], sh.process)
}

// After Ctrl-C a shell ends its loop, as it does if the command runs alone.
func TestRecord_ShellLoopEnds(t *testing.T) {
	t.Parallel()
	testrec.CanRecord(t)
	w := &ways[0]
	s := w.site(t, "", 0)
	sh := newShell(s, "busy")
	sh.write("for i in 1 2 3; do echo round=$((i*10)); " + program + " record -F 499 node hot.js; done\n")
	sh.ready()
	sh.write("\x03")
	sh.shows("next: jitinject report")
	sh.write("echo code=$?.\n")
	sh.shows(`code=\d+\.`)
	if got := sh.shown(); !strings.Contains(got, "code=130.") || strings.Contains(got, "round=20") {
		t.Errorf("got another round, or no exit code 130:\n%s", got)
	}
}

// Ctrl-C counts before the command has left perf's process group, too.
func TestRecord_EarlyInterrupt(t *testing.T) {
	t.Parallel()
	testrec.CanRecord(t)
	s := newSite(t)
	bin := filepath.Join(filepath.Dir(s.dir), "bin")
	s.must(os.Mkdir(bin, 0o755))
	slow := "#!/bin/sh\ncase \"$*\" in *--exec-in-group*) echo perf starts; sleep 1 ;; esac\nexec " + testrec.Tool(t, "perf") + " \"$@\"\n"
	s.must(os.WriteFile(filepath.Join(bin, "perf"), []byte(slow), 0o755))
	sh := newShell(s, "")
	sh.write("PATH=" + bin + ":$PATH " + program + " record sleep 5\n")
	sh.shows("perf starts")
	sh.write("\x03")
	sh.shows("callers not counted")
	sh.write("echo code=$?.\n")
	sh.shows(`code=\d+\.`)
	if got := sh.shown(); !strings.Contains(got, "code=130.") {
		t.Errorf("got no exit code 130:\n%s", got)
	}
}

// Processes that run already: by -p and -a. They go on, and their dumps stay where they are.
func TestRecord_ProcessesThatRun(t *testing.T) {
	testrec.CanRecord(t)
	for _, options := range []string{"-p PID -d 3", "-p PID", "-a -d 3"} {
		t.Run(strings.ReplaceAll(options, " ", ""), func(t *testing.T) {
			if strings.HasPrefix(options, "-a") && os.Geteuid() != 0 {
				testrec.Skip(t, "this needs root")
			}
			s := ways[0].site(t, "", 0)
			node := s.start("busy", false, "node", "--perf-prof", "hot.js")
			pid := node.ready()
			dump := s.path(fmt.Sprintf("jit-%d.dump", pid))
			before := s.list()
			argv := append([]string{program, "record", "-F", "499"}, strings.Fields(strings.ReplaceAll(options, "PID", strconv.Itoa(pid)))...)
			p := s.start("", true, argv...)
			if !strings.Contains(options, "-d") { // until Ctrl-C
				p.until("perf.data is there", func() bool { st, err := os.Stat(s.path("perf.data")); return err == nil && st.Size() > 0 })
				time.Sleep(3 * time.Second)
				p.tty.Write([]byte{3})
			}
			if code := p.wait(); code != 0 && code != 130 {
				t.Errorf("exit code %d\n%s", code, p.stderr.String())
			}
			if got := state(pid); got != "R" && got != "S" {
				t.Errorf("got state %q of the process; want it to go on", got)
			}
			sum := s.summary()
			for _, d := range sum.Dumps {
				if d.PID != pid {
					continue
				}
				if n := d.Samples; n.InJittedCode < least || n.Resolved*100 < n.InJittedCode*98 {
					t.Errorf("%d of %d samples are resolved; want 98 %%\n%s", n.Resolved, n.InJittedCode, p.stderr.String())
				}
			}
			if !slices.ContainsFunc(sum.Dumps, func(d dumpSummary) bool { return d.PID == pid }) {
				t.Errorf("there is no dump of %d: %+v\n%s", pid, sum.Dumps, p.stderr.String())
			}
			if _, err := os.Stat(dump); err != nil {
				t.Error(err)
			}
			if strings.HasPrefix(options, "-a") { // others may record all, too, and make objects beside the dump
				before = slices.DeleteFunc(s.list(), func(name string) bool { return strings.HasPrefix(name, "perf.") })
			}
			s.clean(&ways[0], p, before, leftInTmp())
			if _, err := os.Stat(filepath.Join(s.dir, filepath.Base(dump))); err != nil {
				t.Errorf("after clean: %v", err)
			}
		})
	}
}
