package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/truth"
)

// Recordings of runtimes that are rarely installed have the program that ran. perf shows the names of
// its functions, and tools their lines.
func TestTruth_NamesInRecordings(t *testing.T) {
	for _, c := range []struct {
		recording, programs string
		seen, functions     int  // of the program: seen in samples, and all
		lines               bool // the dump has lines
	}{
		{"dotnet31", "*.cs", 25, 25, false},
		{"moarvm", "*.raku", 19, 25, false}, // the others were interpreted
		{"ruby-yjit", "*.rb", 23, 25, false},
		{"moarvm-dump", "*.raku", 18, 25, false},
	} {
		t.Run(c.recording, func(t *testing.T) {
			dir := testrec.Unpack(t, c.recording)
			sources, err := filepath.Glob(filepath.Join(dir, c.programs))
			if err != nil {
				t.Fatal(err)
			}
			marks, err := truth.Marks(sources...)
			if err != nil || len(marks) != c.functions {
				t.Fatalf("got %d marks, %v; want %d", len(marks), err, c.functions)
			}
			opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")}
			if sum, err := engine.Run(t.Context(), opts); err != nil || !sum.Complete() {
				t.Fatalf("got %+v, %v; want a complete result", sum, err)
			}
			for version, perf := range testrec.Perfs(t) {
				samples, err := judge.Script(t.Context(), perf, opts.Output, "-G")
				if err != nil {
					t.Fatal(err)
				}
				mappings, err := judge.Mappings(t.Context(), perf, opts.Output)
				if err != nil {
					t.Fatal(err)
				}
				var tools []truth.Tool
				if c.lines {
					tools = truth.Tools
				}
				verdicts, err := truth.Check(t.Context(), marks, samples, mappings, tools)
				if err != nil {
					t.Fatal(err)
				}
				total := truth.Sum(verdicts, least)
				if total.Seen != c.seen || c.lines && (total.Lines < total.Seen || total.Wrong*100 > total.Right) {
					t.Errorf("perf %s: got %+v; want %d functions seen, and 1 wrong line of 100 at most:\n%s", version, total, c.seen, strings.Join(truth.Failures(verdicts, least, c.lines), "\n"))
				}
			}
		})
	}
}
