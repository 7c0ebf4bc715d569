package hostile

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// endsFor are the numbers of signals that end a run with a message. SIGKILL and the first real-time signal, which
// Go leaves to the C library, end it without. All others do not end it.
var endsFor = []syscall.Signal{
	syscall.SIGHUP, syscall.SIGINT, syscall.SIGQUIT, syscall.SIGILL, syscall.SIGTRAP, syscall.SIGABRT, syscall.SIGBUS, syscall.SIGFPE,
	syscall.SIGSEGV, syscall.SIGPIPE, syscall.SIGTERM, syscall.SIGSTKFLT, syscall.SIGXCPU, syscall.SIGSYS,
}

const firstRealTime, lastSignal = syscall.Signal(34), syscall.Signal(64) // 32 and 33 are the C library's own

// Each signal comes while a run has made objects and writes. The run goes on, or ends with a message and leaves no
// file, or the next run and clean remove its files. On 64-bit ARM, qemu runs the program.
func TestSignals_Every(t *testing.T) {
	if testing.Short() {
		testrec.Skip(t, "-short sends few signals")
	}
	t.Run("own", func(t *testing.T) { everySignal(t, program) })
	t.Run("arm64", func(t *testing.T) {
		if os.Getenv("JITINJECT_ALL") == "" {
			testrec.Skip(t, "make interop builds for arm64")
		}
		emulator, arm := testrec.Tool(t, "qemu-aarch64"), filepath.Join(t.TempDir(), "jitinject")
		cmd := exec.Command(cmp.Or(os.Getenv("GO"), "go"), "build", "-o", arm, "./cmd/jitinject")
		cmd.Dir, cmd.Env = filepath.Join("..", ".."), append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("got %v; want a build\n%s", err, out)
		}
		// Go programs hang under qemu-user since Go preempts by signals [go.dev/issue/36981, 70329].
		everySignal(t, arm, emulator, "-E", "GODEBUG=asyncpreemptoff=1")
	})
}

func everySignal(t *testing.T, build string, via ...string) {
	t.Helper()
	for sig := syscall.Signal(1); sig <= lastSignal; sig++ {
		emulated := len(via) > 0 && sig > 31 // qemu has real-time signals of its own
		few := os.Getenv("JITINJECT_ALL") == "" && sig%4 != 1 && sig != firstRealTime && !slices.Contains(endsFor, sig)
		if sig > 31 && sig < firstRealTime || emulated || few {
			continue
		}
		s := newStage(t, 1200)
		before := s.list()
		r := s.startSlowAs(build, nil, via...)
		s.must(r.cmd.Process.Signal(sig))
		ended := make(chan *result, 1)
		if !slices.Contains(endsFor, sig) && sig != syscall.SIGKILL && sig != firstRealTime {
			time.Sleep(50 * time.Millisecond)
			if err := r.cmd.Process.Signal(syscall.SIGCONT); err != nil && !errors.Is(err, os.ErrProcessDone) {
				t.Fatal(err)
			}
			ended <- r.end()
		} else {
			ended <- r.wait()
		}
		switch result := <-ended; {
		case slices.Contains(endsFor, sig):
			if result.wants(notWritten, "interrupted; what was written is not complete"); strings.Contains(result.stderr, "goroutine ") {
				t.Errorf("signal %d (%v): got %q; want a message", sig, sig, result.stderr)
			}
		case sig == syscall.SIGKILL || sig == firstRealTime:
			result.wants(-1)
			s.inject("--objects", "objects").wants(allInjected)
			s.wantsNoPartial()
			s.run("clean", "-q", "out.data").wants(allInjected)
			s.must(os.Remove(s.path("out.data")))
		default:
			result.wants(allInjected)
			s.inject("--objects", "objects").wants(allInjected) // a result in a pipe keeps its objects
			s.run("clean", "-q", "out.data").wants(allInjected)
			s.must(os.Remove(s.path("out.data")))
		}
		s.must(os.Remove(s.path("slow")))
		for name := range s.list() {
			if _, ok := before[name]; !ok && name != "objects" {
				t.Errorf("signal %d (%v): got %s after it; want nothing left", sig, sig, name)
			}
		}
	}
}
