package engine_test

import (
	"cmp"
	"maps"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/tier"
	"github.com/jitinject/jitinject/perfdata"
)

// A shownFunction identifies a function of a process in perf's report, as the summary does.
type shownFunction struct {
	pid  uint32
	name tier.Name
}

// jittedName is the name of an object, with the process in it.
var jittedName = regexp.MustCompile(`^jitted-(\d+)-\d+\.so$`)

// hotReported asks perf report for shares, in percent, by function, and by function and line.
func hotReported(t *testing.T, dir, perf, result string, hasLines bool) (shares map[shownFunction]float64, lines map[shownFunction]map[string]float64) {
	t.Helper()
	shares, lines = make(map[shownFunction]float64), make(map[shownFunction]map[string]float64)
	fields := "overhead,dso,sym"
	if hasLines {
		fields += ",srcline"
	}
	out := testrec.Run(t, dir, perf, "report", "-f", "-i", result, "--stdio", "--no-children", "-g", "none", "--no-inline", "-F", fields, "-t", "\x1f")
	for line := range strings.Lines(out) {
		fields := strings.Split(strings.TrimSpace(line), "\x1f")
		if len(fields) < 3 || strings.HasPrefix(line, "#") {
			continue
		}
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
		}
		share, err := strconv.ParseFloat(strings.TrimSuffix(fields[0], "%"), 64)
		object := jittedName.FindStringSubmatch(fields[1])
		if err != nil || object == nil {
			continue
		}
		pid, err := strconv.ParseUint(object[1], 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		_, symbol, _ := strings.Cut(fields[2], "] ")
		f := shownFunction{uint32(pid), tier.Read(symbol)}
		shares[f] += share
		if lines[f] == nil {
			lines[f] = make(map[string]float64)
		}
		lines[f][fields[len(fields)-1]] += share
	}
	return shares, lines
}

// The hottest functions, their shares and their hottest lines are those that perf report shows.
func TestHottest_AsPerfReports(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	for _, in := range []struct {
		recording, file string
		lines           bool
	}{
		{"node-hot", "perf.data", true}, {"node-forks", "perf.data", false}, {"v8log-workers", "perf.data", false},
		{"erlang", "perf.data", true}, {"lli-hot", "perf.data", true}, {"toyjit", "perf.data", true}, {"php", "perf.data", false}, {"mono", "perf.data", false},
	} {
		t.Run(in.recording, func(t *testing.T) {
			t.Parallel()
			dir := testrec.Unpack(t, in.recording)
			var first *report.Hottest
			for _, opts := range []config.Options{{Output: "one.data", Jobs: 1}, {Output: "many.data", Jobs: 7, Bundle: true}} {
				opts.Input, opts.Objects = filepath.Join(dir, in.file), filepath.Join(dir, opts.Output+".objects")
				opts.Output = filepath.Join(dir, opts.Output)
				sum, err := engine.Run(t.Context(), opts)
				if err != nil {
					t.Fatal(err)
				}
				if first == nil {
					first = sum.Hottest
					checkReported(t, sum, dir, perf, in.lines)
				} else if !slices.Equal(first.Functions, sum.Hottest.Functions) || first.Event != sum.Hottest.Event {
					t.Errorf("with another number of workers, in bundles: got %+v; want %+v", sum.Hottest, first)
				}
			}
		})
	}
}

// checkReported compares the hottest functions of a summary with perf's report. perf rounds each line to
// 0.01 %.
func checkReported(t *testing.T, sum *report.Summary, dir, perf string, hasLines bool) {
	t.Helper()
	shares, lines := hotReported(t, dir, perf, sum.Output, hasLines)
	functions := sum.Hottest.Functions
	if len(functions) != min(5, len(shares)) || len(functions) == 0 {
		t.Fatalf("got %d functions; perf shows %d", len(functions), len(shares))
	}
	sorted := slices.SortedFunc(maps.Values(shares), func(a, b float64) int { return cmp.Compare(b, a) })
	withLines := 0
	for i, h := range functions {
		f := shownFunction{h.PID, tier.Read(h.Symbol)}
		share, ok := shares[f]
		if !ok || math.Abs(100*h.Share-share) > 0.1 || math.Abs(100*h.Share-sorted[i]) > 0.1 {
			t.Errorf("got %s with %.3f %%; perf shows %.2f %%, and %.2f %% in place %d", h.Symbol, 100*h.Share, share, sorted[i], i+1)
		}
		if !hasLines || h.HotLine == 0 {
			continue
		}
		withLines++
		place := filepath.Base(h.HotFile) + ":" + strconv.Itoa(h.HotLine)
		for other, share := range lines[f] {
			if !strings.Contains(other, ":0") && share > lines[f][place]+0.05 {
				t.Errorf("%s: got line %s, which has %.2f %% with perf; %s has %.2f %%", h.Symbol, place, lines[f][place], other, share)
			}
		}
		if want := lines[f][place] / share; math.Abs(h.HotShare-want) > 0.05 {
			t.Errorf("%s: got %.1f %% in line %s; want %.1f %%", h.Symbol, 100*h.HotShare, place, 100*want)
		}
	}
	if hasLines && withLines == 0 {
		t.Errorf("got no lines in %+v", functions)
	}
}

// hotWorld has two functions. Of the samples, one in three is in the second, and stands for as much as all
// others together.
func hotWorld(t *testing.T, pid uint32) *world {
	w := newWorld(t)
	w.mark(pid, 1000, "jit-1.dump")
	w.dump("jit-1.dump", x86(1), load(1500, 1, 1, 0x10000, "often", code(64, 1)), load(1500, 1, 2, 0x20000, "heavy", code(64, 2)))
	for i := range uint64(10) {
		w.Touch(testrec.Touch{PID: pid, Time: 2000 + i, IP: 0x10008, Period: 100})
		w.Touch(testrec.Touch{PID: pid, Time: 2000 + i, IP: 0xffffffff81000000, Misc: 1, Period: 100}) // the kernel
		w.Touch(testrec.Touch{PID: pid, Time: 2000 + i, IP: 0x20008, Period: 200})
	}
	return w
}

// checkHotWorld compares what the summary says of that.
func checkHotWorld(t *testing.T, sum *report.Summary, pid uint32) {
	t.Helper()
	want := []report.HotFunction{
		{Name: "heavy", Symbol: "heavy", PID: pid, Command: "prog", Samples: 10, Share: 0.5},
		{Name: "often", Symbol: "often", PID: pid, Command: "prog", Samples: 10, Share: 0.25},
	}
	if sum.Hottest == nil || !slices.Equal(sum.Hottest.Functions, want) || sum.Hottest.Event != "" {
		t.Errorf("got %s; want %+v, no event", asJSON(sum.Hottest), want)
	}
}

// Shares are those of periods, and of all samples.
func TestHottest_SharesOfPeriods(t *testing.T) {
	w := hotWorld(t, 100)
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	checkHotWorld(t, sum, 100)
	w.opts.NoCount = true
	if sum, err = w.run(); err != nil || sum.Hottest != nil {
		t.Errorf("not counted: got %s, %v; want null, no error", asJSON(sum.Hottest), err)
	}
}

// A stream names its functions as a file does, although their dump is closed when their process ends.
func TestHottest_OfStreamAfterExit(t *testing.T) {
	pid := uint32(os.Getpid()) // a process that is alive
	w := hotWorld(t, pid)
	w.Exit(pid, pid, 3000)
	w.Write(t, w.opts.Input)
	stream, err := perfdata.AppendPreamble([]byte("PERFILE2\x10\x00\x00\x00\x00\x00\x00\x00"), openFile(t, w.opts.Input))
	if err != nil {
		t.Fatal(err)
	}
	eachRaw(t, w.opts.Input, func(rec []byte) { stream = append(stream, rec...) })
	sum, err := engine.Run(t.Context(), config.Options{Input: "-", Stdin: feed(t, stream, 100), Output: w.opts.Output})
	if err != nil {
		t.Fatal(err)
	}
	checkHotWorld(t, sum, pid)
}

// If functions follow each other at an address, their samples are told apart.
func TestHottest_OneAddressTwoFunctions(t *testing.T) {
	const base = 0x7f1200000000
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.dump("jit-100.dump", x86(100), load(1500, 100, 1, base, "first", code(64, 1)), load(3000, 100, 2, base, "second", code(64, 2)))
	for i := range uint64(30) {
		w.Sample(100, 2010+100*i, base+8)
	}
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	want := []report.HotFunction{
		{Name: "second", Symbol: "second", PID: 100, Command: "prog", Samples: 20, Share: 20. / 30},
		{Name: "first", Symbol: "first", PID: 100, Command: "prog", Samples: 10, Share: 10. / 30},
	}
	if !slices.Equal(sum.Hottest.Functions, want) {
		t.Errorf("got %s; want %+v", asJSON(sum.Hottest), want)
	}
}

// Functions of equal shares come in the order of their names, and then of their addresses. Those of one
// name count as one.
func TestHottest_Ties(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	var loads []timed
	for i, name := range []string{"five", "JS:*four /a.js:1:1", "one", "JS:*four /a.js:1:1", "six", "JS:^four /a.js:2:1", "three", "two"} {
		at := 0x90000 - uint64(i)<<12
		loads = append(loads, load(1500, 100, uint64(i), at, name, code(64, byte(i))))
		w.Sample(100, 2000, at+8)
	}
	w.dump("jit-100.dump", x86(100), loads...)
	sum, err := w.run()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range sum.Hottest.Functions {
		got = append(got, strings.TrimSpace(h.Name+" "+h.Tier))
	}
	if want := []string{"four optimized", "five", "four baseline", "one", "six"}; !slices.Equal(got, want) {
		t.Errorf("got %q; want %q", got, want)
	}
}

// With two events, the one with most samples in functions counts, and it is named.
func TestHottest_TwoEvents(t *testing.T) {
	testrec.CanRecord(t)
	perf, node := testrec.Tool(t, "perf"), testrec.Tool(t, "node", "nodejs")
	dir := testrec.Unpack(t, "node-hot")
	testrec.Run(t, dir, perf, "record", "-q", "-e", "page-faults,cpu-clock", "-F", "499", "-k", "mono", "-o", "two.data", node, "--perf-prof", "hot.js")
	sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "two.data"), Output: filepath.Join(dir, "out.data")})
	if err != nil {
		t.Fatal(err)
	}
	if h := sum.Hottest; len(h.Functions) == 0 || h.Functions[0].Name != "hot" || h.Functions[0].HotLine != 13 || h.Functions[0].Share < 0.5 || !strings.HasPrefix(h.Event, "cpu-clock") {
		t.Errorf("got %s; want hot, line 13, most of the samples of cpu-clock", asJSON(h))
	}
}
