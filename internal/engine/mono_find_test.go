package engine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
)

// Finding Mono's logs, and what is said where there is none.

// Logs are found by what perf record's command line says of them, beside the recording.
func TestMono_LogFoundByCommandLine(t *testing.T) {
	for _, c := range []struct {
		args []string
		file string // "" for none
		text string // of the reason then
	}{
		{[]string{"mono", "--profile=log:nodefaults,jit,output=app.mlpd", "App.exe"}, "app.mlpd", ""},
		{[]string{"mono", "--profile=log:nodefaults,jit,output=sub/app.mlpd", "App.exe"}, "app.mlpd", ""},
		{[]string{"mono", "--profile=log:jit,output=/gone/app.mlpd", "App.exe"}, "app.mlpd", ""},
		{[]string{"mono", "--profile=log", "App.exe"}, "output.mlpd", ""},
		{[]string{"mono", "--profile=log:output=+app.mlpd", "App.exe"}, "app.mlpd.100", ""},
		{[]string{"mono", "--profile=log:output=-app.mlpd,jit", "App.exe"}, "app.mlpd", ""},
		{[]string{"mono", "--profile=log:output=%p-%t.mlpd", "App.exe"}, "100-20261122031500.mlpd", ""},
		{[]string{"mono", `--profile=log:output="a,b.mlpd"`, "App.exe"}, "a,b.mlpd", ""},
		{[]string{"mono", "--profile=log:output=a[1].mlpd", "App.exe"}, "a[1].mlpd", ""},
		{[]string{"sh", "-c", "cd x && mono --profile=log:jit,output=app.mlpd App.exe"}, "app.mlpd", ""},
		{[]string{"env", "MONO_ENV_OPTIONS=--debug --profile=log:output=app.mlpd", "mono", "App.exe"}, "app.mlpd", ""},
		{[]string{"run.sh"}, "output.mlpd", ""}, // whose it is, it says
		{[]string{"/lib64/ld-linux-x86-64.so.2"}, "what.mlpd.7", ""},
		{nil, "app.mlpd.100", ""},
		{nil, "", "does not say what that is called"},
		{[]string{"sh", "-c", `mono "--profile=log:nodefaults,jit,output=a b.log" App.exe`}, "a b.log", ""},
		{[]string{"sh", "-c", `cd x; MONO_ENV_OPTIONS='--debug --profile=log:output=a.log' mono App.exe`}, "a.log", ""},
		{[]string{"sh", "-c", `(mono --profile=log:output=a\ "b c".log)>it`}, "a b c.log", ""},
		{[]string{"mono", "--profile=log:output=gone.mlpd", "App.exe"}, "app.mlpd", ""}, // it was moved since
		{[]string{"mono", "--profile=log:report", "App.exe"}, "", "the file of its log is unknown"},
		{[]string{"mono", "--profile=log:output=|mprof-report -", "App.exe"}, "", "the file of its log is unknown"},
		{[]string{"mono", "--profile=log:output=app.mlpd", "App.exe"}, "", "its log app.mlpd is not in"},
		{[]string{"mono", "--profile=log:output=+app.mlpd", "App.exe"}, "", "its log app.mlpd.* is not in"},
	} {
		w := newWorld(t)
		w.Cmdline = append([]string{"/usr/bin/perf", "record", "-k", "mono"}, c.args...)
		w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
		for i := range uint64(40) {
			w.Sample(100, monoStart+300+i, 0x40000110)
		}
		if c.file != "" {
			put(t, w.path(c.file), hot(t, 17, 100, monoStart, 0x40000000, 0x7f2200000000))
		}
		put(t, w.path("a.mlpd"), []byte("something else"))
		put(t, w.path("other.mlpd"), hot(t, 17, 99, monoStart-1e9, 0x40000000, 0x7f2200000000))
		sum, err := w.run()
		switch {
		case err != nil || !sum.Complete():
			t.Errorf("%q: got %s, %v; want no error, nothing missing", c.args, asJSON(sum), err)
		case c.file != "" && (sum.Samples.Resolved != 40 || sum.Dumps[0].Path != w.path(c.file)):
			t.Errorf(`%q: got %s; want c.file = "" or Samples.Resolved = 40 and Dumps[0].Path = %v`, c.args, asJSON(sum), w.path(c.file))
		case c.file == "" && (len(sum.Reasons) != 1 || sum.Reasons[0].Kind != report.ReasonNoDump || !strings.Contains(sum.Reasons[0].Text, c.text) || !strings.Contains(sum.Reasons[0].Advice, "`again with Options.SideFiles{Kind: mono-log, PID: 100, Path: FILE}`")):
			t.Errorf("%q: got %+v; want c.file other than \"\" or 1 reason and Reasons[0].Kind = ReasonNoDump and Reasons[0].Text with %q and Reasons[0].Advice with \"`again with Options.SideFiles{Kind: mono-log, PID: 100, Path: FILE}`\"", c.args, sum.Reasons, c.text)
		}
	}
}

// They are found in --dump-dir, too, and in the directories in it; beside a copy of the recording
// that is elsewhere, by their path.
func TestMono_LogInDumpDir(t *testing.T) {
	for _, where := range []string{"logs", "logs/of-one"} {
		w := newWorld(t)
		w.Cmdline = []string{"perf", "record", "-k", "mono", "mono", "--profile=log:output=sub/app.mlpd", "App.exe"}
		w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
		w.expect(100, monoStart+300, 0x40000110, "App:IsPrime (int)+0x10")
		if err := os.MkdirAll(w.path(where), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, filepath.Join(w.path(where), "app.mlpd"), hot(t, 17, 100, monoStart, 0x40000000, 0x7f2200000000))
		w.opts.DumpDirs = []string{w.path("logs")}
		w.check()
	}
}

// A log that says it is of another process, and holds nothing that this one could have run, is not
// believed whoever names it; objects that were there stay.
func TestMono_LogOfAnotherProcessNamed(t *testing.T) {
	for _, c := range []struct {
		name          string
		start, memory uint64
		text          string
	}{
		{"other memory", monoStart, 0x48000000, "none of its code is where process 100 had executable memory"},
		{"another time", monoStart - 1e9, 0x40000000, "before or after the time of process 100"},
	} {
		w := newWorld(t)
		w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
		w.Sample(100, monoStart+300, 0x40000110)
		put(t, w.path("jitted-100-1.so"), []byte("an object"))
		put(t, w.path("app.mlpd"), monoLog(t, 17, 99, c.start, jitted{c.start + 200, 2, c.memory + 0x100, 64, "App:IsPrime (int)"}))
		for _, pid := range []uint32{0, 100} {
			w.opts.SideFiles, w.opts.PID = []config.SideFile{{Kind: formats.Mono, PID: pid, Path: w.path("app.mlpd")}}, 100
			sum, err := w.run()
			if err != nil || len(sum.Problems) != 1 || len(sum.Dumps) != 0 {
				t.Fatalf("%s: got %s, %v; want no error, 1 problem, no dumps", c.name, asJSON(sum), err)
			}
			if p := sum.Problems[0]; !strings.Contains(p.Text, "of process 99, which is not in the recording") || !strings.Contains(p.Text, c.text) || !strings.Contains(p.Advice, "record again") {
				t.Errorf(`%s: got %+v; want Text with "of process 99, which is not in the recording", Text with %q, Advice with "record again"`, c.name, p, c.text)
			}
			if string(read(t, w.path("jitted-100-1.so"))) != "an object" {
				t.Errorf("%s: the object was replaced", c.name)
			}
		}
		w.opts.PID, w.opts.SideFiles[0].PID = 0, 0
		sum, err := w.run()
		if err != nil || len(sum.Problems) != 1 || !strings.Contains(sum.Problems[0].Text, "of process 99, which is not in the recording") || !strings.Contains(sum.Problems[0].Advice, "record again") {
			t.Errorf(`%s: got %s, %v; want no error, 1 problem, Problems[0].Text with "of process 99, which is not in the recording", Problems[0].Advice with "record again"`, c.name, asJSON(sum), err)
		}
	}
}

// Below an error, nothing is said to be missing from nothing.
func TestMono_ErrorAndNothingMissing(t *testing.T) {
	w := newWorld(t)
	w.Comm(100, monoStart, "ls", true)
	w.Mmap2(100, monoStart+1, 0x550000000000, 0x300000, 0, "/bin/ls")
	w.Sample(100, monoStart+300, 0x550000000110)
	if r := w.reasons(); len(r) != 1 || !strings.Contains(r[0].Text, "nothing is missing") {
		t.Fatalf(`got %+v; want 1 reason, r[0].Text with "nothing is missing"`, r)
	}
	put(t, w.path("app.log"), hot(t, 17, 99, monoStart, 0x40000000, 0x7f2200000000))
	w.opts.SideFiles = []config.SideFile{{Kind: formats.Mono, Path: w.path("app.log")}}
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || len(sum.Reasons) != 1 || strings.Contains(sum.Reasons[0].Text, "nothing is missing") {
		t.Errorf(`got %s, %v; want no error, 1 problem, 1 reason, Reasons[0].Text without "nothing is missing"`, asJSON(sum), err)
	}
}

// Several logs in one directory: each process gets the one that says so, the right one of two
// with its number. In a container numbers are others, and the beginning tells.
func TestMono_SeveralLogsInOneDirectory(t *testing.T) {
	w := newWorld(t)
	w.Cmdline = []string{"perf", "record", "-a", "-k", "mono"}
	w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
	w.runMono(200, monoStart+3e9, 0x41000000, 0x7f3300000000)
	w.runMono(300, monoStart+6e9, 0x42000000, 0x7f4400000000)
	put(t, w.path("a.mlpd"), hot(t, 17, 100, monoStart-1e9, 0x48000000, 0x7f2200000000))
	put(t, w.path("b.mlpd"), hot(t, 17, 100, monoStart, 0x40000000, 0x7f2200000000))
	put(t, w.path("c.mlpd.200"), hot(t, 17, 200, monoStart+3e9, 0x41000000, 0x7f3300000000))
	put(t, w.path("d.mlpd"), hot(t, 17, 7, monoStart+6e9, 0x42000000, 0x7f4400000000))
	put(t, w.path("e.mlpd"), hot(t, 17, 300, monoStart+6e9, 0x43000000, 0x7f5500000000))
	w.expect(100, monoStart+300, 0x40000110, "App:IsPrime (int)+0x10")
	w.expect(200, monoStart+3e9+300, 0x41000110, "App:IsPrime (int)+0x10")
	w.expect(300, monoStart+6e9+300, 0x42000110, "App:IsPrime (int)+0x10")
	if sum := w.check(); len(sum.Dumps) != 3 {
		t.Errorf("got %s; want 3 dumps", asJSON(sum))
	}
}

// Mono goes on where its profiler is not installed.
func TestMono_NoProfilerInstalled(t *testing.T) {
	for _, other := range []bool{false, true} {
		w := newWorld(t)
		w.Cmdline = []string{"perf", "record", "-k", "mono", "mono", "--profile=log:output=app.mlpd", "App.exe"}
		w.Comm(100, monoStart, "mono", true)
		w.Mmap2(100, monoStart+1, 0x550000000000, 0x300000, 0, "/usr/bin/mono-sgen")
		w.Mmap2(100, monoStart+2, 0x40000000, 0x10000, 0, "//anon")
		for i := range uint64(40) {
			w.Sample(100, monoStart+300+i, 0x40000110)
		}
		kind, text, advice := report.ReasonNoDump, "libmono-profiler-log.so is not in the recording", "apt install libmono-profiler"
		if other {
			w.runMono(200, monoStart, 0x40000000, 0x7f2200000000)
			kind, text, advice = report.ReasonFlagMissing, "as process 200 did", "mono --profile=log"
		}
		r := w.reasons()
		if len(r) != 1 || r[0].Kind != kind || !strings.Contains(r[0].Text, text) || !strings.Contains(r[0].Advice, advice) {
			t.Errorf("got %+v; want 1 reason, r[0].Kind = %v, r[0].Text with %q, r[0].Advice with %q", r, kind, text, advice)
		}
	}
}

// What is found and is of another run is told of, and left alone.
func TestMono_FoundLogOfAnotherRun(t *testing.T) {
	w := newWorld(t)
	w.Cmdline = []string{"perf", "record", "-k", "mono", "mono", "--profile=log:output=app.mlpd", "App.exe"}
	w.runMono(100, monoStart, 0x40000000, 0x7f2200000000)
	for i := range uint64(40) {
		w.Sample(100, monoStart+300+i, 0x40000110)
	}
	put(t, w.path("app.mlpd"), hot(t, 17, 100, monoStart-1e9, 0x40000000, 0x7f2200000000))
	r := w.reasons()
	if len(r) != 1 || r[0].Kind != report.ReasonNoDump || !strings.Contains(r[0].Text, "app.mlpd is not its log") || !strings.Contains(r[0].Text, "overwritten by another run") {
		t.Errorf(`got %+v; want 1 reason, r[0].Kind = ReasonNoDump, r[0].Text with "app.mlpd is not its log", r[0].Text with "overwritten by another run"`, r)
	}
}
