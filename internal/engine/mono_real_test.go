package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Mono for real: recordings of version 17 and of version 1 of its logs, and a fresh one.

// A memory is a range of addresses of a process, from a time on.
type memory struct {
	pid    string
	lo, hi uint64
}

var mmapLine = regexp.MustCompile(`PERF_RECORD_MMAP2 (\d+)/\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ .*\]: r.xp //anon$`)

// madeMemory returns the anonymous executable memory of processes, as perf script shows it.
func madeMemory(t *testing.T, dir, perf, input string) (all []memory) {
	t.Helper()
	for line := range strings.Lines(testrec.Run(t, dir, perf, "script", "-f", "--show-mmap-events", "-F", "comm,pid,time", "-i", input)) {
		if m := mmapLine.FindStringSubmatch(strings.TrimSpace(line)); m != nil {
			lo, _ := strconv.ParseUint(m[2], 16, 64)
			n, _ := strconv.ParseUint(m[3], 16, 64)
			all = append(all, memory{m[1], lo, lo + n})
		}
	}
	if len(all) == 0 {
		t.Fatal("no process has anonymous executable memory")
	}
	return all
}

// namedInMemory counts the samples of a result whose address is in such memory, and those of
// them that perf shows in a function of an object.
func namedInMemory(t *testing.T, dir, perf, result string, in []memory) (named, all int) {
	t.Helper()
	sample := regexp.MustCompile(`^\s*(\d+)\s+([0-9a-f]+) (.*) \((.*)\)$`)
	for line := range strings.Lines(testrec.Run(t, dir, perf, "script", "-f", "-G", "--no-inline", "-F", "pid,ip,sym,dso", "-i", result)) {
		m := sample.FindStringSubmatch(strings.TrimRight(line, "\n"))
		if m == nil {
			continue
		}
		ip, _ := strconv.ParseUint(m[2], 16, 64)
		for _, r := range in {
			if r.pid == m[1] && ip >= r.lo && ip < r.hi {
				all++
				if strings.Contains(m[4], "/jit") && m[3] != "[unknown]" {
					named++
				}
				break
			}
		}
	}
	return named, all
}

// checkMono injects a recording of Mono, in all layouts, and looks at it with every perf.
func checkMono(t *testing.T, dir string, opts config.Options, least int, hot string, callers ...string) *report.Summary {
	t.Helper()
	in := madeMemory(t, dir, testrec.Tool(t, "perf"), opts.Input)
	var first *report.Summary
	alone := layouts[0]
	alone.name, alone.bundle, alone.sampled = "alone", false, false
	for _, layout := range append(slices.Clone(layouts), alone) {
		opts.Output = filepath.Join(dir, "out-"+layout.name+".data")
		opts.Objects = filepath.Join(dir, "objects-"+layout.name)
		opts.Bundle, opts.Sampled = layout.bundle, layout.sampled
		sum, err := engine.Run(t.Context(), opts)
		if err != nil || !sum.Complete() {
			t.Fatalf("%s: got %s, %v; want no error, nothing missing", layout.name, asJSON(sum), err)
		}
		if first == nil {
			first = sum
		}
		for version, perf := range testrec.Perfs(t) {
			named, all := namedInMemory(t, dir, perf, opts.Output, in)
			t.Logf("%s, perf %s: %d of %d samples in memory that Mono made have a name", layout.name, version, named, all)
			if all < least || named*100 < all*95 {
				t.Errorf("%s, perf %s: %d of %d", layout.name, version, named, all)
			}
			report := testrec.Run(t, dir, perf, "report", "-f", "--stdio", "--no-children", "-g", "none", "-s", "sym", "-i", opts.Output)
			if top := topLine(report); !strings.HasSuffix(top, "[.] "+hot) {
				t.Errorf("%s, perf %s: the hottest function is %q", layout.name, version, top)
			}
			if len(callers) == 0 {
				continue
			}
			chains := testrec.Run(t, dir, perf, "script", "-f", "--no-inline", "-F", "ip,sym", "-i", opts.Output)
			want := hot
			for _, c := range callers {
				want += `\n\s*[0-9a-f]+ ` + regexp.QuoteMeta(c)
			}
			want = strings.Replace(want, hot, regexp.QuoteMeta(hot), 1)
			if n := len(regexp.MustCompile(want).FindAllString(chains, -1)); n < least/4 {
				t.Errorf("%s, perf %s: %s was called by %v in %d samples", layout.name, version, hot, callers, n)
			}
		}
	}
	return first
}

// topLine is the first line of a report with a number.
func topLine(report string) string {
	for line := range strings.Lines(report) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			return line
		}
	}
	return ""
}

// monoCallers call the hot method of testdata/mono.cs.
var monoCallers = []string{"App:CountPrimes (int)", "App/<Main>c__AnonStorey0:<>m__0 ()"}

// Recorded data: the log is found by perf's command line.
func TestMono_RecordedProgram(t *testing.T) {
	dir := testrec.Unpack(t, "mono")
	sum := checkMono(t, dir, config.Options{Input: filepath.Join(dir, "perf.data")}, 200, "App:IsPrime (int)", monoCallers...)
	if d := sum.Dumps[0]; d.Merged < 30 || d.InImages < 200 || d.Nowhere != 0 || d.Functions < 1000 {
		t.Errorf("got %+v; want Merged >= 30, InImages >= 200, Nowhere = 0, Functions >= 1000", d)
	}
	// Names over the image of the class library.
	for version, perf := range testrec.Perfs(t) {
		for _, over := range []bool{false, true} {
			opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "aot.data"), Objects: filepath.Join(dir, "aot"), Precompiled: over}
			if _, err := engine.Run(t.Context(), opts); err != nil {
				t.Fatal(err)
			}
			chains := testrec.Run(t, dir, perf, "script", "-f", "--no-inline", "-F", "ip,sym", "-i", opts.Output)
			if n := strings.Count(chains, "System.Threading.ThreadHelper:ThreadStart_Context (object)"); over != (n > 100) {
				t.Errorf("perf %s, over images %v: %d calls by a method in one", version, over, n)
			}
		}
	}
}

// A log of 2010: no pid, no machine.
func TestMono_LogOf2010(t *testing.T) {
	dir := testrec.Unpack(t, "mono-2010")
	opts := config.Options{Input: filepath.Join(dir, "perf.data"), SideFiles: []config.SideFile{{Kind: formats.Mono, Path: filepath.Join(dir, "v1-core.mlpd")}}}
	sum := checkMono(t, dir, opts, 90, "Demo:Leaf (int)")
	if d := sum.Dumps[0]; d.PID != 7361 || d.Functions != 360 || d.InImages != 273 {
		t.Errorf("got %+v; want PID = 7361, Functions = 360, InImages = 273", d)
	}
	opts.SideFiles = nil // and found
	if sum := checkMono(t, dir, opts, 90, "Demo:Leaf (int)"); sum.Dumps[0].PID != 7361 {
		t.Errorf("got %s; want Dumps[0].PID = 7361", asJSON(sum))
	}
}

// A fresh recording.
func TestMono_FreshRecording(t *testing.T) {
	testrec.Fresh(t)
	mono, mcs := testrec.Tool(t, "mono"), testrec.Tool(t, "mcs")
	dir := t.TempDir()
	testrec.Run(t, dir, mcs, "-out:App.exe", testrec.Path("mono.cs"))
	perf := testrec.Tool(t, "perf")
	for seconds := 1.5; ; seconds *= 2 { // a busy machine gives the program little time
		cmd := testrec.Command(t, dir, perf, "record", "-q", "-o", "perf.data", "-e", "cpu-clock", "-F", "999", "-k", "mono", "-g",
			mono, "--profile=log:nodefaults,jit,output=app.mlpd", "App.exe", fmt.Sprint(seconds))
		cmd.Env = append(cmd.Env, "MONO_DEBUG=disable_omit_fp")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("unexpected error: %v\n%s", err, out)
		}
		if samples := strings.Count(testrec.Run(t, dir, perf, "script", "-G", "-F", "ip", "-i", "perf.data"), "\n"); samples >= 800 || seconds > 20 {
			break
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "app.mlpd")); err != nil {
		testrec.Missing(t, "Mono's log profiler (libmono-profiler): %v", err)
	}
	checkMono(t, dir, config.Options{Input: filepath.Join(dir, "perf.data")}, 300, "App:IsPrime (int)", monoCallers...)
}
