package main

import (
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/truth"
)

// In recordings of runtimes, every function of the program has its name, in the process that ran it,
// and every tool shows its line.
func TestTruth_Recordings(t *testing.T) {
	program := testrec.Tool(t, "perf")
	bin := build(t)
	for _, c := range []struct {
		name     string
		programs map[int][]string // by process
		lines    bool
	}{
		{"jsc", map[int][]string{18516: {"truth.mjs", "other.mjs"}}, true},
		{"workerd", map[int][]string{18092: {"truth.mjs", "other.mjs"}}, true},
		{"chromium-renderers", map[int][]string{16588: {"truth.mjs", "other.mjs"}, 16572: {"b.js"}}, true},
		{"wazero", map[int][]string{19076: {"truth.c", "other.c", "other.h"}}, false},
		{"wasmtime-go", map[int][]string{30628: {"truth.c", "other.c", "other.h"}}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &site{bin: bin, work: testrec.Unpack(t, c.name)}
			file, said, err := s.inject(t.Context(), &command{})
			if err != nil {
				t.Fatal(err)
			}
			t.Log(said)
			samples, err := judge.Script(t.Context(), program, file, "-G")
			if err != nil {
				t.Fatal(err)
			}
			mappings, err := judge.Mappings(t.Context(), program, file)
			if err != nil {
				t.Fatal(err)
			}
			var tools []truth.Tool
			if c.lines {
				for _, tool := range truth.Tools {
					testrec.Tool(t, tool.Args[0])
				}
				tools = truth.Tools
			}
			for _, pid := range slices.Sorted(maps.Keys(c.programs)) {
				own := slices.DeleteFunc(slices.Clone(samples), func(s judge.Sample) bool { return s.PID != pid })
				var m measured
				m.count(own)
				if m.resolved < m.code || m.code == 0 {
					t.Errorf("process %d: got %d of %d samples in named functions; want all", pid, m.resolved, m.code)
				}
				var sources []string
				for _, name := range c.programs[pid] {
					sources = append(sources, filepath.Join(s.work, name))
				}
				marks, err := truth.Marks(sources...)
				if err != nil {
					t.Fatal(err)
				}
				verdicts, err := truth.Check(t.Context(), marks, own, mappings, tools)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("process %d: %+v", pid, truth.Sum(verdicts, least))
				for i := range verdicts {
					if c.lines && verdicts[i].Samples >= least && len(verdicts[i].Answers) < len(tools) {
						t.Errorf("for %v: got answers of %d tools; want %d", verdicts[i].Mark, len(verdicts[i].Answers), len(tools))
					}
					for _, complaint := range truth.Failures(verdicts[i:i+1], least, c.lines) {
						t.Error(complaint)
					}
				}
			}
		})
	}
}
