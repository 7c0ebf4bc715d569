package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/faults"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A whole run reads a recording and a file that belong together, both damaged. It never panics,
// takes time and memory by the size of what it reads, leaves nothing behind but its result, and its
// exit code tells the truth about that.

// fuzzKinds are the names of side files, by kind.
var fuzzKinds = []string{"jit-4711.dump", "app.mlpd", "xray-log.calls", "jit-30299.dump", "jit-585.dump", "jit-10085.dump"}

// fuzzLayouts are the ways to make the result.
var fuzzLayouts = [][]string{nil, {"--bundle"}, {"-o"}, {"--sampled", "--cfi"}}

func FuzzProgram(f *testing.F) {
	seed := func(kind byte, dir, recording, side string) {
		rec, err := os.ReadFile(filepath.Join(dir, recording))
		if err != nil {
			f.Fatal(err)
		}
		file, err := os.ReadFile(filepath.Join(dir, side))
		if err != nil {
			f.Fatal(err)
		}
		// A recording that names its dump by an absolute path would find this one in all runs,
		// whatever the side file is, and runs at the same time would share a directory.
		if err := os.RemoveAll(dir); err != nil {
			f.Fatal(err)
		}
		for layout := range fuzzLayouts {
			f.Add(kind, byte(layout), rec, file)
		}
	}
	for kind, make := range []func(testing.TB, string){stageFunctions, stageMono, stageXRay} {
		dir := f.TempDir()
		make(f, dir)
		seed(byte(kind), dir, "perf.data", fuzzKinds[kind])
	}
	dir := f.TempDir()
	stagePipe(f, dir)
	seed(0, dir, "perf.pipe", fuzzKinds[0])
	for i, name := range []string{"python", "lli-hot", "php"} {
		dir := testrec.Unpack(f, name)
		seed(byte(3+i), dir, "perf.data", fuzzKinds[3+i])
	}

	f.Fuzz(func(t *testing.T, kind, layout byte, rec, side []byte) {
		s := newFuzzStage(t, fuzzKinds[int(kind)%len(fuzzKinds)], rec, side)
		how := fuzzLayouts[int(layout)%len(fuzzLayouts)]
		args := []string{"-i", "perf.data", "--no-sync", "--jobs", "2", "--dump-dir", "."}
		piped := slices.Contains(how, "-o")
		if !piped {
			args = append(args, how...)
		}
		if s.side == "xray-log.calls" {
			args = append(args, "--xray", s.side)
		}
		if !s.injected(args, piped, false) || piped {
			return
		}
		s.run("verify", "out.data", s.side)
		s.run("dump", "out.data", s.side)
		s.cleaned()
	})
}

// injected injects. It reports whether there is a result: out.data, unless it goes into a pipe. The run may be done
// again, by another number of workers.
func (s *fuzzStage) injected(args []string, piped, again bool) bool {
	s.t.Helper()
	named := append(slices.Clone(args), "-o", "out.data")
	if piped {
		named = append(args, "-o", "-")
	}
	code, stderr := s.run(named...)
	switch code {
	case exitOK, exitIncomplete:
		if code == exitIncomplete && stderr == "" {
			s.t.Error("got exit code 1 without a message; want one")
		}
		if piped {
			return true
		}
		if wrong := unreadable("perf.data", nil); len(wrong) == 0 {
			if wrong = unreadable("out.data", make(map[string]bool)); len(wrong) > 0 {
				s.t.Errorf("got exit code %d, and the result: %s; want one that is whole", code, strings.Join(wrong, "\n"))
			}
		}
		if again {
			s.run(append(args, "--jobs", "1", "-o", "again.data")...)
			one, _ := os.ReadFile("out.data")
			other, err := os.ReadFile("again.data")
			if err != nil || !bytes.Equal(one, other) {
				s.t.Errorf("run(%v): got another result from one worker (%v); want the same", args, err)
			}
		}
		return true
	case exitFailed, exitUsage:
		if stderr == "" {
			s.t.Errorf("got exit code %d without a message; want one", code)
		}
		if diff := s.before.Diff(s.tree(s.t)); len(diff) > 0 && !piped {
			s.t.Errorf("got exit code %d and changes; want none: %s\n%s", code, strings.Join(diff, "\n"), stderr)
		}
	default:
		s.t.Errorf("got exit code %d; want a documented one: %s", code, stderr)
	}
	return false
}

// cleaned cleans.
func (s *fuzzStage) cleaned() {
	s.t.Helper()
	if code, stderr := s.run("clean", "out.data"); code == exitOK {
		for name := range s.tree(s.t) {
			if base := filepath.Base(name); strings.HasPrefix(base, "jitted-") || strings.HasPrefix(base, ".") {
				s.t.Errorf("got %s after clean; want no objects: %s", name, stderr)
			}
		}
	}
}

// A fuzzStage is a directory with a damaged recording and a damaged side file.
type fuzzStage struct {
	t      *testing.T
	side   string
	size   int  // of all files
	scene  bool // without compressed records, and messages may not move a terminal
	before faults.Tree
}

func newFuzzStage(t *testing.T, side string, rec, content []byte) *fuzzStage {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "fuzz-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Chdir(dir)
	s := &fuzzStage{t: t, side: side, size: len(rec) + len(content)}
	for name, b := range map[string][]byte{"perf.data": rec, side: content} {
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.before = s.tree(t)
	return s
}

func (s *fuzzStage) tree(t *testing.T) faults.Tree {
	t.Helper()
	tree, err := faults.TreeOf(".")
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// Bounds of a run: what it takes for nothing, and for each byte that it reads. A compressed
// recording of n bytes may have 1,000 n bytes of records.
const (
	fuzzTime       = 10 * time.Second
	fuzzMemory     = 256 << 20
	fuzzPerByte    = 4 << 10
	fuzzOutputSize = 64 << 20
)

// run runs the program within the bounds.
func (s *fuzzStage) run(args ...string) (code int, stderr string) {
	s.t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		s.t.Fatal(err)
	}
	defer null.Close()
	out, done := null, make(chan int64, 1)
	if args[len(args)-1] == "-" || args[0] == "verify" || args[0] == "dump" {
		r, w, err := os.Pipe()
		if err != nil {
			s.t.Fatal(err)
		}
		out = w
		go func() {
			n, _ := io.Copy(io.Discard, r)
			r.Close()
			done <- n
		}()
	}
	var errs bytes.Buffer
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	code = run(append([]string{"jitinject"}, args...), null, out, &errs)
	took := time.Since(began)
	runtime.ReadMemStats(&after)
	if out != null {
		out.Close()
		<-done
	}
	if took > fuzzTime {
		s.t.Errorf("run(%v): got %v for %d bytes; want at most %v", args, took, s.size, fuzzTime)
	}
	limit := fuzzMemory + uint64(fuzzPerByte*s.size)
	if s.scene {
		limit = 64<<20 + 32*uint64(s.size) // as docs/security.md says
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > limit {
		s.t.Errorf("run(%v): got %d bytes of memory for %d bytes; want at most %d", args, used, s.size, limit)
	}
	if s.scene && !isTerminalText(errs.String()) {
		s.t.Errorf("run(%v): got %q; want messages without characters that move a terminal", args, errs.String())
	}
	return code, errs.String()
}
