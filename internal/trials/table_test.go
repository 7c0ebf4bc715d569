package trials

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
)

var (
	writeTable = flag.Bool("write", false, "write the table into docs/record-results.md")
	pairs      = flag.Int("pairs", 7, "pairs of runs for each row")
	rows       = flag.String("rows", "", "a regular expression of ways; the table has only these")
)

// An own way is how a runtime writes its dump with its own flags, under perf record.
type ownWay struct {
	way     string
	env     string // NAME=VALUE, or ""
	command string
	work    int    // calls of the hot function, a second or so
	stacks  string // options of perf record
}

var ownWays = []ownWay{
	{"node", "", "node --perf-prof hot.js", 8000, "-g"},
	{"java", "", "java -agentpath:BUILT/libjitinject-jvmti.so=dir=DIR -XX:+PreserveFramePointer -cp BUILT Hot", 12000, "-g"},
	{"php", "", "php -d opcache.enable_cli=1 -d opcache.jit_buffer_size=64M -d opcache.jit=tracing -d opcache.jit_debug=32 -d opcache.file_update_protection=0 hot.php", 30000, "--call-graph dwarf,16384"},
	{"python", "", "python3.13 -X perf_jit hot.py", 20000, "--call-graph dwarf,65528"},
	{"escript", "ERL_FLAGS=+JPperf true", "escript hot.escript", 5000, "-g"},
	{"mono", "MONO_DEBUG=disable_omit_fp", "mono --profile=log:nodefaults,jit,output=DIR/x.mlpd BUILT/Hot.exe", 12000, "-g"},
	{"lli", "JITDUMPDIR=DIR", "lli --jit-kind=mcjit BUILT/hot.bc", 12000, "-g"},
	{"npm-start", "NODE_OPTIONS=--perf-prof", "npm start", 12000, "-g"},
	{"deno", "", "deno run --v8-flags=--perf-prof,--perf-prof-path=DIR -A hot.cjs", 12000, "-g"},
	{"bun", "BUN_JSC_useJITDump=1 BUN_JSC_jitDumpDirectory=DIR", "bun hot.js", 8000, "-g"},
	{"java-jar", "", "java -agentpath:BUILT/libjitinject-jvmti.so=dir=DIR -XX:+PreserveFramePointer -jar BUILT/Hot.jar", 12000, "-g"},
	{"fork", "NODE_OPTIONS=--perf-prof", "node fork.js", 12000, "-g"},
	{"script", "NODE_OPTIONS=--perf-prof", "sh run.sh", 12000, "-g"},
	{"npx", "NODE_OPTIONS=--perf-prof", "npx trial", 12000, "-g"},
}

// A row is what was measured of a way.
type row struct {
	way                    string
	samples, jitted, names int
	whole                  int        // of the samples with a jitted frame, percent
	alone, recorded        int        // exit codes of the program that ends with 7
	elapsed, processor     [3]float64 // extra time, percent: the median, and the quartiles
}

// With -write, the table of the documentation: make check does not measure.
func TestRecord_Table(t *testing.T) {
	if !*writeTable {
		testrec.Skip(t, "make record measures, and writes docs/record-results.md")
	}
	testrec.CanRecord(t)
	os.Setenv("JITINJECT_ALL", "1") // programs from npm, too
	before := load()
	var table []row
	for _, o := range ownWays {
		if !regexp.MustCompile(*rows).MatchString(o.way) {
			continue
		}
		t.Run(o.way, func(t *testing.T) {
			w, _ := find(t, o.way, "normal")
			table = append(table, o.measure(t, w))
			t.Logf("%+v", table[len(table)-1])
			writePage(t, table, before)
		})
	}
	if len(table) == 0 {
		t.Fatal("nothing was measured")
	}
}

// measure records a way once for its samples, once for its exit code, and in pairs for its time.
func (o *ownWay) measure(t *testing.T, w *way) (r row) {
	t.Helper()
	r.way = w.command
	s := w.site(t, "", 0)
	if w.early { // of java: FindAgent looks beside the program
		javaAgent.need(t)
	}
	p := s.start("normal", false, append([]string{program, "record", "-F", "499"}, w.words(s)...)...)
	if code := p.wait(); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.stderr.String())
	}
	n := s.summary().Samples
	r.samples, r.jitted, r.names = n.Total, n.InJittedCode+n.WithoutDump, n.Resolved
	ctx, cancel := context.WithTimeout(t.Context(), 3*within)
	defer cancel()
	samples, err := judge.Script(ctx, testrec.Tool(t, "perf"), s.path("perf.jit.data"))
	s.must(err)
	r.whole = w.wholeStacks(samples)
	r.alone = s.start("code", false, append(strings.Fields(w.alone), w.words(s)...)...).wait()
	r.recorded = s.start("code", false, append([]string{program, "record", "-q", "-F", "499"}, w.words(s)...)...).wait()

	var elapsed, user []float64
	for i := range *pairs {
		var ours, theirs [2]float64
		for k := range 2 { // interleaved: the machine may get slower
			if (i+k)%2 == 0 {
				ours = o.time(t, w, true)
			} else {
				theirs = o.time(t, w, false)
			}
		}
		elapsed = append(elapsed, (ours[0]/theirs[0]-1)*100)
		user = append(user, (ours[1]/theirs[1]-1)*100)
	}
	r.elapsed, r.processor = quartiles(elapsed), quartiles(user)
	return r
}

// wholeStacks returns the share of stacks with code of JIT compilers that reach the bottom, in percent.
func (w *way) wholeStacks(samples []judge.Sample) int {
	jitted, whole := 0, 0
	for i := range samples {
		if !samples[i].Jitted() {
			continue
		}
		jitted++
		isBottom := func(f judge.Frame) bool { return w.bottom != "" && f.Jitted() && strings.Contains(f.Symbol, w.bottom) }
		if samples[i].Whole() || slices.ContainsFunc(samples[i].Frames, isBottom) {
			whole++
		}
	}
	return whole * 100 / max(1, jitted)
}

// quartiles returns the median, and the numbers at a quarter and at three quarters.
func quartiles(values []float64) [3]float64 {
	slices.Sort(values)
	n := len(values)
	return [3]float64{(values[(n-1)/2] + values[n/2]) / 2, values[n/4], values[n*3/4]}
}

// timer prints the seconds that a command ran, and those of the processor, into a file.
const timer = `TIMEFORMAT='%R %U %S'; { time "${@:2}" 2>&3; } 3>&2 2>"$1"`

// time runs the program under jitinject record, or under perf record with the runtime's own flags. It
// returns the seconds of the program, without perf's and jitinject's, and its processor time.
func (o *ownWay) time(t *testing.T, w *way, record bool) (seconds [2]float64) {
	t.Helper()
	s := w.site(t, "", 0)
	file := filepath.Join(s.signs, "time")
	timed := []string{testrec.Tool(t, "bash"), "-c", timer, "time", file}
	stacks := strings.Fields(o.stacks)
	fill := strings.NewReplacer("BUILT", built, "DIR", s.dir)
	s.env = append(s.env, "TRIAL_WORK="+strconv.Itoa(o.work))
	argv := append(append([]string{program, "record", "-q", "-F", "499"}, stacks...), append(timed, w.words(s)...)...)
	if !record {
		for variable := range strings.FieldsSeq(strings.ReplaceAll(o.env, "+JPperf true", "+JPperf\x00true")) {
			s.env = append(s.env, fill.Replace(strings.ReplaceAll(variable, "\x00", " ")))
		}
		argv = append([]string{"perf", "record", "-q", "-k", "mono", "-F", "499", "-o", "perf.data"}, append(stacks, append(timed, strings.Fields(fill.Replace(o.command))...)...)...)
	}
	p := s.start("work", false, argv...)
	if code := p.wait(); code != 0 {
		t.Fatalf("%q: exit code %d\n%s", argv, code, p.stderr.String())
	}
	text, err := os.ReadFile(file)
	s.must(err)
	var real, user, sys float64
	if _, err := fmt.Sscan(string(text), &real, &user, &sys); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return [2]float64{real, user + sys}
}

// load returns the load of the machine, of the last minute.
func load() string {
	b, _ := os.ReadFile("/proc/loadavg")
	first, _, _ := strings.Cut(string(b), " ")
	return first
}

// writePage writes docs/record-results.md.
func writePage(t *testing.T, table []row, before string) {
	t.Helper()
	version, err := judge.Version(t.Context(), testrec.Tool(t, "perf"))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Results of jitinject record

Written by `+"`make record`"+`, with perf %s, the last rows
at a load of %s before and %s after. [The program](../internal/trials/testdata/README.md) spends its time in one function.

* **resolved**: the samples in code of JIT compilers that have a name. Those of java that are missing
  ran before their record was in the dump.
* **whole stacks**: of the stacks with such code, those that reach the bottom. For Erlang that is
  normal_exit, for Mono and lli runtime_invoke and main, where compiled code begins.
* **exit code**: of a program that ends with 7, alone and recorded.
* **processor**, **elapsed**: extra time under `+"`jitinject record`"+`, compared with `+"`perf record`"+` and the
  runtime's own flags for a dump, without perf's and jitinject's own time. The median of %d interleaved
  pairs, in brackets the quartiles.

| command | resolved | whole stacks | exit code | processor | elapsed |
|---|---|---|---|---|---|
`, version, before, load(), *pairs)
	path := filepath.Join("..", "..", "docs", "record-results.md")
	lines := make(map[string]string) // by command; those of earlier runs stay
	if old, err := os.ReadFile(path); err == nil {
		for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|.*$").FindAllStringSubmatch(string(old), -1) {
			lines[m[1]] = m[0]
		}
	}
	for _, r := range table {
		resolved := "only callers"
		if r.jitted > least {
			resolved = fmt.Sprintf("%d of %d", r.names, r.jitted)
		}
		lines[plain(r.way)] = fmt.Sprintf("| `%s` | %s | %d %% | %d, %d | %s | %s |", plain(r.way), resolved, r.whole, r.alone, r.recorded, percent(r.processor), percent(r.elapsed))
	}
	for _, o := range ownWays {
		w, _ := find(t, o.way, "normal")
		if line, ok := lines[plain(w.command)]; ok {
			fmt.Fprintln(&b, line)
		}
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// percent words extra time.
func percent(of [3]float64) string {
	return strings.ReplaceAll(fmt.Sprintf("%+.0f %% (%+.0f to %+.0f)", of[0], of[1], of[2]), "-0", "+0")
}

// plain removes the directory of built files from a command.
func plain(command string) string {
	return strings.NewReplacer("-cp BUILT ", "", "BUILT/", "").Replace(command)
}
