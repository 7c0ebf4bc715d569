package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// In these recordings, V8 uses the memory of code again and again. A dump of all code tells which names are right.

// against compares frames with those of the complete dump.
func against(t *testing.T, truth, frames []string) (named, unnamed int) {
	t.Helper()
	if len(truth) != len(frames) {
		t.Fatalf("got %d frames; want %d", len(frames), len(truth))
	}
	wrong := 0
	for i, want := range truth {
		switch got := frames[i]; {
		case !strings.Contains(want, " JS:"):
		case got == want:
			named++
		case strings.Contains(got, "[unknown]"):
			unnamed++
		default:
			if wrong++; wrong < 4 {
				t.Errorf("got %q; want %q, or no name", got, want)
			}
		}
	}
	if wrong > 0 {
		t.Errorf("got %d wrong names, %d right ones, %d without; want no wrong ones", wrong, named, unnamed)
	}
	return named, unnamed
}

// Where memory is used again, the log alone, and beside a cut dump, gives no wrong name. With a part of the dump, it
// gives all. Alone, it gives nearly all if the program was recorded from its start.
func TestV8Log_ReusedMemory(t *testing.T) {
	for _, test := range []struct {
		name    string
		percent []int // of the dump
		whole   bool  // recorded from the start
	}{
		{"v8log-reused", []int{97, 50, 0}, true},
		{"v8log-attached", []int{80, 0}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			perf := testrec.Tool(t, "perf")
			dir := testrec.Place(t, test.name)
			log := []string{onlyFile(t, dir, "isolate-*.log")}
			dump := onlyFile(t, dir, "jit-*.dump")
			hide(t, log, ".log", ".hidden")
			_, result := withV8Log(t, dir)
			truth, whole := v8Frames(t, dir, perf, result), read(t, dump)
			hide(t, log, ".hidden", ".log")
			for _, percent := range test.percent {
				remove(t, dump)
				if percent > 0 {
					if err := os.WriteFile(dump, whole[:len(whole)*percent/100], 0o600); err != nil {
						t.Fatal(err)
					}
				}
				opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")}
				if _, err := engine.Run(t.Context(), opts); err != nil {
					if percent == 0 && !test.whole { // no place has only one function
						continue
					}
					t.Fatal(err)
				}
				named, unnamed := against(t, truth, v8Frames(t, dir, perf, opts.Output))
				if percent > 0 && unnamed > 0 || percent == 0 && test.whole && unnamed*5 > named {
					t.Errorf("%d %% of the dump: got %d samples without names, %d with; want all, or nearly all without a dump", percent, unnamed, named)
				}
			}
		})
	}
}

// onlyFile returns the only file of a pattern in a directory.
func onlyFile(t *testing.T, dir, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(paths) != 1 {
		t.Fatalf("got %q, %v; want one file", paths, err)
	}
	return paths[0]
}

// Code that the collector moves has its name at each place, while it is there. The program has measured when which
// function ran.
func TestV8Log_MovedCode(t *testing.T) {
	dir := testrec.Place(t, "v8log-moved")
	_, result := withV8Log(t, dir)
	var right, none int
	lines := v8Frames(t, dir, testrec.Tool(t, "perf"), result)
	for phase := range strings.Lines(string(read(t, filepath.Join(dir, "truth.txt")))) {
		var k, from, to int64
		if _, err := fmt.Sscan(phase, &k, &from, &to); err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			fields := strings.Fields(line)
			if len(fields) < 4 {
				continue
			}
			digits := strings.ReplaceAll(strings.TrimSuffix(fields[1], ":"), ".", "")
			at, err := strconv.ParseInt(digits+"000", 10, 64)
			switch {
			case err != nil || at < from || at > to:
			case strings.Contains(line, fmt.Sprintf("gen_%d ", k)):
				right++
			case strings.Contains(line, "gen_") || strings.Contains(line, "tmp_"):
				t.Errorf("got %q; want gen_%d", line, k)
			case strings.Contains(line, "[unknown]"):
				none++
			}
		}
	}
	if right == 0 || none > right/4 {
		t.Errorf("got %d samples with the right name, %d without; want a quarter without at most", right, none)
	}
}

// logTime finds the time of a line of a log.
var logTime = regexp.MustCompile(`(?m)^(code-creation,\w+,\d+,)(\d+),`)

// A log of an earlier or a later run is refused, by its times or by the file's, in files that the user names, too.
// A copy of the right log is used.
func TestV8Log_OtherRuns(t *testing.T) {
	shift := func(by func(uint64) uint64) func([]byte) []byte {
		return func(log []byte) []byte {
			return logTime.ReplaceAllFunc(log, func(line []byte) []byte {
				m := logTime.FindSubmatch(line)
				n, _ := strconv.ParseUint(string(m[2]), 10, 64)
				return fmt.Appendf(nil, "%s%d,", m[1], by(n))
			})
		}
	}
	same := shift(func(us uint64) uint64 { return us })
	for _, test := range []struct {
		name   string
		change func([]byte) []byte
		age    time.Duration
		used   bool
		reason string
	}{
		{"its own", same, 0, true, ""},
		{"copied a day later", same, -24 * time.Hour, true, ""},
		{"written a year before", same, 1e5 * time.Hour, false, "it was written before process"},
		{"longer than the process", shift(func(us uint64) uint64 { return 10 * us }), 0, false, "its times do not fit process"},
		{"begun later", shift(func(us uint64) uint64 { return us + 1e8 }), 0, false, "its times do not fit process"},
	} {
		for _, named := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, named %v", test.name, named), func(t *testing.T) {
				dir := testrec.Place(t, "v8log-reused")
				remove(t, onlyFile(t, dir, "jit-*.dump"))
				log := onlyFile(t, dir, "isolate-*.log")
				content := test.change(read(t, log))
				if named {
					remove(t, log)
					log = filepath.Join(dir, "node.txt")
				}
				if err := os.WriteFile(log, content, 0o600); err != nil {
					t.Fatal(err)
				}
				written := time.Now().Add(-test.age)
				if err := os.Chtimes(log, written, written); err != nil {
					t.Fatal(err)
				}
				opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")}
				if named {
					opts.SideFiles = []config.SideFile{{Kind: formats.V8Log, Path: log}}
				}
				sum, err := engine.Run(t.Context(), opts)
				if used := err == nil && inLogs(sum) > 0; used != test.used {
					t.Fatalf("got used %v, %v; want used %v", used, err, test.used)
				}
				if named && !test.used && strings.Count(err.Error(), test.reason) != 1 {
					t.Errorf("got %v; want one problem with %q", err, test.reason)
				}
			})
		}
	}
}

// inLogs counts the samples in functions of a log.
func inLogs(sum *report.Summary) (n int64) {
	for i := range sum.Dumps {
		if d := &sum.Dumps[i]; d.Kind == formats.V8Log && d.Samples != nil {
			n += d.Samples.Resolved
		}
	}
	return n
}

// Renderers of Chromium are killed, so their dumps are cut. Their logs name the rest, and all if there is no dump.
func TestV8Log_Chromium(t *testing.T) {
	dir := testrec.Place(t, "v8log-chromium")
	both, _ := withV8Log(t, dir)
	logs, err := filepath.Glob(filepath.Join(dir, "isolate-*.log"))
	if err != nil || len(logs) != 2 {
		t.Fatalf("got %q, %v; want 2 logs", logs, err)
	}
	hide(t, logs, ".log", ".hidden")
	dumps, _ := withV8Log(t, dir)
	hide(t, logs, ".hidden", ".log")
	for i := range dumps.Dumps {
		remove(t, filepath.Join(dir, filepath.Base(dumps.Dumps[i].Path)))
	}
	alone, _ := withV8Log(t, dir)
	const cut = 125 // samples in work, which was compiled last
	if named(dumps) == 0 || named(both) != named(dumps)+cut || inLogs(both) != cut || named(alone) != named(both) {
		t.Errorf("got %d samples in functions of the dumps, %d with logs, %d with logs alone; want %d more with logs", named(dumps), named(both), named(alone), cut)
	}
	for i := range both.Dumps {
		if d := &both.Dumps[i]; strings.Contains(d.Note, "left out") {
			t.Errorf("%s: got %q; want nothing left out", d.Path, d.Note)
		}
	}
}

// One line with a time that cannot be is left out, also the last one. The rest of the log counts.
func TestV8Log_DamagedTime(t *testing.T) {
	for name, damage := range map[string]string{"an hour later": "3600", "for ever": "9999999999999999"} {
		dir := testrec.Place(t, "v8log-reused")
		remove(t, onlyFile(t, dir, "jit-*.dump"))
		before, _ := withV8Log(t, dir)
		path := onlyFile(t, dir, "isolate-*.log")
		log := read(t, path)
		lines := logTime.FindAllSubmatchIndex(log, -1)
		for _, at := range [][]int{lines[len(lines)/2], lines[len(lines)-1]} {
			put(t, path, []byte(string(log[:at[4]])+damage+string(log[at[4]:])))
			after, _ := withV8Log(t, dir)
			if named(before) == 0 || named(after) < named(before)*9/10 {
				t.Errorf("%s, at offset %d: got %d samples in functions; want nearly all of %d", name, at[0], named(after), named(before))
			}
		}
	}
}
