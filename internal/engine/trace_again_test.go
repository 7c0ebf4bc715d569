package engine_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A result has the calls once, however often it is injected.
func TestTrace_InjectedAgain(t *testing.T) {
	w, s := tracedWorld(t)
	w.fillTraced()
	engine.SetTraces(t, s)
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	opts := w.opts
	opts.Input, opts.Output = w.opts.Output, w.path("again.data")
	sum, err := engine.Run(t.Context(), opts)
	if err != nil || !sum.Complete() || len(sum.Notes) != 1 || !strings.Contains(sum.Notes[0], "event mono already") {
		t.Fatalf(`got %s, %v; want no error, nothing missing, 1 note, Notes[0] with "event mono already"`, asJSON(sum), err)
	}
	if !bytes.Equal(read(t, opts.Input), read(t, opts.Output)) {
		t.Error("injecting the result again changes it")
	}

	// The calls of another process are not there, and cannot be put in any more.
	other := *s
	other.pid++
	engine.SetTraces(t, s, &other)
	sum, err = engine.Run(t.Context(), opts)
	if err != nil || len(sum.Notes) != 1 || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].String(), "calls of other processes in event mono already, from an earlier run; those of process 4712 are left out; give all traces at once") {
		t.Fatalf(`got %s, %v; want no error, 1 note, 1 problem, Problems[0] with "calls of other processes in event mono already, from an earlier run; those of process 4712 are left out; give all traces at once"`, asJSON(sum), err)
	}
}

// With --strict, the same: what is there already is no error, and what cannot be put in is
// the error.
func TestTrace_InjectedAgainStrict(t *testing.T) {
	w := newWorld(t)
	w.Sample(tracePID, 1000, 0x1000)
	w.Sample(tracePID, 1200, 0x1000)
	s := &script{pid: tracePID, name: "xray", threads: map[uint32][]calls.Step{tracePID: steps("10+1 100-1")}}
	engine.SetTraces(t, s)
	w.opts.Strict = true
	if _, err := w.run(); err != nil {
		t.Fatal(err)
	}
	opts := w.opts
	opts.Input, opts.Output = w.opts.Output, w.path("again.data")
	if sum, err := engine.Run(t.Context(), opts); err != nil || len(sum.Notes) != 1 {
		t.Errorf("got %s, %v; want no error, 1 note", asJSON(sum), err)
	}
	other := *s
	other.pid++
	engine.SetTraces(t, &other)
	if sum, err := engine.Run(t.Context(), opts); err == nil || !strings.Contains(err.Error(), "from an earlier run") {
		t.Errorf(`got %s, %v; want an error with "from an earlier run"`, asJSON(sum), err)
	}
}

// An event of the recording that has the name already is not that of the calls.
func TestTrace_EventNameTaken(t *testing.T) {
	w, s := tracedWorld(t)
	s.name = "cpu-clock"
	w.fillTraced()
	engine.SetTraces(t, s)
	sum, err := w.run()
	if err != nil || !sum.Complete() || len(sum.Notes) != 0 || sum.Traces[0].Event != "cpu-clock-2" || sum.Traces[0].Calls != 6 {
		t.Fatalf(`got %s, %v; want no error, nothing missing, no notes, Traces[0].Event = "cpu-clock-2", Traces[0].Calls = 6`, asJSON(sum), err)
	}
	for version, perf := range testrec.Perfs(t) {
		if got := strings.ReplaceAll(scripted(t, perf, w.dir, w.opts.Output, "cpu-clock-2"), " cpu-clock-2 ", " mono "); got != wantCalls {
			t.Errorf("perf %s:\n%swant\n%s", version, got, wantCalls)
		}
	}
	opts := w.opts
	opts.Input, opts.Output = w.opts.Output, w.path("again.data")
	if sum, err = engine.Run(t.Context(), opts); err != nil || !sum.Complete() || len(sum.Notes) != 1 {
		t.Errorf("got %s, %v; want no error, nothing missing, 1 note", asJSON(sum), err)
	}
}

// A trace that cannot be put in leaves the rest as it is, and it is said why.
func TestTrace_CannotBePutIn(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*world, *script)
		want string
	}{
		{"clock", func(w *world, _ *script) { w.ClockID = -1 }, "-k mono"},
		{"times", func(w *world, s *script) {
			w.SampleType &^= testrec.Time
		}, "its samples have no times"},
		{"before", func(_ *world, s *script) {
			s.threads = map[uint32][]calls.Step{1: {{Kind: calls.Enter, Time: 5, Function: 1}}}
		}, "came before the recording"},
		{"after", func(_ *world, s *script) { s.threads = map[uint32][]calls.Step{1: steps("5000+1 6000-1")} }, "came after the recording"},
		{"damage", func(_ *world, s *script) {
			s.problems = []calls.Problem{{Offset: 77, Text: "it is broken", Advice: "mend it"}}
		}, "at offset 0x4d: it is broken; mend it"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w, s := tracedWorld(t)
			test.set(w, s)
			w.fillTraced()
			engine.SetTraces(t, s)
			sum, err := w.run()
			if err != nil || sum.Complete() {
				t.Fatalf("got %s, %v; want no error, something missing", asJSON(sum), err)
			}
			said := false
			for _, p := range sum.Problems {
				said = said || strings.Contains(p.String(), test.want)
			}
			if !said {
				t.Errorf("problems %v, nothing of %q", sum.Problems, test.want)
			}
		})
	}
}

// Calls get into a recording from a pipe as into one in a file.
func TestTrace_Stream(t *testing.T) {
	w, s := tracedWorld(t)
	w.fillTraced()
	w.Write(t, w.opts.Input)
	engine.SetTraces(t, s)
	put(t, w.path("in.pipe"), w.stream())
	opts := w.opts
	opts.Input = w.path("in.pipe")
	sum, err := engine.Run(t.Context(), opts)
	if err != nil || len(sum.Traces) != 1 || sum.Traces[0].Calls == 0 {
		t.Fatalf("got %s, %v; want no error, one trace with calls", asJSON(sum), err)
	}
	want := read(t, w.opts.Output)
	opts.Input, opts.Stdin = "-", feed(t, w.stream(), 1000)
	if _, err := engine.Run(t.Context(), opts); err != nil || !bytes.Equal(read(t, w.opts.Output), want) {
		t.Errorf("got %v, or another result than of the file", err)
	}
}

// However deep calls are: what they took counts for the functions that called them, in all
// perfs.
func TestTrace_DeepCalls(t *testing.T) {
	const deep = 400
	var list []calls.Step
	at := uint64(1000)
	step := func(kind calls.Kind, function uint64) {
		at++
		list = append(list, calls.Step{Kind: kind, Time: at, Function: function*64 + 0x700000})
	}
	step(calls.Enter, 1)
	for i := range uint64(deep) { // Two and Three, in turn
		step(calls.Enter, 2+i%2)
	}
	for i := range uint64(deep) {
		step(calls.Exit, 3-i%2)
	}
	step(calls.Exit, 1)
	w, s := tracedWorld(t)
	s.threads = map[uint32][]calls.Step{tracePID: list}
	w.mark(tracePID, 1000, "jit-4711.dump")
	w.Sample(tracePID, 1001, 0x700044)
	w.Round()
	w.Sample(tracePID+9, 3000, 0x1000)
	engine.SetTraces(t, s)
	sum, err := w.run()
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	if c := sum.Traces[0]; c.Calls != deep+1 || c.Cut != deep-126 || c.CutNotes != 0 || c.Inferred != 0 {
		t.Errorf("got %+v; want Calls = %v, Cut = %v, CutNotes = 0, Inferred = 0", c, deep+1, deep-126)
	}
	for version, perf := range testrec.Perfs(t) {
		report := testrec.Run(t, w.dir, perf, "report", "--stdio", "--children", "-g", "none", "-F", "overhead_children,sym", "-i", w.opts.Output)
		_, report, _ = strings.Cut(report, "event 'mono'")
		if !regexp.MustCompile(`100\.00% +\[\.\] One`).MatchString(report) {
			t.Errorf("perf %s: not all is in One:\n%s", version, report)
		}
		out := testrec.Run(t, w.dir, perf, "script", "-F", "event,ip,sym", "-i", w.opts.Output)
		longest := 0
		for _, sample := range strings.Split(out, "\n\n") {
			var names []string
			for line := range strings.Lines(sample) {
				if f := strings.Fields(line); len(f) == 2 {
					names = append(names, f[1])
				}
			}
			longest = max(longest, len(names))
			for i, name := range names[:max(len(names)-1, 0)] {
				if name == names[i+1] || i+1 < len(names)-1 && names[i+1] == "One" {
					t.Fatalf("perf %s: %s is called from %s, %d from the outermost", version, name, names[i+1], len(names)-1-i)
				}
			}
		}
		if longest < 126 || longest > 127 {
			t.Errorf("perf %s: the longest callchain has %d calls", version, longest)
		}
	}
}

// A process that was forked, and began no other program, is called as its parent is.
func TestTrace_ForkedProcess(t *testing.T) {
	w, s := tracedWorld(t)
	s.pid = tracePID + 9
	s.threads = map[uint32][]calls.Step{s.pid: steps("20+1 30-1")}
	w.fillTraced()
	w.Fork(s.pid, tracePID, 1010)
	engine.SetTraces(t, s)
	sum, err := w.run()
	if err != nil || sum.Traces[0].Command == "" || sum.Traces[0].Command != sum.Dumps[0].Command {
		t.Fatalf(`got %s, %v; want no error, Traces[0].Command other than "", Traces[0].Command = Dumps[0].Command`, asJSON(sum), err)
	}
}
