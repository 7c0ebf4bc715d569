package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// withV8Log injects a recording in a directory, with the log that has no process in its name.
func withV8Log(t *testing.T, dir string) (*report.Summary, string) {
	t.Helper()
	opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")}
	log := filepath.Join(dir, "v8.log")
	if _, err := os.Stat(log); err == nil {
		opts.SideFiles = append(opts.SideFiles, config.SideFile{Kind: formats.V8Log, Path: log})
	}
	sum, err := engine.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return sum, opts.Output
}

// named counts the samples in functions.
func named(sum *report.Summary) (n int64) {
	for i := range sum.Dumps {
		if s := sum.Dumps[i].Samples; s != nil {
			n += s.Resolved
		}
	}
	return n
}

// v8Frames returns the frames of all samples, as perf shows them without inlined calls.
func v8Frames(t *testing.T, dir, perf, result string) []string {
	t.Helper()
	return strings.Split(testrec.Run(t, dir, perf, "script", "-f", "--no-inline", "-i", result, "-F", "tid,time,ip,sym,symoff"), "\n")
}

// The log alone gives perf the frames of the dump with the log: names and offsets.
func TestV8Log_AloneAsWithDump(t *testing.T) {
	for _, name := range []string{"v8log-node25", "v8log-workers"} {
		t.Run(name, func(t *testing.T) {
			dir := testrec.Place(t, name)
			both, result := withV8Log(t, dir)
			want := make(map[string][]string)
			perfs := testrec.Perfs(t)
			for version, perf := range perfs {
				want[version] = v8Frames(t, dir, perf, result)
			}
			remove(t, filepath.Join(dir, filepath.Base(both.Dumps[0].Path)))
			alone, result := withV8Log(t, dir)
			if n := named(both); n == 0 || named(alone) != n {
				t.Errorf("got %d samples in functions; want %d, as with the dump", named(alone), n)
			}
			for i := range alone.Dumps {
				if d := &alone.Dumps[i]; d.Kind != formats.V8Log || d.WithoutCode == 0 || d.Inlining == 0 {
					t.Errorf("got %s; want a log without code, with inlined calls", asJSON(d))
				}
			}
			for version, perf := range perfs {
				if got := v8Frames(t, dir, perf, result); !slices.Equal(got, want[version]) {
					t.Errorf("perf %s: got other frames than with the dump: %d lines, %d with it", version, len(got), len(want[version]))
				}
			}
		})
	}
}

// The log has the functions that a cut dump lacks, and the result is never worse than without it.
func TestV8Log_CompletesCutDump(t *testing.T) {
	dir := testrec.Place(t, "v8log-workers")
	whole, _ := withV8Log(t, dir)
	path := filepath.Join(dir, filepath.Base(whole.Dumps[0].Path))
	size := int64(len(read(t, path)))
	logs, err := filepath.Glob(filepath.Join(dir, "isolate-*.log"))
	if err != nil || len(logs) != 2 {
		t.Fatalf("got %q, %v; want 2 logs", logs, err)
	}
	for _, percent := range []int64{90, 60, 30, 5} {
		if err := os.Truncate(path, size*percent/100); err != nil {
			t.Fatal(err)
		}
		hide(t, logs, ".log", ".hidden")
		without, _ := withV8Log(t, dir)
		hide(t, logs, ".hidden", ".log")
		with, _ := withV8Log(t, dir)
		if named(with) != named(whole) || named(without) >= named(whole) {
			t.Errorf("%d %% of the dump: got %d samples in functions, %d without logs; want %d, and fewer", percent, named(with), named(without), named(whole))
		}
		if !slices.ContainsFunc(with.Dumps, func(d report.DumpSummary) bool {
			return d.Kind == formats.V8Log && strings.Contains(d.Note, "completes the dump")
		}) {
			t.Errorf("%d %% of the dump: got %s; want a log that completes it", percent, asJSON(with.Dumps))
		}
	}
}

// A log has code again that a cut dump has for a time. It has not moved.
func TestV8Log_CutDumpMovesNothing(t *testing.T) {
	dir := testrec.Place(t, "v8log-reused")
	path := onlyFile(t, dir, "jit-*.dump")
	if err := os.Truncate(path, int64(len(read(t, path)))*60/100); err != nil {
		t.Fatal(err)
	}
	sum, _ := withV8Log(t, dir)
	if inLogs(sum) == 0 {
		t.Fatalf("got %s; want samples in functions of the log", asJSON(sum))
	}
	for i := range sum.Dumps {
		if d := &sum.Dumps[i]; d.Moved > 0 {
			t.Errorf("%s: got %d moved functions; want none", d.Path, d.Moved)
		}
	}
}

// hide renames files by their ends.
func hide(t *testing.T, paths []string, from, to string) {
	t.Helper()
	for _, path := range paths {
		path = strings.TrimSuffix(path, ".log")
		if err := os.Rename(path+from, path+to); err != nil {
			t.Fatal(err)
		}
	}
}

// A log of another run is not used, whatever its name says.
func TestV8Log_AloneOfOtherRun(t *testing.T) {
	dir, other := testrec.Place(t, "v8log-workers"), testrec.Place(t, "v8log-node25")
	whole, _ := withV8Log(t, dir)
	d := &whole.Dumps[0]
	logs, err := filepath.Glob(filepath.Join(dir, "isolate-*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, log := range logs {
		remove(t, log)
	}
	path := filepath.Join(dir, filepath.Base(d.Path))
	if err := os.Truncate(path, d.Bytes/2); err != nil {
		t.Fatal(err)
	}
	before, _ := withV8Log(t, dir)
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("isolate-0x1-%d-v8.log", d.PID)), read(t, filepath.Join(other, "v8.log")), 0o600); err != nil {
		t.Fatal(err)
	}
	after, _ := withV8Log(t, dir)
	if len(after.Dumps) != len(before.Dumps) || named(after) != named(before) || named(before) == 0 {
		t.Errorf("got %d dumps, %d samples in functions; want %d and %d, as without the log", len(after.Dumps), named(after), len(before.Dumps), named(before))
	}
}

// remove removes a file.
func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

// A copy of a log, as one beside the recording and one in a directory that is named, adds no dump. Neither does a
// log without code, as node --perf-basic-prof writes it.
func TestV8Log_AloneWithCopy(t *testing.T) {
	dir := testrec.Place(t, "v8log-workers")
	whole, _ := withV8Log(t, dir)
	remove(t, filepath.Join(dir, filepath.Base(whole.Dumps[0].Path)))
	alone, _ := withV8Log(t, dir)
	path := alone.Dumps[0].Path
	for i := range 3 {
		put(t, filepath.Join(dir, fmt.Sprintf("isolate-0x%d-%d-v8.log", i, alone.Dumps[0].PID)), read(t, path))
	}
	put(t, filepath.Join(dir, fmt.Sprintf("isolate-0x9-%d-v8.log", alone.Dumps[0].PID)), []byte("v8-version,11,3,244,8,-node.38,0\nv8-platform,linux,linux\n"))
	again, _ := withV8Log(t, dir)
	if notes := strings.Join(again.Notes, "\n"); strings.Contains(notes, "isolate-0x9-") {
		t.Errorf("got notes %s; want none about the log without code", notes)
	}
	if got := strings.Count(strings.Join(again.Notes, "\n"), "another log has the same code; copies are left out"); got != 1 {
		t.Errorf("got %d notes about copies, %q; want 1", got, again.Notes)
	}
	if len(again.Dumps) != len(alone.Dumps) || named(again) != named(alone) || named(alone) == 0 {
		t.Errorf("got %d dumps, %d samples in functions; want %d and %d, as without the copy", len(again.Dumps), named(again), len(alone.Dumps), named(alone))
	}
}
