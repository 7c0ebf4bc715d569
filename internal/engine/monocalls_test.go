package engine_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/format/monolog"
	"github.com/jitinject/jitinject/internal/format/monolog/monogen"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/runtime/mono"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// How often testdata/mono-calls/calls.cs calls its methods.
var monoCallCounts = map[string]int{
	"Calls:Main (string[])": 1, "Calls:Second ()": 1, "Calls:Outer (int)": 2, "Calls:Inner (int)": 700,
	"Calls:Spin (int)": 700 + 70, "Calls:Fib (int)": 1973, "Calls:Catcher ()": 70, "Calls:Thrower (int)": 4 * 70,
}

// What a recording with Mono's calls must show.
func TestMono_CallsInRecording(t *testing.T) {
	t.Run("recorded", func(t *testing.T) {
		checkMonoCalls(t, testrec.Unpack(t, "mono-calls"), func(*config.Options) {})
	})
	t.Run("fresh", func(t *testing.T) {
		testrec.CanRecord(t)
		mono, mcs := testrec.Tool(t, "mono"), testrec.Tool(t, "mcs")
		dir := t.TempDir()
		testrec.Run(t, dir, mcs, "-optimize", "-out:calls.exe", testrec.Path("mono-calls", "calls.cs"))
		testrec.Run(t, dir, testrec.Tool(t, "perf"), "record", "-q", "-F", "1999", "-e", "cpu-clock", "-g", "-k", "mono", "-o", "perf.data",
			mono, "--profile=log:calls,output=app.mlpd", "calls.exe")
		report := testrec.Run(t, dir, testrec.Tool(t, "mprof-report"), "--reports=call", "app.mlpd")
		if err := os.WriteFile(filepath.Join(dir, "calls.txt"), []byte(report), 0o600); err != nil {
			t.Fatal(err)
		}
		checkMonoCalls(t, dir, func(*config.Options) {})
	})
	t.Run("compressed", func(t *testing.T) {
		dir := testrec.Unpack(t, "mono-calls")
		testrec.Run(t, dir, testrec.Tool(t, "gzip"), "app.mlpd")
		checkMonoCalls(t, dir, func(o *config.Options) {
			o.SideFiles = []config.SideFile{{Kind: formats.Mono, Path: filepath.Join(dir, "app.mlpd.gz")}}
		})
	})
	t.Run("sampled bundles", func(t *testing.T) { // what is called is touched
		checkMonoCalls(t, testrec.Unpack(t, "mono-calls"), func(o *config.Options) { o.Sampled, o.Bundle = true, true })
	})
}

// checkMonoCalls injects a recording with its log, which is found without being named.
func checkMonoCalls(t *testing.T, dir string, set func(*config.Options)) {
	opts := config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data")}
	log := filepath.Join(dir, "app.mlpd")
	if set(&opts); len(opts.SideFiles) > 0 {
		log = opts.SideFiles[0].Path
	}
	sum, err := engine.Run(t.Context(), opts)
	if err != nil || !sum.Complete() || len(sum.Traces) != 1 {
		t.Fatalf("got %s, %v; want no error, nothing missing, 1 trace", asJSON(sum), err)
	}
	want := tracedThreads(t, log)
	c := sum.Traces[0]
	if c.Inferred != 0 || c.Unmatched != 0 || c.Gaps != 0 || c.Unknown != 0 || c.Event != "mono" || int(c.Threads) != len(want) {
		t.Errorf("summary %+v, and %d threads have logged calls", c, len(want))
	}
	reported := reportedCalls(t, filepath.Join(dir, "calls.txt"))
	for version, perf := range testrec.Perfs(t) {
		calls, self, threads := map[string]int{}, map[string]uint64{}, map[string]uint64{}
		second := ""
		for line := range strings.Lines(scripted(t, perf, dir, opts.Output, "mono")) {
			f := strings.SplitN(strings.TrimSpace(line), " ", 5) // thread, time, event, period, stack
			period, err := strconv.ParseUint(f[3], 10, 64)
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			name, _, _ := strings.Cut(f[4], "<")
			if strings.HasPrefix(f[4], "(wrapper runtime-invoke) <Module>:") { // a name with a < in it
				name = "(wrapper runtime-invoke) <Module>:" + strings.SplitN(f[4], "<", 3)[1][len("Module>:"):]
			}
			calls[name]++
			self[name] += period
			threads[f[0]] += period
			if strings.HasPrefix(f[4], "Calls:Second ()") {
				second = f[0]
			}
			if name == "Calls:Spin (int)" && !strings.HasPrefix(f[4], "Calls:Spin (int)<Calls:Inner (int)<Calls:Outer (int)<") && !strings.HasPrefix(f[4], "Calls:Spin (int)<Calls:Catcher ()<") {
				t.Fatalf("perf %s: a call of Spin from %s", version, f[4])
			}
		}
		for name, n := range monoCallCounts {
			if calls[name] != n {
				t.Errorf("perf %s: %d calls of %s, want %d", version, calls[name], name, n)
			}
		}
		for name, r := range reported { // cuts off milliseconds
			if calls[name] != r.calls || self[name]/1e6 != r.self {
				t.Errorf("perf %s: %d calls of %s and %d ms in them; mprof-report has %d and %d", version, calls[name], name, self[name]/1e6, r.calls, r.self)
			}
		}
		if got := slices.Sorted(maps.Values(threads)); !slices.Equal(got, want) {
			t.Errorf("perf %s: threads have %v ns, want %v", version, got, want)
		}
		// The thread that the program calls second is the one that the kernel does.
		if out := testrec.Run(t, dir, perf, "script", "-G", "-F", "comm,tid,event", "-i", opts.Output); !regexp.MustCompile(`(?m)^ *second +` + second + ` +mono:`).MatchString(out) {
			t.Errorf("perf %s: thread %s is not called second", version, second)
		}
		if out := testrec.Run(t, dir, perf, "report", "--stdio", "-g", "none", "-i", opts.Output); !strings.Contains(out, "of event 'cpu-clock") || !strings.Contains(out, "of event 'mono'") {
			t.Errorf("perf %s does not report both events:\n%s", version, out)
		}
	}
	verifyAll(t, opts.Output)
}

func verifyAll(t *testing.T, path string) {
	t.Helper()
	result, err := checks.Verifier().File(t.Context(), path, verify.Options{All: true, Emit: func(c verify.Diagnostic) {
		if c.Severity == verify.Error {
			t.Errorf("verify: %s: %s", c.Rule, c.Text)
		}
	}})
	if err != nil || result.Errors > 0 {
		t.Errorf("verify: %+v, %v", result, err)
	}
}

type reportedCall struct {
	calls int
	self  uint64 // milliseconds
}

// reportedCalls reads what mprof-report says: total and self milliseconds, calls, name.
// It leaves out what took less than a millisecond, so wrappers may be several of one name,
// of which it has only some; they are passed over.
func reportedCalls(t *testing.T, path string) map[string]reportedCall {
	t.Helper()
	reported := make(map[string]reportedCall)
	for line := range strings.Lines(string(read(t, path))) {
		var total, self uint64
		var n int
		if k, _ := fmt.Sscan(line, &total, &self, &n); k != 3 {
			continue
		}
		name := strings.TrimSpace(regexp.MustCompile(`^ *\d+ +\d+ +\d+ `).ReplaceAllString(line, ""))
		if !strings.HasPrefix(name, "(wrapper runtime-invoke)") {
			reported[name] = reportedCall{n, self}
		}
	}
	if len(reported) < 5 {
		t.Fatalf("%s has %d methods", path, len(reported))
	}
	return reported
}

// tracedThreads returns for how long each thread of a log was in any method: read in the
// plainest way, by the depth of the stack alone, which works where nothing is missing.
func tracedThreads(t *testing.T, path string) []uint64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := monolog.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	type state struct{ depth, since, sum uint64 }
	threads := make(map[uint64]*state)
	for {
		b, err := r.NextBuffer()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		for {
			e, err := r.Next()
			if err != nil {
				break
			}
			s := threads[b.Thread]
			switch e.Kind {
			case monolog.KindEnter:
				if s == nil {
					s = new(state)
					threads[b.Thread] = s
				}
				if s.depth == 0 {
					s.since = e.Time
				}
				s.depth++
			case monolog.KindLeave, monolog.KindExcLeave:
				if s.depth--; s.depth == 0 {
					s.sum += e.Time - s.since
				}
			}
		}
	}
	var sums []uint64
	for _, s := range threads {
		sums = append(sums, s.sum)
	}
	slices.Sort(sums)
	return sums
}

// The methods that Mono loses are where no process has anything.
func TestMono_MethodsWithoutPlace(t *testing.T) {
	dir := testrec.Unpack(t, "mono-calls")
	f, err := os.Open(filepath.Join(dir, "app.mlpd"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	log, err := mono.ReadLog(f)
	if err == nil {
		err = log.Scan(t.Context())
	}
	if err != nil || log.Made == 0 || log.Made > log.Addressless {
		t.Fatalf("%d of %d methods got a place, %v", log.Made, log.Addressless, err)
	}
	made := 0
	for i := range log.NumFunctions() {
		if addr, size := log.FunctionPlace(i); mono.IsUnplaced(addr) {
			made++
		} else if addr>>47 != 0 || size == 0 {
			t.Errorf("%s is at %#x", log.FunctionName(i), addr)
		}
	}
	if made != log.Made {
		t.Errorf("%d functions at such places, %d were made", made, log.Made)
	}
}

// Threads that cannot be told apart keep their calls for themselves, under numbers that
// no thread has and the names that the log knows.
func TestMono_ThreadsThatCannotBeMatched(t *testing.T) {
	w := newWorld(t)
	w.Comm(tracePID, 1000, "mono", true)
	w.Sample(tracePID, 1500, 0x400000)
	w.Exit(tracePID, tracePID, 9000)
	var log bytes.Buffer
	mw, err := monogen.NewWriter(&log, &monolog.Header{Major: 3, Version: 17, PtrSize: 8, StartupTime: 1100, PID: tracePID, Arch: "x86-64"})
	if err != nil {
		t.Fatal(err)
	}
	event := func(kind monolog.Kind, time, method uint64, name string) {
		t.Helper()
		e := &monolog.Event{Kind: kind, Time: time, Method: method, Name: []byte(name)}
		if kind == monolog.KindThread {
			e.Pointer, e.Method = method, 0
		}
		if err := mw.Event(e); err != nil {
			t.Fatal(err)
		}
	}
	mw.Buffer(monolog.BufferHeader{Time: 1200, Thread: 0x99, MethodBase: 0x5000})
	event(monolog.KindJIT, 1200, 0x5000, "App:One ()")
	for i := range uint64(2) {
		self := 0x10 + 0x10*i
		mw.Buffer(monolog.BufferHeader{Time: 2000, Thread: self, MethodBase: 0x5000})
		if i == 1 {
			event(monolog.KindThread, 2000, self, "the worker")
		}
		event(monolog.KindEnter, 2000, 0x5000, "")
		event(monolog.KindLeave, 2010+i, 0x5000, "")
	}
	mw.Flush()
	if err := os.WriteFile(w.path("app.mlpd"), log.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, PID: tracePID, Path: w.path("app.mlpd")}}
	sum, err := w.run()
	if err != nil || !sum.Complete() || len(sum.Traces) != 1 || sum.Traces[0].Unknown != 2 {
		t.Fatalf("got %s, %v; want no error, nothing missing, 1 trace, Traces[0].Unknown = 2", asJSON(sum), err)
	}
	for version, perf := range testrec.Perfs(t) {
		out := testrec.Run(t, w.dir, perf, "script", "-G", "--ns", "-F", "comm,pid,tid,time,event,ip,sym", "-i", w.opts.Output)
		for _, line := range []string{` mono-thread +4711/4194305 +0.000002010: +mono: +4d4f4e4f00000000 App:One \(\)`, ` the worker +4711/4194306 +0.000002011: +mono: +4d4f4e4f00000000 App:One \(\)`} {
			if !regexp.MustCompile(`(?m)^ *` + line[1:] + `$`).MatchString(out) {
				t.Errorf("perf %s: no %q in\n%s", version, line, out)
			}
		}
	}
	verifyAll(t, w.opts.Output)
}
