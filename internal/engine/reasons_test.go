package engine_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// jitting adds a process that runs a program and has samples in memory of no file, so that
// there is nothing to inject.
func (w *world) jitting(pid uint32, comm, program string, samples int) {
	w.Comm(pid, 900, comm, true)
	w.Mmap2(pid, 901, 0x400000, 0x1000, 0, program)
	for i := range samples {
		w.Sample(pid, uint64(2000+i), 0x7f1200000000+uint64(i))
	}
	w.Sample(pid, 5000, 0x400010)
}

// reasons injects what has no marker and returns what is said of it.
func (w *world) reasons() []report.Reason {
	w.t.Helper()
	sum, err := w.run()
	if err != nil || !sum.Complete() || sum.Markers != 0 || sum.Mappings != 0 || len(sum.Reasons) == 0 {
		w.t.Fatalf("got %s, %v; want no error, nothing missing, Markers = 0, Mappings = 0, some reasons", asJSON(sum), err)
	}
	if st, err := os.Stat(w.opts.Output); err != nil || st.Size() != sum.BytesWritten {
		w.t.Errorf("the output has %d bytes, not %d; %v", st.Size(), sum.BytesWritten, err)
	}
	return sum.Reasons
}

// Runtimes are known by their names, or by their files, and each has something to type.
func TestReasons_EveryRuntime(t *testing.T) {
	for _, c := range []struct{ comm, program, advice string }{
		{"node", "/usr/bin/node", "node --perf-prof"},
		{"node-MainThread", "/opt/node-22/bin/node", "node --perf-prof"},
		{"MainThread", "/opt/node-22/bin/node", "node --perf-prof"},
		{"deno", "/usr/bin/deno", "--v8-flags=--perf-prof"},
		{"java", "/usr/lib/jvm/java-17/lib/server/libjvm.so", "-agentpath:"},
		{"java", "/usr/lib/jvm/java-17/lib/server/libjvm.so", "jcmd PID Compiler.perfmap"},
		{"java", "/usr/lib/jvm/java-17/lib/server/libjvm.so", " -XX:+PreserveFramePointer "},
		{"beam.smp", "/usr/lib/erlang/erts-13.1/bin/beam.smp", "+JPperf true"},
		{"erts_sched_1", "/usr/lib/erlang/erts-13.1/bin/beam.smp", "+JPperf true"},
		{"php8.2", "/usr/bin/php8.2", "opcache.jit_debug=32"},
		{"apache2", "/usr/lib/php/20220829/opcache.so", "opcache.jit_debug=32"},
		{"python3.13", "/usr/bin/python3.13", "-X perf_jit"},
		{"python3.15", "/usr/bin/python3.15", "-g -p PID -- sleep 10; jitinject --live PID  # its code is registered for debuggers"},
		{"python3", "/usr/lib/python3/dist-packages/llvmlite/binding/libllvmlite.so", "jitinject --live PID  # Numba's code is registered"},
		{"python3.14", "/usr/lib/python3/dist-packages/_cinderx.cpython-314-x86_64-linux-gnu.so", "-X cinderx-jit-all PROGRAM.py  # it writes /tmp/perf-PID.map"},
		{"python3.12", "/usr/bin/python3.12", "--call-graph dwarf python3 -X perf PROGRAM.py  # which writes /tmp/perf-PID.map"},
		{"mono", "/usr/bin/mono-sgen", "mono --profile=log:nodefaults,jit,output=app.mlpd"},
		{"julia", "/usr/lib/libjulia-internal.so.1", "ENABLE_JITPROFILING=1"},
		{"lli-14", "/usr/lib/llvm-14/bin/lli", "lli --jit-kind=mcjit"},
		{"wasmtime", "/usr/bin/wasmtime", "--profile=jitdump"},
		{"dotnet", "/usr/share/dotnet/libcoreclr.so", "DOTNET_PerfMapEnabled=2"},
		{"dotnet", "/usr/share/dotnet/shared/Microsoft.NETCore.App/3.1.2/libcoreclr.so", "env COMPlus_PerfMapEnabled=1 dotnet PROGRAM.dll  # which writes /tmp/perf-PID.map"},
		{"dotnet", "/usr/share/dotnet/shared/Microsoft.NETCore.App/10.0.9/libcoreclr.so", "env DOTNET_PerfMapEnabled=2 DOTNET_PerfMapStubGranularity=2 dotnet PROGRAM.dll"},
		{"JITWorker", "/root/.bun/bin/bun", "BUN_JSC_useJITDump=1"},
		{"Isolated Web Co", "/usr/lib/firefox/firefox", "IONPERF"},
		{"ruby3.3", "/usr/bin/ruby3.3", "--yjit-perf"},
		{"jsc", "/usr/bin/jsc", "jitinject record env JSC_useSourceCodeDump=1 JSC_useJITDump=1 JSC_jitDumpDirectory=$PWD jsc PROGRAM.js  # or: "},
		{"chromium-headle", "/usr/lib/chromium/chromium-headless-shell", "jitinject record chromium --no-sandbox --js-flags=--perf-prof  # or: "},
		{"raku", "/usr/lib/x86_64-linux-gnu/libmoar.so", "env MVM_JIT_PERF_MAP=1 raku PROGRAM.raku"},
		{"dart:app", "/usr/lib/dart/bin/dart", "dart --generate-perf-jitdump PROGRAM.dart"},
		{"hermes", "/usr/bin/hermes", "hermes -Xjit=force -Xperf-prof PROGRAM.js"},
	} {
		w := newWorld(t)
		w.jitting(777_000_001, c.comm, c.program, 30)
		r := w.reasons()[0]
		if r.Kind != report.ReasonFlagMissing || r.PID != 777_000_001 || r.Command != c.comm || r.Samples != 30 || !strings.Contains(r.Advice, "perf record -k mono ") || !strings.Contains(r.Advice, c.advice) ||
			!strings.Contains(r.Text, "process 777000001 ("+c.comm+") has 30 samples in JIT code") {
			t.Errorf(`%s: got %+v; want Kind = ReasonFlagMissing, PID = 777_000_001, Command = c.comm, Samples = 30, Advice with "perf record -k mono ", Advice with %q, Text with "process 777000001 ("+c.comm+") has 30 samples in JIT code"`, c.comm, r, c.advice)
		}
	}
}

// The recording's command line says whether the runtime was asked for a dump. It does not have the
// environment.
func TestReasons_CommandLine(t *testing.T) {
	for _, c := range []struct{ comm, program, line, kind, text, advice string }{
		{"node", "/usr/bin/node", "node app.js --perf-prof", report.ReasonFlagMissing,
			"and wrote no dump: --perf-prof stands after app.js, and so it is an argument of the program, not an option of the runtime", "perf record -k mono -g node --perf-prof app.js"},
		{"node", "/usr/bin/node", "node app.js", report.ReasonFlagMissing,
			"and wrote no dump: its command line does not ask for one; if NODE_OPTIONS does, the directory may be full, not writable, or mounted noexec", "jitinject record node app.js  # or: perf record -k mono -g node --perf-prof app.js"},
		{"node", "/usr/bin/node", "node --perf-prof app.js", report.ReasonNoDump,
			"it was started with --perf-prof, but the recording does not say that it mapped a dump", "find jit-777000002.dump"},
		{"java", "/usr/lib/jvm/java-17/lib/server/libjvm.so", "java App", report.ReasonFlagMissing, "if JAVA_TOOL_OPTIONS or JDK_JAVA_OPTIONS does, the directory", "libjitinject-jvmti.so -XX:+PreserveFramePointer App"},
		{"node", "/usr/bin/node", "-p 7", report.ReasonFlagMissing, "and wrote no dump", "perf record -k mono -g node --perf-prof PROGRAM.js"},
		{"pypy3", "/usr/bin/pypy3.11", "pypy3 app.py", report.ReasonFlagMissing, "and wrote no dump", "PyPy can write neither a dump nor a map, as far as is known: perf shows addresses in its code"},
		{"python3.11", "/usr/bin/python3.11", "python3 app.py", report.ReasonFlagMissing, "-X perf_jit describes Python's functions, which are callers of such code", "Python 3.11 can write no dump; Python 3.13 and newer have -X perf_jit"},
		{"python3.15", "/usr/bin/python3.15", "python3 app.py", report.ReasonFlagMissing, "Python 3.15 has a JIT compiler (PYTHON_JIT=1), and -X perf_jit would switch that off", "jitinject --live PID"},
		{"python3.15", "/usr/bin/python3.15", "python3 -X perf_jit app.py", report.ReasonNoDump, "it was started with -X perf_jit", "find jit-777000002.dump"},
		{"mono", "/usr/bin/mono-sgen", "mono app.exe --profile=log:jit", report.ReasonFlagMissing, "--profile=log:jit stands after app.exe", "mono --profile=log:jit app.exe"},
	} {
		w := newWorld(t)
		w.Cmdline = append([]string{"perf", "record", "-k", "mono", "-g"}, strings.Fields(c.line)...)
		w.jitting(777_000_002, c.comm, c.program, 30)
		r := w.reasons()[0]
		if r.Kind != c.kind || !strings.Contains(r.Text, c.text) || !strings.Contains(r.Advice, c.advice) {
			t.Errorf("%s: got %+v; want Kind = %v, Text with %q, Advice with %q", c.line, r, c.kind, c.text, c.advice)
		}
	}
	w := newWorld(t) // without samples in JIT code, that it is an argument is said as well
	w.Cmdline = strings.Fields("perf record -g php app.php -d opcache.jit_debug=32")
	w.jitting(777_000_002, "php", "/usr/bin/php8.2", 0)
	if r := w.reasons()[0]; r.Kind != report.ReasonNoJittedCode || !strings.Contains(r.Text, "(php) can make such code: -d opcache.jit_debug=32 stands after app.php") || !strings.HasPrefix(r.Advice, "jitinject record php app.php  # or: ") || !strings.HasSuffix(r.Advice, "php -d opcache.jit_debug=32 app.php") {
		t.Errorf("got %+v; want Text with the program that has the option", r)
	}
	w = newWorld(t) // without samples in JIT code, Python's functions are what is missing
	w.jitting(777_000_002, "python3.15", "/usr/bin/python3.15", 0)
	if r := w.reasons()[0]; !strings.Contains(r.Advice, "perf record -k mono --call-graph dwarf python3 -X perf_jit PROGRAM.py") {
		t.Errorf("got %+v; want Advice with -X perf_jit", r)
	}
}

// Each reason but that, with what is to be done.
func TestReasons_EveryKind(t *testing.T) {
	const pid = 777_000_002
	dump := fmt.Sprintf("jit-%d.dump", pid)
	loaded := func(time uint64) timed { return load(time, pid, 0, 0x7f1200000000, "function", code(64, 1)) }
	for _, c := range []struct {
		name, kind   string
		make         func(w *world)
		text, advice string
	}{
		{"no samples", report.ReasonNoSamples, func(w *world) { w.Comm(pid, 900, "node", true) }, "no samples", "perf record -k mono"},
		{"no JIT", report.ReasonNoJittedCode, func(w *world) { w.jitting(pid, "ls", "/bin/ls", 0) }, "nothing is missing", ""},
		{"a JIT that is off", report.ReasonNoJittedCode, func(w *world) { w.jitting(pid, "php", "/usr/bin/php8.2", 0) }, "but process 777000002 (php) can make such code", "opcache.jit_debug=32"},
		{"a few samples at the start", report.ReasonNoJittedCode, func(w *world) {
			w.jitting(pid, "ls", "/bin/ls", 1)
			for i := range 1000 {
				w.Sample(pid, uint64(6000+i), 0x400010)
			}
		}, "(0 of 1,002, callers not counted); nothing is missing", ""},
		{"some program", report.ReasonUnknownRuntime, func(w *world) { w.jitting(pid, "prog", "/usr/bin/prog", 3000) }, "3,000 samples in JIT code", "docs/producers.md"},
		{"a dump without marker", report.ReasonNoMarker, func(w *world) {
			w.jitting(pid, "node", "/usr/bin/node", 30)
			w.dump(dump, x86(pid), loaded(1500))
		}, "noexec", "`again with Options.SideFiles{PID: 777000002, Path: "},
		{"a dump with another name", report.ReasonNoMarker, func(w *world) {
			w.jitting(pid, "bun", "/usr/bin/bun", 30)
			w.dump("jit-5-"+dump[len("jit-"):], x86(pid), loaded(1500))
		}, "noexec", "jit-5-777000002.dump"},
		{"a dump of another run", report.ReasonFlagMissing, func(w *world) {
			w.jitting(pid, "node", "/usr/bin/node", 30)
			w.dump(dump, x86(pid), loaded(500)) // before the process began
		}, "wrote no dump", "--perf-prof"},
		{"something else of that name", report.ReasonFlagMissing, func(w *world) {
			w.jitting(pid, "node", "/usr/bin/node", 30)
			put(w.t, w.path(dump), []byte("nothing of the kind"))
		}, "wrote no dump", "--perf-prof"},
		{"an empty dump", report.ReasonNoDump, func(w *world) {
			w.jitting(pid, "node", "/usr/bin/node", 30)
			put(w.t, w.path(dump), nil)
		}, "it is empty", "where files may be executed"},
		{"a runtime that writes none", report.ReasonFlagMissing, func(w *world) { w.jitting(pid, "luajit", "/usr/bin/luajit", 30) }, "wrote no dump", "LuaJIT can write no dump"},
		{"perf's map", report.ReasonPerfMap, func(w *world) {
			w.jitting(pid, "node", "/usr/bin/node", 30)
			w.Mmap2(pid, 902, 0x7f1200000000, 0x1000, 0, "//anon")
			put(w.t, w.path(fmt.Sprintf("perf-%d.map", pid)), []byte("7f1300000000 40 function\n"))
		}, "none of its functions lies where process 777000002 had executable memory", "node --perf-prof"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			c.make(w)
			r := w.reasons()
			if len(r) != 1 || r[0].Kind != c.kind || !strings.Contains(r[0].Text, c.text) || !strings.Contains(r[0].Advice, c.advice) {
				t.Errorf("got %+v; want 1 reason, r[0].Kind = %v, r[0].Text with %q, r[0].Advice with %q", r, c.kind, c.text, c.advice)
			}
			if c.kind == report.ReasonNoMarker { // what is said helps
				w.opts.SideFiles = []config.SideFile{{PID: pid, Path: mentioned(r[0].Advice)}}
				if sum, err := w.run(); err != nil || sum.Samples.Resolved != 30 {
					t.Errorf("got %s, %v; want no error, Samples.Resolved = 30", asJSON(sum), err)
				}
			}
		})
	}
}

// Of many processes the first are named; nothing is said of the clock if nothing is injected; and a
// process of which nothing is known is none.
func TestReasons_ManyProcesses(t *testing.T) {
	w := newWorld(t)
	w.ClockID = -1
	for i := range uint32(9) {
		w.jitting(777_000_100+i, "node", "/usr/bin/node", 30+int(i))
	}
	for i := range 30 {
		w.Sample(777_000_200, uint64(2000+i), 0x7f1200000000)
	}
	r := w.reasons()
	if len(r) != 6 || r[0].PID != 777_000_108 || r[4].PID != 777_000_104 || r[5].Kind != report.ReasonMore || r[5].Samples != 30+31+32+33 {
		t.Errorf("got %+v; want 6 reasons, r[0].PID = 777_000_108, r[4].PID = 777_000_104, r[5].Kind = ReasonMore, r[5].Samples = 30+31+32+33", r)
	}
	w.opts.NoCount = true
	if r := w.reasons(); len(r) != 6 || r[0].PID != 777_000_100 || r[0].Samples != 0 || r[0].Kind != report.ReasonFlagMissing {
		t.Errorf("without counting: %+v", r)
	}
}

// A real recording whose markers are gone: perf's command line says that the flag was
// given. Its result, injected again, says what it is.
func TestReasons_RealRecordings(t *testing.T) {
	dir := testrec.Unpack(t, "node-fp")
	input := filepath.Join(dir, "perf.data")
	recording := read(t, input)
	marker := []byte("/jit-9906.dump\x00")
	if !strings.Contains(string(recording), string(marker)) {
		t.Fatal("there is no marker")
	}
	put(t, input, []byte(strings.ReplaceAll(string(recording), string(marker), "/jit-9906.dumb\x00")))
	opts := config.Options{Input: input, Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")}
	sum, err := engine.Run(t.Context(), opts)
	if err != nil || len(sum.Reasons) != 1 || sum.Reasons[0].Kind != report.ReasonNoMarker || !strings.HasSuffix(mentioned(sum.Reasons[0].Advice), "jit-9906.dump") || sum.Reasons[0].Samples < 250 {
		t.Fatalf(`got %s, %v; want no error, 1 reason, Reasons[0].Kind = ReasonNoMarker, mentioned(Reasons[0].Advice) that ends with "jit-9906.dump", Reasons[0].Samples >= 250`, asJSON(sum), err)
	}
	if err := os.Rename(filepath.Join(dir, "jit-9906.dump"), filepath.Join(dir, "it.dump")); err != nil {
		t.Fatal(err)
	}
	sum, err = engine.Run(t.Context(), opts)
	if err != nil || len(sum.Reasons) != 1 || sum.Reasons[0].Kind != report.ReasonNoDump || !strings.Contains(sum.Reasons[0].Text, "started with --perf-prof") || !strings.Contains(sum.Reasons[0].Advice, "`again with Options.SideFiles{PID: 9906, Path: FILE}`") {
		t.Fatalf("got %s, %v; want no error, 1 reason, Reasons[0].Kind = ReasonNoDump, Reasons[0].Text with \"started with --perf-prof\", Reasons[0].Advice with \"`again with Options.SideFiles{PID: 9906, Path: FILE}`\"", asJSON(sum), err)
	}

	dir = testrec.Unpack(t, "php")
	opts = config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")}
	if _, err := engine.Run(t.Context(), opts); err != nil {
		t.Fatal(err)
	}
	opts.Input, opts.Output = opts.Output, filepath.Join(dir, "again.data")
	if sum, err = engine.Run(t.Context(), opts); err != nil || sum.AlreadyInjected != 44 || len(sum.Reasons) != 1 || sum.Reasons[0].Kind != report.ReasonInjected {
		t.Errorf("got %s, %v; want no error, AlreadyInjected = 44, 1 reason, Reasons[0].Kind = ReasonInjected", asJSON(sum), err)
	}
}

// Beside processes with a dump, those without are told of; not those whose dump is gone,
// of which problems tell.
func TestReasons_BesideDumps(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.dump("jit-100.dump", x86(100), load(1500, 100, 0, 0x7f1200000000, "function", code(64, 1)))
	w.Sample(100, 2000, 0x7f1200000000)
	w.Sample(100, 1400, 0x7f1200000000) // it is not there yet
	w.mark(200, 1000, "jit-200.dump")
	w.Mmap2(200, 1001, 0x400000, 0x1000, 0, "/usr/bin/node")
	for i := range 50 {
		w.Sample(200, uint64(2000+i), 0x7f1200000000)
	}
	w.Fork(201, 200, 2500)
	w.Sample(201, 2600, 0x7f1200000000)
	w.jitting(777_000_001, "java", "/usr/lib/jvm/java-17/bin/java", 40)
	sum, err := w.run()
	if err != nil || len(sum.Problems) != 1 || len(sum.Reasons) != 1 || sum.Reasons[0].PID != 777_000_001 || sum.Reasons[0].Kind != report.ReasonFlagMissing {
		t.Fatalf("got %s, %v; want no error, 1 problem, 1 reason, Reasons[0].PID = 777_000_001, Reasons[0].Kind = ReasonFlagMissing", asJSON(sum), err)
	}
	if s := sum.Samples; s.Total != 94 || s.InJIT != 2 || s.Resolved != 1 || s.WithoutDump != 91 || *sum.Dumps[0].Samples != s.JitSamples {
		t.Errorf("got %+v; want Total = 94, InJIT = 2, Resolved = 1, WithoutDump = 91, *Dumps[0].Samples = JitSamples", s)
	}
}

// A stream without markers.
func TestReasons_Stream(t *testing.T) {
	dir := testrec.Unpack(t, "node-pipe")
	t.Chdir(dir)
	stream := []byte(strings.ReplaceAll(string(read(t, "perf.pipe.data")), "/jit-9960.dump\x00", "/jit-9960.dumb\x00"))
	if err := os.Remove("jit-9960.dump"); err != nil {
		t.Fatal(err)
	}
	for _, once := range []bool{true, false} {
		opts := config.Options{Input: "stripped.data", Output: "out.data"}
		put(t, opts.Input, stream)
		if once {
			opts.Input, opts.Stdin = "-", feed(t, stream, 5000)
		}
		sum, err := engine.Run(t.Context(), opts)
		if err != nil || len(sum.Reasons) != 1 || sum.Reasons[0].Kind != report.ReasonNoDump || sum.Reasons[0].PID != 9960 || sum.Reasons[0].Samples < 60 {
			t.Errorf("once %v: %+v, %v", once, sum, err)
		}
	}
}

// A child of a process with a dump that runs a program of its own must be told by itself.
func TestReasons_SpawnedProgram(t *testing.T) {
	w := newWorld(t)
	w.mark(100, 1000, "jit-100.dump")
	w.dump("jit-100.dump", x86(100), load(1500, 100, 0, 0x7f1200000000, "function", code(64, 1)))
	w.Fork(777_000_001, 100, 1800)
	w.Comm(777_000_001, 1900, "node", true)
	w.Mmap2(777_000_001, 1901, 0x400000, 0x1000, 0, "/usr/bin/node")
	for i := range 40 {
		w.Sample(777_000_001, uint64(2000+i), 0x7f1200001000) // perf keeps the parent's function before
	}
	w.Fork(777_000_002, 100, 3000) // and this one has its parent's
	for i := range 40 {
		w.Sample(777_000_002, uint64(4000+i), 0x7f1200000000)
	}
	sum, err := w.run()
	if err != nil || len(sum.Reasons) != 1 || sum.Reasons[0].PID != 777_000_001 || sum.Reasons[0].Kind != report.ReasonFlagMissing || !strings.Contains(sum.Reasons[0].Advice, "node --perf-prof") {
		t.Fatalf(`got %s, %v; want no error, 1 reason, Reasons[0].PID = 777_000_001, Reasons[0].Kind = ReasonFlagMissing, Reasons[0].Advice with "node --perf-prof"`, asJSON(sum), err)
	}
	if s := sum.Samples; s.Resolved != 40 || s.WithoutDump != 40 {
		t.Errorf("got %+v; want Resolved = 40, WithoutDump = 40", s)
	}
}

// Records are in order within one CPU only: a process is called what it was called last,
// and not what stands last.
func TestComm_LatestByTime(t *testing.T) {
	w := newWorld(t)
	w.Comm(100, 900, "last", true)
	w.Comm(100, 800, "first", true)
	w.Marker(100, 1000, w.path("jit-100.dump"))
	w.dump("jit-100.dump", x86(100), load(1500, 100, 0, 0x10000, "function", code(64, 1)))
	w.expect(100, 2000, 0x10004, "function+0x4")
	if sum, err := w.run(); err != nil || len(sum.Dumps) != 1 || sum.Dumps[0].Command != "last" {
		t.Errorf(`got %s, %v; want no error, 1 dump, Dumps[0].Command = "last"`, asJSON(sum), err)
	}
}

// mentioned returns the path in the first setting in a message.
func mentioned(message string) string {
	_, path, _ := strings.Cut(message, `Path: "`)
	path, _, _ = strings.Cut(path, `"`)
	return path
}

// A native image has a name of its own. Its compiler's threads tell what it is.
func TestReasons_NativeImage(t *testing.T) {
	dir := testrec.Unpack(t, "native-image")
	sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data")})
	if err != nil || len(sum.Reasons) != 1 {
		t.Fatalf("got %s, %v; want no error, 1 reason", asJSON(sum), err)
	}
	if r := sum.Reasons[0]; r.Kind != report.ReasonFlagMissing || !strings.Contains(r.Advice, "-H:+RuntimeDebugInfo -H:RuntimeDebugInfoFormat=jitdump") {
		t.Errorf("got %+v; want Kind = ReasonFlagMissing, and the options of native-image", r)
	}
}
