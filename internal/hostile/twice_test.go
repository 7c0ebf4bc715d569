package hostile

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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

func TestAtOnce(t *testing.T) {
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
					t.Errorf("%v: %s is left", args, name)
				}
			}
			s.must(os.RemoveAll(s.path("objects")))
		}
	}
}

// A run that is interrupted takes back what it has made, but not what another one
// counts on.
func TestAtOnceInterrupted(t *testing.T) {
	for _, args := range [][]string{{}, {"--bundle"}} {
		s := newStage(t, 300)
		start := time.Now()
		s.inject(append(args, "--objects", "objects")...).wants(allInjected)
		takes := time.Since(start)
		interrupted := 0
		for i := 0; i < 10 || interrupted == 0 && i < 60; i++ {
			s.must(os.RemoveAll(s.path("objects")))
			results := s.atOnce([]string{"first.data", "second.data"}, syscall.SIGINT, takes*time.Duration(i%12+1)/12, args...)
			if code := results[0].code; code != allInjected && code != -1 { // -1: before it could say that it wants to know of signals
				results[0].wants(notWritten, "interrupted")
				interrupted++
			}
			results[1].wants(allInjected)
			s.shows("second.data", 300)
			if t.Failed() {
				t.Fatalf("%v, interrupted at %d/12 of its time", args, i%12+1)
			}
		}
		if interrupted == 0 {
			t.Errorf("%v: no run was interrupted", args)
		}
	}
}

// Runs with different options make different objects, and the last one has them.
func TestAtOnceDifferently(t *testing.T) {
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
	if names := strings.Join(s.objectNames("2.data"), " "); strings.Contains(names, "jitted-") {
		t.Error("bundles and objects share names")
	}
}
