package hostile

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Several runs at once over the same dump.

// start starts runs that write to the given outputs, waits for them, and returns what
// they say. The first gets a signal after a while, if there is one.
func (s *stage) atOnce(outputs []string, sig os.Signal, after time.Duration, args ...string) []*result {
	s.t.Helper()
	results := make([]*result, len(outputs))
	var wg sync.WaitGroup
	for i, output := range outputs {
		cmd := exec.Command(program, append([]string{"-i", "perf.data", "-o", output, "--objects", "objects"}, args...)...)
		cmd.Dir = s.dir
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		s.must(cmd.Start())
		if sig != nil && i == 0 {
			time.AfterFunc(after, func() { cmd.Process.Signal(sig) })
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			cmd.Wait()
			results[i] = &result{s.t, output, cmd.ProcessState.ExitCode(), "", stderr.String()}
		}()
	}
	wg.Wait()
	return results
}

func TestAtOnce_SameDirectory(t *testing.T) {
	for _, args := range [][]string{{}, {"--bundle"}, {"--sampled"}} {
		s := newStage(t, 300)
		for range 2 {
			for _, r := range s.atOnce([]string{"out.data", "out.data", "other.data"}, nil, 0, args...) {
				r.wants(allInjected)
			}
			s.shows("out.data", 300)
			s.shows("out.data.old", 300)
			s.shows("other.data", 300)
			for name := range s.list() {
				if partial.MatchString(filepath.Base(name)) {
					t.Errorf("for %v: got leftover %s; want none", args, name)
				}
			}
			s.must(os.RemoveAll(s.path("objects")))
		}
	}
}

// A run that is interrupted takes back what it has made, but not what another one
// counts on.
func TestAtOnce_OneInterrupted(t *testing.T) {
	for _, args := range [][]string{{}, {"--bundle"}} {
		s := newStage(t, 300)
		start := time.Now()
		s.inject(append(args, "--objects", "objects")...).wants(allInjected)
		takes := time.Since(start)
		interrupted := 0
		for i := 0; i < 10 || interrupted == 0 && time.Since(start) < patience; i++ {
			s.must(os.RemoveAll(s.path("objects")))
			results := s.atOnce([]string{"first.data", "second.data"}, syscall.SIGINT, takes*time.Duration(i%12+1)/12>>(i/12%5), args...)
			switch results[0].code {
			case allInjected, -1: // -1: before it could say that it wants to know of signals
			case incomplete: // its result was in its place already
				results[0].wants(incomplete, "interrupted; the result is complete")
			default:
				results[0].wants(notWritten, "interrupted")
				interrupted++
			}
			results[1].wants(allInjected)
			s.shows("second.data", 300)
			if t.Failed() {
				t.Fatalf("for %v: failed at attempt %d", args, i)
			}
		}
		if interrupted == 0 {
			t.Errorf("for %v: no run was interrupted within %v; want one", args, patience)
		}
	}
}

// Runs over one directory that are all interrupted leave nothing, or say so.
func TestAtOnce_AllInterrupted(t *testing.T) {
	for _, args := range [][]string{{}, {"--bundle"}} {
		s := newStage(t, 3000)
		interrupted := 0
		for i := range 6 {
			var wg sync.WaitGroup
			results := make([]*result, 2)
			for j := range results {
				cmd := exec.Command(program, append([]string{"-i", "perf.data", "-o", fmt.Sprintf("%d.data", j), "--objects", "objects"}, args...)...)
				cmd.Dir = s.dir
				var stderr bytes.Buffer
				cmd.Stderr = &stderr
				s.must(cmd.Start())
				time.AfterFunc(time.Duration(5+15*i)*time.Millisecond, func() { cmd.Process.Signal(syscall.SIGINT) })
				wg.Add(1)
				go func() {
					defer wg.Done()
					cmd.Wait()
					results[j] = &result{t, fmt.Sprint(j), cmd.ProcessState.ExitCode(), "", stderr.String()}
				}()
			}
			wg.Wait()
			if results[0].code == notWritten && results[1].code == notWritten {
				interrupted++
				// A run waits for the other one for a moment only, and may then
				// name the files that stay.
				said := strings.Contains(results[0].stderr+results[1].stderr, "another run uses them")
				if n := s.countObjects(); n > 0 && !said {
					t.Errorf("for %v: got %d files after both were interrupted; want none\n%s%s", args, n, results[0].stderr, results[1].stderr)
				}
			}
			s.must(os.RemoveAll(s.path("objects")))
		}
		t.Logf("%v: %d of 6 times both were interrupted", args, interrupted)
	}
}

// Who cannot wait for the others says what stays.
func TestAtOnce_InterruptedBesideWaiting(t *testing.T) {
	s := newStage(t, 1200)
	first := s.startSlow()
	second := exec.Command(program, "-q", "-i", "perf.data", "-o", "slow", "--objects", "objects")
	second.Dir = s.dir
	s.must(second.Start())
	time.Sleep(time.Second)
	first.cmd.Process.Signal(syscall.SIGINT)
	first.cmd.Wait()
	if !strings.Contains(first.stderr.String(), "the 1200 objects that were made stay in ") {
		t.Errorf("it says %s", first.stderr.String())
	}
	if n := s.countObjects(); n < 1200 {
		t.Errorf("%d objects are left", n)
	}
	go io.Copy(io.Discard, first.pipe)
	s.must(second.Wait())
	first.pipe.Close()
}

// Another user can lock the directory, but not what runs lock.
func TestAtOnce_LockOfOther(t *testing.T) {
	root(t)
	s := newStage(t, 1200)
	s.must(os.Mkdir(s.path("objects"), 0o777))
	s.must(os.Chmod(s.path("objects"), 0o777|os.ModeSticky))
	planted := filepath.Join("objects", ".jitinject-0.lock.0.partial")
	s.put(planted, precious)
	s.chown(nobody, planted)
	for _, name := range []string{"objects", planted} {
		f, err := os.Open(s.path(name))
		s.must(err)
		defer f.Close()
		s.must(syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
	}
	r := s.startSlow()
	r.cmd.Process.Signal(syscall.SIGINT)
	r.wait().wants(notWritten, "interrupted; what was written is not complete")
	if n := s.countObjects(); n != 1 || s.read(planted) != precious {
		t.Errorf("%d files are left", n)
	}
}

// Runs with different options make different objects, and the last one has them.
func TestAtOnce_DifferentOptions(t *testing.T) {
	s := newStage(t, 300)
	var wg sync.WaitGroup
	for i, args := range [][]string{{"--dwarf", "4"}, {"--dwarf", "5"}, {"--bundle"}} {
		wg.Add(1)
		go func() {
			defer wg.Done()
			s.run(append([]string{"-i", "perf.data", "-o", fmt.Sprintf("%d.data", i)}, args...)...).wants(allInjected)
		}()
	}
	wg.Wait()
	s.shows("2.data", 300)
	s.inject("--dwarf", "4").wants(allInjected)
	s.shows("out.data", 300)
	single := s.objectNames("0.data")
	for _, name := range s.objectNames("2.data") {
		if slices.Contains(single, name) {
			t.Errorf("%s is a bundle and an object of one function", name)
		}
	}
}
