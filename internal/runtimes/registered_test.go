package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/truth"
)

// In recordings of runtimes that not every machine has, every function has its name, and every tool
// shows its line and its inlined call.
func TestTruth_RegisteredRecordings(t *testing.T) {
	bin := build(t)
	perf := testrec.Tool(t, "perf")
	for _, c := range []struct {
		recording, family string
		args              []string
	}{
		{"numba", "numba", []string{"--code-from", "numba.core"}},
		{"clang-repl", "clang-repl", []string{"--code-from", "clang-repl.core"}},
		{"dart", "dart", []string{"--dump-dir", "."}},
	} {
		t.Run(c.recording, func(t *testing.T) {
			f := &families[slices.IndexFunc(families, func(f family) bool { return f.name == c.family })]
			s := &site{bin: bin, work: testrec.Unpack(t, c.recording)}
			file, said, err := s.inject(t.Context(), &command{inject: c.args})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(said, "_ZN") {
				t.Errorf("got %s; want names of C++ as perf shows them", said)
			}
			samples, err := judge.Script(t.Context(), perf, file, "-G")
			if err != nil {
				t.Fatal(err)
			}
			mappings, err := judge.Mappings(t.Context(), perf, file)
			if err != nil {
				t.Fatal(err)
			}
			var sources []string
			for _, name := range f.programs {
				sources = append(sources, filepath.Join(s.work, name))
			}
			marks, err := truth.Marks(sources...)
			if err != nil {
				t.Fatal(err)
			}
			var tools []truth.Tool
			if f.lines {
				for _, tool := range truth.Tools {
					testrec.Tool(t, tool.Args[0])
				}
				tools = truth.Tools
			}
			verdicts, err := truth.Check(t.Context(), marks, samples, mappings, tools)
			if err != nil {
				t.Fatal(err)
			}
			total := truth.Sum(verdicts, 1)
			if total.Seen < total.Functions || f.lines && total.Lines < total.Functions || total.Inner < total.InnerAll || f.inlines && total.InnerAll == 0 {
				t.Errorf("got %+v, and %q; want names, lines and inlined calls of all\n%s", total, truth.Failures(verdicts, 1, f.lines), said)
			}
		})
	}
}
