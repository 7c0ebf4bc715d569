package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/dumptail"
	"github.com/jitinject/jitinject/internal/quote"
)

// A Session is one recording.
type Session struct {
	Perf     string   // the program perf
	Self     string   // the program jitinject
	Options  []string // of perf record, without -o
	Command  []string // nil to record processes that run already
	Others   bool     // Options name processes besides the command's
	Duration time.Duration
	Place    Place
	Stderr   io.Writer // for messages while the command runs

	env     Environment
	link    string // a link to Place.Files, "" for none
	perf    int    // pid
	seen    map[int]*watched
	stops   *exitStops
	before  identity // of an earlier recording
	began   time.Time
	command int // pid, 0 if it is unknown
	polls   int
	pending []pendingSignal
}

// A pendingSignal is one that jitinject got, and that the command may not have got.
type pendingSignal struct {
	signal unix.Signal
	at     time.Time
}

// A watched process is a descendant of the command, or the command.
type watched struct {
	poll  int       // the latest one that saw it
	next  time.Time // when to look for dumps
	after time.Duration
	dump  string   // name of its program, once it has a dump
	paths []string // of its dumps
}

// An Ending says how perf record ended. It ends as the command did.
type Ending struct {
	Code     int         // exit code
	Signal   unix.Signal // or the signal that ended it
	Recorded bool        // there is a recording
	Ended    bool        // the recording was ended as it should be: by Session.Duration, or without a command by a signal
}

// Failure says that a command ended by itself with an exit code other than 0, or else is "".
func (e Ending) Failure(command []string) string {
	if len(command) == 0 || e.Code == 0 || e.Signal != 0 || e.Ended {
		return ""
	}
	return fmt.Sprintf("%s ended with exit code %d", quote.Printable(filepath.Base(command[0])), e.Code)
}

const (
	fastPoll  = 20 * time.Millisecond  // while new processes appear
	slowPoll  = 100 * time.Millisecond // else
	calm      = time.Second            // without new processes
	firstLook = fastPoll               // at a process, for a dump; then at twice the time
	lastLook  = time.Second
	grace     = 100 * time.Millisecond // for a signal to a group to have its effect
	lateExits = 300 * time.Millisecond // for processes that the command's end ends
	reminder  = 5 * time.Second
	clockTick = 10 * time.Millisecond // the resolution of times of files, at most
)

// Begin makes the directory for files, and the environment. The caller calls Run, or Abandon.
func (s *Session) Begin(settings Settings) error {
	if err := s.Place.makeFiles(); err != nil {
		return err
	}
	s.before, _ = identify(s.Place.Recording)
	dir, err := filepath.Abs(s.Place.Files)
	if err == nil && !isPlain(dir) {
		dir, err = s.makeLink(dir)
	}
	if err != nil {
		s.Place.abandon(s.before)
		return err
	}
	settings.Dir = dir
	s.env = os.Environ()
	s.env.SwitchOn(&settings)
	return nil
}

// isPlain reports whether no variable needs quotes around a path.
func isPlain(path string) bool {
	return strings.Trim(path, "/.-_+~@ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// makeLink makes a link to a directory whose path has characters that variables would have to quote.
func (s *Session) makeLink(dir string) (string, error) {
	temp := os.TempDir()
	if !isPlain(temp) {
		temp = "/tmp"
	}
	parent, err := os.MkdirTemp(temp, "jitinject-")
	if err != nil {
		return "", err
	}
	s.link = filepath.Join(parent, "files")
	return s.link, os.Symlink(dir, s.link)
}

// Run runs perf record until it ends. A failure to start it is an error; its own failures are in the
// Ending, and perf has printed them.
func (s *Session) Run() (Ending, error) {
	environment, err := s.env.file()
	if err != nil {
		return Ending{}, errors.Join(err, s.Abandon())
	}
	defer environment.Close()
	args := append([]string{"record"}, s.Options...)
	args = append(args, "-o", s.Place.Recording)
	if s.Command != nil {
		args = append(args, "--")
		args = append(args, workload(s.Self, ownGroup(), environment.Fd(), s.Command)...)
	}
	cmd := exec.Command(s.Perf, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &unix.SysProcAttr{Setpgid: true}
	signals := make(chan os.Signal, 16)
	for _, sig := range []os.Signal{unix.SIGINT, unix.SIGQUIT, unix.SIGTERM, unix.SIGHUP, unix.SIGUSR1, unix.SIGUSR2, unix.SIGTSTP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	defer signal.Stop(signals)
	s.began = time.Now().Truncate(clockTick)
	if err := cmd.Start(); err != nil {
		return Ending{}, errors.Join(err, s.Abandon())
	}
	s.perf, s.seen, s.stops = cmd.Process.Pid, make(map[int]*watched), newExitStops()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timed, err := s.await(ended, signals)
	s.stops.wait(lateExits)
	ending := Ending{Code: cmd.ProcessState.ExitCode()}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		ending.Code, ending.Signal = 128+int(status.Signal()), status.Signal()
	}
	// java handles SIGTERM, and exits with the code of a process that SIGTERM ends.
	ending.Ended = s.Command == nil && ending.Signal == unix.SIGINT || timed && ending.Code == 128+int(unix.SIGTERM)
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return ending, err
	}
	after, err := identify(s.Place.Recording)
	ending.Recorded = err == nil && after != s.before && after.Size > 0
	if !ending.Recorded {
		return ending, s.Abandon()
	}
	return ending, nil
}

// Abandon removes what Begin made, and what perf left without a recording.
func (s *Session) Abandon() error {
	s.removeLink()
	return s.Place.abandon(s.before)
}

func (s *Session) removeLink() {
	if s.link != "" {
		os.Remove(s.link)
		os.Remove(filepath.Dir(s.link))
		s.link = ""
	}
}

// await watches the command's processes, and passes signals on, until perf ends.
func (s *Session) await(ended <-chan error, signals <-chan os.Signal) (timed bool, err error) {
	processes := newTree(s.perf)
	var deadline, remind <-chan time.Time
	if s.Duration > 0 {
		deadline = time.After(s.Duration)
	}
	poll := time.NewTimer(0)
	changed := time.Now()
	for {
		select {
		case err := <-ended:
			return timed, err
		case sig := <-signals:
			s.signaled(sig.(unix.Signal))
		case <-deadline:
			timed = true
			if s.Command == nil {
				unix.Kill(s.perf, unix.SIGINT)
			}
			poll.Reset(0)
		case <-remind:
			fmt.Fprintf(s.Stderr, "jitinject: %s has not ended after SIGTERM; to end it: kill -KILL %d\n", quote.Printable(s.Command[0]), s.command)
		case <-poll.C:
			if s.watch(processes.refresh()) {
				changed = time.Now()
			}
			s.passOn()
			if timed && s.command != 0 && remind == nil { // it may not have been known at the deadline
				unix.Kill(s.command, unix.SIGTERM)
				remind = time.After(reminder)
			}
			poll.Reset(fastPoll)
			if time.Since(changed) > calm {
				poll.Reset(slowPoll)
			}
		}
	}
}

// watch looks for dumps of the command's processes, and traces those that have one. It reports whether
// a process is new.
func (s *Session) watch(pids []int) (isNew bool) {
	now := time.Now()
	s.polls++
	for _, pid := range pids {
		w := s.seen[pid]
		if w == nil || w.poll < s.polls-1 { // or another process has the pid by now
			w, isNew = &watched{next: now, after: firstLook}, true
			s.seen[pid] = w
		}
		w.poll = s.polls
		if s.command == 0 && parentOf(pid) == s.perf && groupOf(pid) != s.perf { // it has left perf's group
			s.command = pid
		}
		if w.dump != "" || now.Before(w.next) {
			continue
		}
		w.next, w.after = now.Add(w.after), min(2*w.after, lastLook)
		if dumps, err := dumptail.Dumps(uint32(pid)); err == nil && len(dumps) > 0 {
			w.dump = programOf(pid)
			for i := range dumps {
				w.paths = append(w.paths, dumps[i].Path)
			}
			s.stops.hold(pid)
		}
	}
	return isNew
}

// NeedCopies returns programs that wrote a dump and whose stacks need copies, with the value of
// --call-graph for all of them.
func (s *Session) NeedCopies() (programs []string, stacks string) {
	for _, w := range s.seen {
		if need := stacksOf(w.dump); need != "" {
			if !slices.Contains(programs, w.dump) {
				programs = append(programs, w.dump)
			}
			if stacks != pythonStacks {
				stacks = need
			}
		}
	}
	slices.Sort(programs)
	return programs, stacks
}

// signaled handles a signal to jitinject. The terminal sends its signals to the command, too.
func (s *Session) signaled(sig unix.Signal) {
	switch {
	case s.Command == nil && (sig == unix.SIGUSR1 || sig == unix.SIGUSR2):
	case s.Command == nil && sig != unix.SIGTSTP:
		unix.Kill(s.perf, unix.SIGINT) // perf then completes the recording
	case (sig == unix.SIGINT || sig == unix.SIGQUIT) && s.command != 0 && isForeground(): // before, it is in perf's group
	default:
		s.pending = append(s.pending, pendingSignal{sig, time.Now()})
	}
}

// passOn gives the command the signals that jitinject got, unless the sender sent them to both. If the
// command is not traced, that is unknown. It gets a signal then if it still runs after some time.
func (s *Session) passOn() {
	now := time.Now()
	s.pending = slices.DeleteFunc(s.pending, func(p pendingSignal) bool {
		switch {
		case now.Sub(p.at) < grace, s.command == 0 && p.signal != unix.SIGTSTP:
			return false
		case p.signal == unix.SIGTSTP: // traced processes stop while jitinject runs, which passes the signal on
			unix.Kill(os.Getpid(), unix.SIGSTOP)
		case s.command != 0 && IsRunning(s.command) && !s.stops.got(s.command, p.signal, p.at.Add(-grace)):
			to := s.command
			if ownGroup() == 0 { // the command has a group of its own
				to = -to
			}
			unix.Kill(to, p.signal)
		}
		return true
	})
}

// isForeground reports whether a terminal sends its signals to jitinject's process group, and to the
// command. The group is 0 in a pid namespace whose first process has not made a group; nobody can join
// that.
func isForeground() bool {
	fd, err := unix.Open("/dev/tty", unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NOCTTY, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	group, err := unix.IoctlGetInt(fd, unix.TIOCGPGRP)
	return err == nil && group != 0 && group == ownGroup()
}
