package hostile

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// An end at any moment.

// A killing stage has an output and the one before it, and a recording that would
// take their places.
type killing struct {
	*stage
	old, out, next string        // contents
	takes          time.Duration // a run
	rnd            *rand.Rand
}

func newKilling(t *testing.T, seed uint64, args ...string) *killing {
	k := &killing{stage: newStage(t, 200), rnd: rand.New(rand.NewPCG(seed, 1))}
	start := time.Now()
	k.inject(args...).wants(allInjected)
	k.takes = time.Since(start)
	k.next = k.read("out.data")
	k.out, k.old = "output of an earlier run", "output of the run before"
	return k
}

// times is how often something is tried, and more where all is.
func times(n int) int {
	if os.Getenv("JITINJECT_ALL") != "" {
		return 5 * n
	}
	return n
}

// reset makes everything as it was before the run.
func (k *killing) reset() {
	k.must(os.RemoveAll(k.path("objects")))
	for _, pattern := range []string{"out.data*", ".*.partial"} {
		names, _ := filepath.Glob(k.path(pattern))
		for _, name := range names {
			k.must(os.Remove(name))
		}
	}
	k.put("out.data", k.out)
	k.put("out.data.old", k.old)
}

// kill runs and sends a signal at some moment. It returns the exit code, -1 if the
// signal ended the run.
func (k *killing) kill(sig syscall.Signal, args ...string) (code int, stderr string) {
	k.t.Helper()
	cmd := exec.Command(program, append([]string{"-i", "perf.data", "-o", "out.data"}, args...)...)
	cmd.Dir = k.dir
	var out bytes.Buffer
	cmd.Stderr = &out
	k.must(cmd.Start())
	kill := time.AfterFunc(within, func() { cmd.Process.Kill() })
	ended, sent := make(chan bool), make(chan bool)
	soon, wait := k.rnd.IntN(2) == 0, k.takes
	if soon { // every other one comes when it is known that something is half done
		wait /= 4
	}
	wait = time.Duration(k.rnd.Int64N(int64(wait)))
	go func() {
		defer close(sent)
		for over := false; soon && !over && !k.exists(".out.data.0.partial"); {
			select {
			case <-ended:
				over = true
			case <-time.After(50 * time.Microsecond):
			}
		}
		select {
		case <-ended:
		case <-time.After(wait):
			cmd.Process.Signal(sig)
		}
	}()
	err := cmd.Wait()
	close(ended)
	<-sent
	if !kill.Stop() {
		k.t.Fatalf("it does not end after signal %v", sig)
	}
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		k.t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String()
}

func (k *killing) exists(name string) bool {
	_, err := os.Lstat(k.path(name))
	return err == nil
}

// intact wants the outputs to be those of before or those of after.
func (k *killing) intact(what string) (written bool) {
	k.t.Helper()
	out, old := k.read("out.data"), k.read("out.data.old")
	switch {
	case out == k.out && old == k.old:
		return false
	case out == k.out && old == k.out: // on the way
		return false
	case out == k.next && old == k.out:
		return true
	case out == k.next && old == k.old && k.exists(".out.data.old.e0.partial") && k.read(".out.data.old.e0.partial") == k.out:
		return true // the next run makes it out.data.old
	}
	k.t.Errorf("%s: out.data is %.60q, out.data.old is %.60q", what, out, old)
	return false
}

// partial matches the names of what is not complete.
var partial = regexp.MustCompile(`^\..+\.[0-9a-f]+\.partial$`)

// leftovers returns the names of partial files.
func (k *killing) leftovers() (names []string) {
	k.t.Helper()
	for _, dir := range []string{".", "objects"} {
		entries, err := os.ReadDir(k.path(dir))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			k.t.Fatal(err)
		}
		for _, e := range entries {
			switch name := e.Name(); {
			case partial.MatchString(name):
				names = append(names, name)
			case strings.HasPrefix(name, "."):
				k.t.Errorf("%q is left, and nothing says what it is", name)
			}
		}
	}
	return names
}

func TestSignals_Interrupted(t *testing.T) {
	for i, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		layouts := [][]string{{"--objects", "objects"}, {"--objects", "objects", "--bundle"}}
		k := newKilling(t, uint64(i), layouts[0]...)
		stopped, start := 0, time.Now()
		for i := 0; i < times(8) || stopped == 0 && time.Since(start) < patience; i++ {
			k.reset()
			code, stderr := k.kill(sig, layouts[0]...)
			written := k.intact(sig.String())
			switch {
			case code == allInjected && written:
			case code == -1 && !written: // before it could say that it wants to know of signals
			case code == notWritten && !written && strings.Contains(stderr, "interrupted; nothing was written"):
				stopped++
				if _, err := os.Lstat(k.path("objects")); err == nil {
					t.Errorf("for %v: got objects after an interrupt; want none", sig)
				}
			default:
				t.Errorf("for %v: got exit code %d, written: %v; want all written, or an interrupted run and nothing written\n%s", sig, code, written, stderr)
			}
			if names := k.leftovers(); len(names) > 0 {
				t.Errorf("for %v: got leftovers %v; want none", sig, names)
			}
		}
		if stopped == 0 {
			t.Errorf("for %v: no run was interrupted within %v; want one", sig, patience)
		}
	}
}

// clean takes away what is left of objects and of the result, but nothing that is being written, that is
// another user's, or that only has such a name.
func TestCleaning_LeftoversOfKilledRun(t *testing.T) {
	s := newStage(t, 3)
	s.inject().wants(allInjected)
	victim := s.victim()
	for _, name := range []string{".jitbundle-4711-0.0.partial", ".jitted-4711-1.so.3.partial", ".jitted-4711-2.so.0.partial", ".jitted-4711-0.so.0.partial"} {
		s.put(name, precious)
	}
	s.link(victim, ".jitted-4711-1.so.4.partial")
	s.put(".out.data.0.partial", "the beginning of a result")
	s.put(".out.data.old.0.partial", precious) // is another output's
	s.put(".jitinject.0.partial", "")
	s.put(".jitted-4711-1.so.partially", precious)
	stays := []string{".jitted-4711-1.so.4.partial", ".out.data.old.0.partial", ".jitted-4711-1.so.partially", ".jitted-4711-2.so.0.partial"}
	locked, err := os.Open(s.path(".jitted-4711-2.so.0.partial"))
	s.must(err)
	defer locked.Close()
	s.must(syscall.Flock(int(locked.Fd()), syscall.LOCK_EX))
	if os.Geteuid() == 0 {
		s.chown(nobody, ".jitted-4711-0.so.0.partial")
		stays = append(stays, ".jitted-4711-0.so.0.partial")
	}
	before := s.list()
	s.run("clean", "-n", "out.data").wants(allInjected)
	s.untouched(before)
	s.run("clean", "out.data").wants(allInjected, "3 of 3 objects removed")
	s.spared()
	after := s.list()
	for _, name := range stays {
		if _, ok := after[name]; !ok {
			t.Errorf("%s is gone", name)
		}
	}
	for name := range after {
		if partial.MatchString(name) && !slices.Contains(stays, name) {
			t.Errorf("%s is left", name)
		}
	}
}

// What is left of a run that is killed has a name that says so; the next run works, and
// takes it away.
func TestSignals_Killed(t *testing.T) {
	for i, args := range [][]string{{"--objects", "objects"}, {"--objects", "objects", "--bundle"}} {
		k := newKilling(t, uint64(i)+10, args...)
		stopped, left, start := 0, 0, time.Now()
		for i := 0; i < times(14) || (stopped == 0 || left == 0) && time.Since(start) < patience; i++ {
			k.reset()
			code, _ := k.kill(syscall.SIGKILL, args...)
			if written := k.intact("SIGKILL"); code == allInjected && !written {
				t.Error("exit code 0, and nothing is written")
			}
			if code == -1 {
				stopped++
			}
			left += len(k.leftovers())
			was := k.read("out.data")
			k.inject(args...).wants(allInjected)
			if k.read("out.data") != k.next || k.read("out.data.old") != was {
				t.Error("the next run did not do its work")
			}
			if names := k.leftovers(); len(names) > 0 {
				t.Errorf("the next run leaves %v", names)
			}
		}
		k.shows("out.data", 200)
		if stopped == 0 || left == 0 {
			t.Errorf("got %d killed runs that left %d files within %v; want some of both", stopped, left, patience)
		}
	}
}
