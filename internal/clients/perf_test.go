package clients

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// A result is an injected recording: out.data in dir, the objects in dir/objects.
type result struct {
	t       *testing.T
	dir     string
	summary *inject.Summary
}

func injected(t *testing.T, recording string, opts inject.Options) *result {
	t.Helper()
	r := &result{t: t, dir: testrec.Place(t, recording)}
	opts.Input, opts.Output, opts.Objects, opts.Force = r.path("perf.data"), r.path("out.data"), r.path("objects"), true
	if opts.BuildIDCache != "" {
		opts.BuildIDCache = r.path(opts.BuildIDCache)
	}
	var err error
	if r.summary, err = inject.Run(context.Background(), opts); err != nil {
		t.Fatal(err)
	}
	if !r.summary.Complete() || r.summary.Objects == 0 {
		t.Fatalf("%d objects, problems: %v", r.summary.Objects, r.summary.Problems)
	}
	return r
}

func (r *result) path(name string) string { return filepath.Join(r.dir, name) }

// run runs a client in the result's directory, which is its home.
func (r *result) run(name string, args ...string) string {
	r.t.Helper()
	return testrec.Run(r.t, r.dir, name, args...)
}

// Of node-hot, nearly all samples are in one function, compiled twice. The recording
// was made of this program: see testdata.
const (
	hotFunction = "JS:*hot /tmp/rec/node-hot/hot.js:9:13"
	hotSamples  = 1157
	allSamples  = 1219
)

// samplesOf counts the samples of a function in what perf report -n shows.
func samplesOf(report, function string) (n int) {
	for line := range strings.Lines(report) {
		fields := strings.Fields(line)
		if len(fields) < 4 || !strings.HasSuffix(strings.TrimSpace(line), "] "+function) {
			continue
		}
		if count, err := strconv.Atoi(fields[1]); err == nil {
			n += count
		}
	}
	return n
}

// report asks perf report how many samples of a file are in the hot function.
func (r *result) report(perf, file string, args ...string) int {
	r.t.Helper()
	args = append([]string{"report", "--stdio", "-n", "-g", "none", "--no-children", "--sort", "sym", "-f", "-i", file}, args...)
	return samplesOf(r.run(perf, args...), hotFunction)
}

// eachPerf runs a test with every perf and both layouts of objects.
func eachPerf(t *testing.T, opts inject.Options, test func(t *testing.T, perf string, r *result)) {
	for _, bundle := range []bool{false, true} {
		opts.Bundle = bundle
		for version, perf := range testrec.Perfs(t) {
			t.Run(fmt.Sprintf("%s bundle=%v", version, bundle), func(t *testing.T) {
				test(t, perf, injected(t, "node-hot", opts))
			})
		}
	}
}

func TestPerfReport_EverySortKey(t *testing.T) {
	eachPerf(t, inject.Options{}, func(t *testing.T, perf string, r *result) {
		if before, after := r.report(perf, "perf.data"), r.report(perf, "out.data"); before != 0 || after != hotSamples {
			t.Errorf("before %d, after %d samples in %s, want %d", before, after, hotFunction, hotSamples)
		}
	})
}

// Two results of the same recording: nothing differs, though they have objects of their
// own.
func TestPerfDiff_TwoResults(t *testing.T) {
	for version, perf := range testrec.Perfs(t) {
		r := injected(t, "node-hot", inject.Options{})
		opts := inject.Options{Input: r.path("perf.data"), Output: r.path("second.data"), Objects: r.path("second"), Force: true}
		if _, err := inject.Run(context.Background(), opts); err != nil {
			t.Fatal(err)
		}
		found := 0
		for line := range strings.Lines(r.run(perf, "diff", "-f", "out.data", "second.data")) {
			if strings.Contains(line, hotFunction) {
				found++
				if !strings.Contains(line, "+0.00%") {
					t.Errorf("perf %s: %s", version, line)
				}
			}
		}
		if found == 0 {
			t.Errorf("perf %s does not compare the hot function", version)
		}
	}
}

// The ids that perf lists are those of the objects.
func TestPerfBuildIDList_OfObjects(t *testing.T) {
	eachPerf(t, inject.Options{}, func(t *testing.T, perf string, r *result) {
		lines, ids := strings.Split(r.run(perf, "buildid-list", "-f", "-i", "out.data"), "\n"), 0
		for _, line := range lines {
			id, path, _ := strings.Cut(line, " ")
			if path = strings.TrimSpace(path); !strings.HasPrefix(path, r.path("objects")) {
				continue
			}
			if ids++; ids > 50 {
				continue
			}
			if note := r.run(testrec.Tool(t, "readelf"), "-n", path); !strings.Contains(note, id) {
				t.Errorf("perf lists %s with id %s, but:\n%s", path, id, note)
			}
		}
		if ids != r.summary.Objects {
			t.Errorf("perf lists %d ids, want %d", ids, r.summary.Objects)
		}
	})
}

// perf inject does its other jobs on what we wrote.
func TestPerfInject_Afterwards(t *testing.T) {
	eachPerf(t, inject.Options{}, func(t *testing.T, perf string, r *result) {
		for _, job := range []string{"-b", "-s", "--buildid-all"} {
			r.run(perf, "inject", job, "-f", "-i", "out.data", "-o", "after.data")
			if n := r.report(perf, "after.data"); n != hotSamples {
				t.Errorf("perf inject %s: %d samples in the hot function, want %d", job, n, hotSamples)
			}
		}
	})
}

// A JSON file of all samples.
func TestPerfData_ConvertToJSON(t *testing.T) {
	eachPerf(t, inject.Options{}, func(t *testing.T, perf string, r *result) {
		out, err := testrec.Command(t, r.dir, perf, "data", "convert", "--to-json", "out.json", "--force", "-i", "out.data").CombinedOutput()
		if strings.Contains(string(out), "unknown option") || strings.Contains(string(out), "not compiled") {
			testrec.Skip(t, "this perf does not write JSON: %s", out)
		} else if err != nil {
			t.Fatalf("unexpected error: %v\n%s", err, out)
		}
		var file struct {
			Samples []struct {
				Callchain []struct{ Symbol, DSO string }
			}
		}
		if err := json.Unmarshal([]byte(r.run("cat", "out.json")), &file); err != nil {
			t.Fatal(err)
		}
		hot := 0
		for _, s := range file.Samples {
			for _, f := range s.Callchain {
				if strings.Contains(f.DSO, "/jit") && f.Symbol == "" {
					t.Errorf("a frame in %s has no name", f.DSO)
				}
			}
			if len(s.Callchain) > 0 && s.Callchain[0].Symbol == hotFunction {
				hot++
			}
		}
		if len(file.Samples) != allSamples || hot != hotSamples {
			t.Errorf("%d samples, %d of them in the hot function, want %d and %d", len(file.Samples), hot, allSamples, hotSamples)
		}
	})
}

// frame is a line of a call chain in perf script's output: address, symbol, file.
var frame = regexp.MustCompile(`^\t\s*[0-9a-f]+ (.*) \((.*)\)$`)

// collapse does what stackcollapse-perf does: one line for each stack, the outermost
// function first, with how often it is there.
func collapse(script string) map[string]int {
	stacks := make(map[string]int)
	var stack []string
	end := func() {
		if len(stack) > 0 {
			stacks[strings.Join(stack, ";")]++
		}
		stack = nil
	}
	for line := range strings.Lines(script) {
		m := frame.FindStringSubmatch(strings.TrimSuffix(line, "\n"))
		if m == nil {
			end()
			continue
		}
		name := m[1]
		if i := strings.LastIndex(name, "+0x"); i > 0 {
			name = name[:i]
		}
		if name == "[unknown]" {
			name += " " + m[2]
		}
		stack = append([]string{name}, stack...)
	}
	end()
	return stacks
}

// Every jitted frame of a flame graph has a name.
func TestFlameGraph_EveryFrameNamed(t *testing.T) {
	eachPerf(t, inject.Options{}, func(t *testing.T, perf string, r *result) {
		before := collapse(r.run(perf, "script", "-f", "-i", "perf.data"))
		after := collapse(r.run(perf, "script", "-f", "-i", "out.data"))
		hot := 0
		for stack := range before {
			if strings.HasSuffix(stack, ";"+hotFunction) {
				t.Error("it has names before")
			}
		}
		for stack, n := range after {
			if strings.Contains(stack, "[unknown] "+r.path("objects")) || strings.Contains(stack, "[unknown] //anon") {
				t.Errorf("%d stacks %s", n, stack)
			}
			if strings.HasSuffix(stack, ";"+hotFunction) {
				hot += n
			}
		}
		if hot != hotSamples {
			t.Errorf("%d stacks end in the hot function, want %d", hot, hotSamples)
		}
	})
}

// perf annotate puts the samples on the one line of hot.js that is hot.
func TestPerfAnnotate_HottestLine(t *testing.T) {
	eachPerf(t, inject.Options{}, func(t *testing.T, perf string, r *result) {
		switch line, crashed := r.hottestLine(r.dir, perf); {
		case crashed && perf != testrec.Tool(t, "perf"):
			testrec.Skip(t, "this perf's annotate crashes")
		case line != "hot.js:13":
			t.Errorf("the hottest line is %q, want hot.js:13", line)
		}
	})
}

// hottest is the first entry of the list with which perf annotate -l begins.
var hottest = regexp.MustCompile(`(?m)^\s+\d+\.\d+\s+(?:\S*/)?([^/\s]+:\d+)`)
