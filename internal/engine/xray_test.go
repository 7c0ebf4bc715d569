package engine_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/calls"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/format/elffile"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/runtime/xray"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/xraymap"
)

// xrayed puts the trace in a directory into the recording there.
func xrayed(t *testing.T, dir string, change func(*config.Options)) *report.Summary {
	t.Helper()
	opts := config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), SideFiles: []config.SideFile{{Kind: formats.XRay, Path: filepath.Join(dir, "xray-log.calls")}},
	}
	if change != nil {
		change(&opts)
	}
	sum, err := engine.Run(context.Background(), opts)
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// xrayTruth is what testdata/xray/calls.cc says of its calls.
func xrayTruth(t *testing.T, dir string) (count map[string]int, all, thrown int) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "counts.txt"))
	if err != nil {
		t.Fatal(err)
	}
	count = make(map[string]int)
	for line := range strings.Lines(string(text)) {
		var name string
		var n int
		if _, err := fmt.Sscanf(line, "calls %s %d", &name, &n); err == nil {
			count[name] = n
			all += n
		}
		fmt.Sscanf(line, "thrown %d", &thrown)
	}
	return count, all, thrown
}

// A shownCall is what perf script shows of a sample.
type shownCall struct {
	tid    int
	time   uint64 // ns
	period uint64
	event  string
	chain  []string // the innermost first
}

var scriptLine = regexp.MustCompile(`^ *[^\s]+.*?\s+(\d+)\s+(\d+)\.(\d{9}):\s+(\d+)\s+([\w-]+):`)

// shownCalls asks perf script, with names without parameters, and without the kernel's.
func shownCalls(t *testing.T, perf, path string) (samples []shownCall) {
	t.Helper()
	var stderr bytes.Buffer
	cmd := testrec.Command(t, filepath.Dir(path), perf, "script", "-i", path, "--ns", "-F", "comm,tid,time,period,event,ip,sym")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s script: %v\n%s", perf, err, &stderr)
	}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimRight(line, "\n")
		if m := scriptLine.FindStringSubmatch(line); m != nil {
			number := func(s string) uint64 { n, _ := strconv.ParseUint(s, 10, 64); return n }
			samples = append(samples, shownCall{tid: int(number(m[1])), time: number(m[2])*1e9 + number(m[3]), period: number(m[4]), event: m[5]})
		} else if fields := strings.Fields(line); len(fields) >= 2 && len(samples) > 0 && (len(fields[0]) < 16 || fields[0][0] != 'f') { // no kernel's
			s := &samples[len(samples)-1]
			name, _, _ := strings.Cut(fields[1], "(")
			s.chain = append(s.chain, name)
		}
	}
	return samples
}

// reported asks perf report about the event xray: by function, the columns of a report.
func reported(t *testing.T, perf, path string, args ...string) map[string][]string {
	t.Helper()
	cmd := testrec.Command(t, filepath.Dir(path), perf, append([]string{"report", "-i", path, "--stdio", "-g", "none", "--percent-limit", "0"}, args...)...)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s report: %v", perf, err)
	}
	_, part, ok := strings.Cut(string(out), "of event 'xray'\n")
	if !ok {
		t.Fatalf("%s report shows no event xray:\n%s", perf, out)
	}
	part, _, _ = strings.Cut(part, "of event '")
	rows := make(map[string][]string)
	for line := range strings.Lines(part) {
		columns, name, ok := strings.Cut(strings.TrimSpace(line), " [.] ")
		if !ok {
			continue
		}
		name, _, _ = strings.Cut(strings.TrimSpace(name), "(")
		rows[name] = strings.Fields(columns)
	}
	return rows
}

// checkXRay puts the trace in, and asks every perf about the calls of all functions.
func checkXRay(t *testing.T, dir string) {
	count, all, thrown := xrayTruth(t, dir)
	sum := xrayed(t, dir, nil)
	if !sum.Complete() || len(sum.Traces) != 1 {
		t.Fatalf("problems %v, traces %+v", sum.Problems, sum.Traces)
	}
	s := &sum.Traces[0]
	if int(s.Calls) != all || int(s.Inferred) != 2*thrown || int(s.Notes) != count["telling"] || s.Threads != 2 || s.Unmatched+s.Gaps+s.Backward+s.TooDeep+s.Late != 0 {
		t.Errorf("%d calls, %d exceptions, %d notes: %+v", all, thrown, count["telling"], s)
	}
	if s.Event != "xray" || s.Clock.Kind != report.ClockMonotonic || s.XRay == nil || filepath.Base(s.XRay.Program) != "calls" || s.XRay.Functions != len(count) {
		t.Errorf(`got %+v, %+v; want Event = "xray", Clock.Kind = ClockMonotonic, XRay not nil, filepath.Base(s.XRay.Program) = "calls", XRay.Functions = %v`, s, s.XRay, len(count))
	}
	account := accountOf(t, dir)
	out := filepath.Join(dir, "out.data")
	for version, perf := range testrec.Perfs(t) {
		exclusive := uint64(0)
		rows := reported(t, perf, out, "--no-children", "-F", "sample,period,sym")
		for name, n := range count {
			columns := rows[name]
			if len(columns) != 2 || columns[0] != strconv.Itoa(n) {
				t.Errorf("perf %s: %s was called %d times; reported: %v", version, name, n, columns)
				continue
			}
			period, _ := strconv.ParseUint(columns[1], 10, 64)
			exclusive += period
		}
		if exclusive != s.Traced || len(rows) != len(count) {
			t.Errorf("perf %s: %d functions ran for %d ns; traced were %d and %d", version, len(rows), exclusive, len(count), s.Traced)
		}
		if total := account["rounds"]; total != 0 && math.Abs(total*1e9-float64(exclusive)) > total*1e9*1e-5 {
			t.Errorf("perf %s: functions ran for %d ns, by llvm-xray for %f s", version, exclusive, total)
		}
		children := reported(t, perf, out, "--children", "-F", "overhead_children,sym")
		for name, seconds := range account {
			if name == "fib" {
				continue // llvm-xray adds what calls take in calls of the same function
			}
			var percent float64
			if len(children[name]) == 1 {
				fmt.Sscanf(children[name][0], "%f%%", &percent)
			}
			if want := 100 * seconds / account["rounds"]; math.Abs(percent-want) > 0.011 {
				t.Errorf("perf %s: %s has %v of the time, by llvm-xray %.3f %%", version, name, children[name], want)
			}
		}
		checkTimeline(t, dir, version, shownCalls(t, perf, out))
	}
}

// accountOf returns the seconds that llvm-xray counts for each function: none if the program
// threw exceptions, of which it knows nothing.
func accountOf(t *testing.T, dir string) map[string]float64 {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "account.csv"))
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	records, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	seconds := make(map[string]float64)
	for _, r := range records[1:] {
		name, _, _ := strings.Cut(r[9], "(")
		if seconds[name], err = strconv.ParseFloat(r[7], 64); err != nil {
			t.Fatal(err)
		}
	}
	return seconds
}

// checkTimeline compares what samples saw with what was logged: one that was taken while a
// function ran, and that the log says so, has it in its callchain.
func checkTimeline(t *testing.T, dir, version string, samples []shownCall) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "xray-log.calls"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	log, err := xray.ReadLog(f, st.Size())
	if err != nil {
		t.Fatal(err)
	}
	names := xrayNames(t, filepath.Join(dir, "calls"))
	trace := log.Processes[0].Trace(xray.Place{Function: func(id uint32) (uint64, bool) { return uint64(id), true }})
	threads, err := trace.Threads(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	pairs, seen, inside, elsewhere := 0, 0, 0, 0
	var missed []string
	for _, thread := range threads {
		var mine []shownCall
		for _, s := range samples {
			if s.event != "cpu-clock" || s.tid != int(thread.TID()) {
				continue
			}
			// Libraries have no frame pointers, and XRay's runtime and that of exceptions have
			// none: callchains from inside them end there, or lack callers.
			if len(s.chain) == 0 || !slices.Contains(names, s.chain[0]) {
				elsewhere++
				continue
			}
			mine = append(mine, s)
		}
		in := make(map[int]bool)
		stack := calls.NewStack(thread)
		for {
			var e calls.Event
			if stack.Next(&e) != nil {
				break
			}
			if e.Inferred || e.Kind == calls.Note {
				continue
			}
			name := names[e.Stack[len(e.Stack)-1]]
			i, _ := slices.BinarySearchFunc(mine, e.Time-e.Inclusive, func(s shownCall, time uint64) int { return int(int64(s.time - time)) })
			for ; i < len(mine) && mine[i].time <= e.Time; i++ {
				in[i] = true
				pairs++
				if slices.Contains(mine[i].chain, name) {
					seen++
				} else if len(missed) < 5 {
					missed = append(missed, fmt.Sprintf("%d: %s from %d to %d, %v", mine[i].time, name, e.Time-e.Inclusive, e.Time, mine[i].chain))
				}
			}
		}
		inside += len(in)
	}
	if share := float64(seen) / float64(pairs); inside < 50 || share < 0.99 || elsewhere > inside {
		t.Errorf("perf %s: in %d of %d cases a sample has the function in its callchain that ran by the log, in %d samples, %d more in other code: %.2f %%\n%s", version, seen, pairs, inside, elsewhere, 100*share, strings.Join(missed, "\n"))
	} else {
		t.Logf("perf %s: in %d of %d cases (%.2f %%) a sample has the function in its callchain that ran by the log, in %d samples; %d more in other code", version, seen, pairs, 100*share, inside, elsewhere)
	}
}

// xrayNames returns the functions of a program by number, without parameters.
func xrayNames(t *testing.T, path string) (names []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	f, err := elffile.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	m, err := xraymap.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	symbols := m.Names(f)
	for _, y := range symbols {
		name, _, _ := strings.Cut(y.Name, "(")
		names = append(names, name)
	}
	return names
}

// Recorded once: with the processor's clock and exceptions, and with an emulated clock.
func TestXRay_RecordedPrograms(t *testing.T) {
	for _, name := range []string{"xray-tsc", "xray-emulated"} {
		t.Run(name, func(t *testing.T) { checkXRay(t, testrec.Place(t, name)) })
	}
}

// Built and recorded here, by the clang that is installed.
func TestXRay_FreshBuild(t *testing.T) {
	clang := testrec.Tool(t, "clang++-14", "clang++", "clang++-16", "clang++-19", "clang++-22")
	llvmXray := testrec.Tool(t, "llvm-xray-14", "llvm-xray", "llvm-xray-16", "llvm-xray-19", "llvm-xray-22")
	testrec.Fresh(t)
	for _, test := range []struct {
		name, link, every, buffers string
	}{
		{"position-independent, exceptions", "-pie", "3", "buffer_size=16384 buffer_max=1000"},
		{"at fixed addresses", "-no-pie", "0", "buffer_size=65536 buffer_max=100"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			compile := []string{"-O1", "-fno-omit-frame-pointer", "-fxray-instrument", "-pthread", "-o", "calls", testrec.Path("xray", "calls.cc"), testrec.Path("..", "cmd", "jitinject", "help", "recorder.cc")}
			if test.link == "-pie" {
				compile = append([]string{"-fPIE"}, compile...)
			}
			if out, err := testrec.Command(t, dir, clang, append([]string{test.link}, compile...)...).CombinedOutput(); err != nil {
				if bytes.Contains(out, []byte("clang_rt.xray")) {
					testrec.Missing(t, "libclang-rt-14-dev, XRay's runtime:\n%s", out)
				}
				t.Fatalf("unexpected error: %v\n%s", err, out)
			}
			// llvm-xray gives up where threads' records are not in the order that it wants.
			for tries := 1; ; tries++ {
				recordXRay(t, dir, "XRAY_FDR_OPTIONS=func_duration_threshold_us=0 "+test.buffers, "./calls", "100", "40000", test.every)
				if test.every != "0" {
					break
				}
				var stderr bytes.Buffer
				cmd := testrec.Command(t, dir, llvmXray, "account", "xray-log.calls", "--instr_map=calls", "--format=csv")
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				if err == nil {
					if err := os.WriteFile(filepath.Join(dir, "account.csv"), out, 0o600); err != nil {
						t.Fatal(err)
					}
					break
				}
				if tries == 10 {
					t.Fatalf("llvm-xray account: %v\n%s", err, &stderr)
				}
			}
			checkXRay(t, dir)
		})
	}
}

// recordXRay records a program that logs its calls, and gives its trace the name that it has
// in testdata.
func recordXRay(t *testing.T, dir, options string, command ...string) {
	t.Helper()
	record := testrec.Command(t, dir, testrec.Tool(t, "perf"), append([]string{"record", "-q", "-k", "mono", "-e", "cpu-clock", "-F", "2000", "-g", "-o", "perf.data"}, command...)...)
	record.Env = append(record.Env, "XRAY_OPTIONS=xray_logfile_base=./xray-log.", options)
	counts, err := record.Output()
	if err != nil {
		t.Fatal(err)
	}
	logs, _ := filepath.Glob(filepath.Join(dir, "xray-log.calls.*"))
	if len(logs) != 1 {
		t.Fatalf("traces: %v", logs)
	}
	if err := os.Rename(logs[0], filepath.Join(dir, "xray-log.calls")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "counts.txt"), counts, 0o600); err != nil {
		t.Fatal(err)
	}
}
