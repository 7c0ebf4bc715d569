package engine

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/perfdata"
)

// What the engine says of itself while it runs: each phase comes to its end, and is told in
// the unit that it says.
func TestProgress_EveryPhaseEnds(t *testing.T) {
	for _, options := range []config.Options{{}, {Bundle: true, Sampled: true}} {
		dir := testrec.Place(t, "erlang")
		input := filepath.Join(dir, "perf.data")
		size := int64(recordsEnd(t, input))
		opts := options
		var p report.Progress
		if s := p.State(); s != (report.ProgressState{}) {
			t.Errorf("before: %+v", s)
		}
		seen := make(map[string]report.ProgressState)
		opts.Input, opts.Output, opts.Progress = input, filepath.Join(dir, "out.data"), &p
		opts.Log = func(level int, line string) {
			what, _, _ := strings.Cut(line, ":")
			seen[what] = p.State()
		}
		sum, err := Run(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		whole := func(what string, phase report.Phase, total int64) {
			t.Helper()
			s, ok := seen[what]
			if !ok || s.Phase != phase || s.Total != total || s.Done != total {
				t.Errorf("for %+v, %s: got %+v, want %d of phase %d", options, what, s, total, phase)
			}
		}
		dump, err := os.Stat(sum.Dumps[0].Path)
		if err != nil {
			t.Fatal(err)
		}
		whole("surveyed", report.PhaseSurvey, size)
		whole("scanned", report.PhaseScan, dump.Size())
		whole("planned", report.PhasePlan, 0) // no longer the phase before
		functions := int64(sum.Dumps[0].Functions - sum.Dumps[0].Unreferenced)
		whole("made", report.PhaseObjects, functions)
		whole("rewritten", report.PhaseWrite, size)
	}
}

// Where traces go into the result, they are part of what is to be done: mostly the larger one.
func TestProgress_Traces(t *testing.T) {
	for name, trace := range map[string]string{"mono-calls": "app.mlpd", "xray-tsc": "xray-log.calls"} {
		dir := testrec.Place(t, name)
		st, err := os.Stat(filepath.Join(dir, trace))
		if err != nil {
			t.Fatal(err)
		}
		var p report.Progress
		var end report.ProgressState
		opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), DumpDirs: []string{dir}, Progress: &p}
		if name == "xray-tsc" {
			opts.SideFiles = []config.SideFile{{Kind: formats.XRay, Path: filepath.Join(dir, trace)}}
		}
		opts.Log = func(_ int, line string) {
			if what, _, _ := strings.Cut(line, ":"); what == "rewritten" {
				end = p.State()
			}
		}
		sum, err := Run(t.Context(), opts)
		if err != nil || len(sum.Traces) != 1 {
			t.Fatalf("got %v, %+v; want no error, 1 trace", err, sum)
		}
		of := end.Total - int64(recordsEnd(t, opts.Input))
		if end.Phase != report.PhaseWrite || end.Done != end.Total || of < st.Size()/2 || of > st.Size() {
			t.Errorf("%s: %+v; %d bytes of a trace of %d", name, end, of, st.Size())
		}
	}
}

// While a pipe is copied, its end is unknown. A cancelled copy leaves no file.
func TestProgress_CancelledCopy(t *testing.T) {
	stream, err := os.ReadFile(filepath.Join(testrec.Unpack(t, "node-pipe"), "perf.pipe.data"))
	if err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	dir, part := t.TempDir(), stream[:50_000]
	ctx, cancel := context.WithCancel(t.Context())
	var p report.Progress
	go func() {
		w.Write(part)
		for p.State().Done < int64(len(part)) {
			time.Sleep(time.Millisecond)
		}
		cancel()
	}()
	if _, err = Run(ctx, config.Options{Input: "-", Stdin: r, Output: filepath.Join(dir, "out.data"), Progress: &p}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v; want that it was cancelled", err)
	}
	if s, want := p.State(), (report.ProgressState{Phase: report.PhaseStream, Done: int64(len(part))}); s != want {
		t.Errorf("got %+v; want %+v", s, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("got %v, %v; want no file", left, err)
	}
}

// Telling costs no memory, whether anyone wants to know or not.
func TestProgress_NoAllocation(t *testing.T) {
	block := &perfdata.Block{Data: make([]byte, 100)}
	for _, p := range []*report.Progress{nil, new(report.Progress)} {
		walk := recording.Pass{Progress: p}
		if n := testing.AllocsPerRun(100, func() {
			p.Begin(report.PhaseObjects, 10)
			p.Set(5)
			p.Add(1)
			p.ReadBeside(1, 2)
			walk.Read(block)
		}); n != 0 {
			t.Errorf("got %v allocations; want none", n)
		}
	}
}

func TestPhase_EveryName(t *testing.T) {
	seen := make(map[string]bool)
	for p := report.PhaseOpen; p <= report.PhaseUndo; p++ {
		if name := p.String(); name == "working" || seen[name] {
			t.Errorf("%d is called %q", p, name)
		}
		seen[p.String()] = true
	}
}

// recordsEnd is where the records of a file end.
func recordsEnd(t *testing.T, path string) uint64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	file, err := perfdata.Open(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	return file.Header.Data.Offset + file.Header.Data.Size
}
