package verify_test

import (
	"bytes"
	"cmp"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
	"github.com/jitinject/jitinject/internal/verify/verifytest"
)

var update = flag.Bool("update", false, "write docs/verify.md anew")

// A known is a complaint that a runtime's dumps or recordings get, and why.
type known struct {
	runtime, rule string
	why           string // it is there
	should        string // what the runtime ought to do
}

// knowns explain every complaint about the recordings of testdata.
var knowns = []known{
	{"Node.js 20 (V8)", "dump/pad", "V8 writes 0xdeadbeef into the field.", "Write 0."},
	{"Node.js 20 (V8)", "dump/header-time", "`LinuxPerfJitLogger::LogWriteHeader` writes the time of the day, in microseconds since 1970.", "Write the clock of the records, `GetTimestamp()`. No reader uses the field, so nothing is lost."},
	{"Node.js 20 (V8)", "dump/lines-skewed", "V8 adds 0x40, the size of an ELF header, to every address. perf needed this up to Linux 5.8. Now perf inject shows each line 64 bytes too late. jitinject moves them back.", "Write the address as it is."},
	{"Node.js 20 (V8)", "dump/lines-bytecode", "Code of the baseline compiler, Sparkplug, has the source positions of its bytecode. V8 writes offsets in the bytecode instead of addresses. jitinject leaves these functions without lines.", "Walk the bytecode offset table of the baseline code and write addresses, or leave the record out."},
	{"Node.js 20 (V8)", "dump/file-freed", "The names of script files are written from freed memory. Their first 16 bytes have the allocator's links, with NULs in them. perf inject reads garbage from there. jitinject finds the name in the function's own.", "Keep the memory of the name until the record is written."},
	{"Erlang/OTP 25 (BeamAsm)", "dump/load-tid", "The tid is the handle of a pthread, and no number of the kernel.", "Write `gettid()`."},
	{"Erlang/OTP 25 (BeamAsm)", "dump/line-zero", "The last entry of each function has line 0 and the address of its end.", "Leave the entry out; a function ends where its size says."},
	{"Erlang/OTP 25 (BeamAsm)", "dump/lines-outside", "The first entry is at the function's header (its name, arity and breakpoint), up to 0x37 bytes before code_addr.", "Give the first entry the address of the code."},
	{"CPython 3.14", "dump/header-time", "`perf_map_jit_write_header` writes `gettimeofday`, in microseconds since 1970.", "Write `get_current_monotonic_ticks()`, as the records do."},
	{"CPython 3.15", "dump/header-time", "As 3.14.", "As 3.14."},
	{"CPython 3.15", "dump/code-salted", "`perf_map_jit_write_entry_with_name` replaces the last 8 bytes of the copy. So objects of perf inject of Linux 6.17 do not share a build id. But jitinject shows these bytes as (bad): the true ones are unknown.", "Write the code as it is."},
	{"LLVM 14 (lli, MCJIT)", "dump/vma", "`PerfJITEventListener` leaves vma 0.", "Write code_addr."},
	{"LLVM 14 (lli, MCJIT)", "dump/line-zero", "LLVM's line tables have line 0 for code that comes from no line, and the listener passes it on.", "Leave such entries out, unless they end an earlier line: readers treat line 0 as no line."},
	{"LLVM 14 (lli, MCJIT)", "dump/lines-skewed", "The listener adds 0x40, as V8 does. ORC's `PerfSupportPlugin` does so, too.", "Write the address as it is."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/pad", "`FillMachine` of `JITLoaderPerf.cpp` leaves the field uninitialised, up to LLVM 21.", "Initialise the header, as LLVM 22 does."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/flags", "The same. perf inject refuses the dump; jitinject finds the clock by the times.", "The same."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/line-zero", "As LLVM 14.", "As LLVM 14."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/lines-skewed", "`PerfSupportPlugin` adds 0x40, as V8 does.", "Write the address as it is."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/lines-order", "The records of an object file are written kind by kind: unwinding, debug information, loads. So perf gives the last debug record to the first load. jitinject matches them by address.", "Write the records of one function after the other."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/unwind-order", "The specification has the header first; perf reads it last. jitinject reads both.", "Write .eh_frame first."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/unwind-shared", "One record has the .eh_frame of an object file. jitinject finds each function's FDE by the address in the header.", "Write an unwinding record for each function."},
	{"Mono's log profiler of 2010", "mono/pid", "`dump_header` writes nothing after the size of pointers.", "Write `getpid()`, as later versions do."},
	{"Mono's log profiler of 2010", "mono/twice", "A method that is implemented in the runtime is logged twice, with the same name and address, the second time for its wrapper.", "Log it once."},
	{"XRay of LLVM 5", "xray/payload", "`handleCustomEvent` copies the data but does not step over them.", "Step over them, as LLVM 8 does."},
	{"XRay of LLVM 5", "xray/unfinished", "Functions that an exception leaves have no exit.", "Write one when the stack is unwound."},
	{"XRay of LLVM 5", "xray/reserved", "Records are written without clearing their unused fields.", "Clear them."},
	{"XRay of LLVM 6", "xray/arguments", "Entries that arguments follow are plain ones.", "Write the action for entries with arguments, as LLVM 8 does."},
	{"XRay of LLVM 6", "xray/unfinished", "As LLVM 5.", "As LLVM 5."},
	{"XRay of LLVM 14", "xray/clock", "The machine does not say how fast its counter is, so CLOCK_REALTIME is used.", "Use CLOCK_MONOTONIC, which does not jump."},
	{"XRay of LLVM 14", "xray/extents", "The markers of typed events are not counted in the size of the buffer.", "Count them."},
	{"XRay of LLVM 14", "xray/exit-unknown", "The entries were in records that are missing because of the markers.", "Count them."},
	{"XRay of LLVM 14", "xray/unfinished", "As LLVM 5.", "As LLVM 5."},
	{"XRay of LLVM 14", "xray/reserved", "As LLVM 5.", "As LLVM 5."},
	{"Mono 6.8", "mono/size-zero-calls", "In modes with other events than JIT's, a method that a thread is about to enter is logged before its code is registered.", "Look the code up when the event is written, as happens with `nodefaults,jit`."},
	{vectors, "j9/site-monitors", "Monitor masks are random bytes.", "Set isSameReceiver if a mask has a bit, as OpenJ9 does. It reads no mask without it."},
	{vectors, "j9/monitor-mask", "The same, and live monitors too.", "Leave the bit 0: there is no slot for it."},
	{vectors, "j9/exception-method", "Methods of handlers are drawn from all methods, not only those that are inlined.", "Take a method that is inlined, or the compiled one."},
	{vectors, "j9/map-debug", "Maps share others' in a body that was compiled for full-speed debug, too.", "Give each map its own, as OpenJ9 does then."},
}

// vectors are metadata that was made up to check readers with. No OpenJ9 has written it, and
// it breaks what its readers do not look at.
const vectors = "Made-up metadata of OpenJ9"

// runtimes are the recordings of testdata whose dumps are checked, and whose they are.
var runtimes = []struct {
	name, runtime string
	data          string // "perf.data" if empty
}{
	{"node-fp", "Node.js 20 (V8)", ""},
	{"node-forks", "Node.js 20 (V8)", ""},
	{"node-dwarf", "Node.js 20 (V8)", ""},
	{"node-hot", "Node.js 20 (V8)", ""},
	{"node-noclock", "Node.js 20 (V8)", ""},
	{"node-pidns", "Node.js 20 (V8)", ""},
	{"node-zstd", "Node.js 20 (V8)", ""},
	{"node-pipe", "Node.js 20 (V8)", "perf.pipe.data"},
	{"node-threads", "Node.js 20 (V8)", "perf.data.dir"},
	{"erlang", "Erlang/OTP 25 (BeamAsm)", ""},
	{"php", "PHP 8.2", ""},
	{"php-dwarf", "PHP 8.2", ""},
	{"python", "CPython 3.14", ""},
	{"python-3.15", "CPython 3.15", ""},
	{"lli-hot", "LLVM 14 (lli, MCJIT)", ""},
	{"llvm-orc", "LLVM 19 (ORC, llvm-jitlink)", ""},
	{"toyjit", "testdata/toyjit", ""},
	{"toyjit-dwarf", "testdata/toyjit", ""},
}

// logs are logs of profilers that are checked, and whose they are.
var logs = []struct{ name, runtime, path string }{
	{"v1.mlpd", "Mono's log profiler of 2010", "../show/testdata/mono/v1.mlpd.gz"},
	{"v17-jit.mlpd", "Mono 6.8", "../show/testdata/mono/v17-jit.mlpd.gz"},
	{"v17-all.mlpd", "Mono 6.8", "../show/testdata/mono/v17-all.mlpd.gz"},
	{"v1-llvm5-threads", "XRay of LLVM 5", "../format/xrayfdr/testdata/real/v1-llvm5-threads.xray.gz"},
	{"v1-llvm5-events", "XRay of LLVM 5", "../format/xrayfdr/testdata/real/v1-llvm5-events.xray.gz"},
	{"v2-llvm6", "XRay of LLVM 6", "../format/xrayfdr/testdata/real/v2-llvm6.xray.gz"},
	{"v5-events", "XRay of LLVM 14", "../format/xrayfdr/testdata/real/v5-events.xray.gz"},
	{"v5-emulated-clock", "XRay of LLVM 14", "../format/xrayfdr/testdata/real/v5-emulated-clock.xray.gz"},
	{"v5-llvm14-small", "XRay of LLVM 14", "../format/xrayfdr/testdata/real/v5-llvm14-small.xray.gz"},
	{"v5-llvm14-typed", "XRay of LLVM 14", "../format/xrayfdr/testdata/real/v5-llvm14-typed.xray.gz"},
	{"node20.log", "V8's log of Node.js 20", "../format/v8log/testdata/node20.log"},
	{"node25.log", "V8's log of Node.js 25", "../format/v8log/testdata/node25.log"},
	{"openjdk-17.map", "OpenJDK 17's map", "../format/perfmap/testdata/openjdk-17.map"},
	{"openjdk-25.map", "OpenJDK 25's map", "../format/perfmap/testdata/openjdk-25.map"},
	{"node-20.map", "Node.js 20's map", "../format/perfmap/testdata/node-20.map"},
	{"python-3.12.map", "CPython 3.12's map", "../format/perfmap/testdata/python-3.12.map"},
	{"erlang-25.map", "Erlang/OTP 25's map", "../format/perfmap/testdata/erlang-25.map"},
	{"php-8.2.map", "PHP 8.2's map", "../format/perfmap/testdata/php-8.2.map"},
	{"plain-216", vectors, "../format/j9meta/testdata/plain-216.bin"},
	{"inline-216", vectors, "../format/j9meta/testdata/inline-216.bin"},
	{"inline-wide-exc", vectors, "../format/j9meta/testdata/inline-wide-exc.bin"},
	{"fsd-216", vectors, "../format/j9meta/testdata/fsd-216.bin"},
	{"four-byte-offsets", vectors, "../format/j9meta/testdata/four-byte-offsets.bin"},
	{"epoch-232", vectors, "../format/j9meta/testdata/epoch-232.bin"},
}

// unpacked returns the path of what a file holds that gzip has packed.
func unpacked(t *testing.T, path string) string {
	t.Helper()
	return verifytest.Write(t, t.TempDir(), strings.TrimSuffix(filepath.Base(path), ".gz"), testrec.Gunzip(t, path))
}

// told is how often a rule is broken in a recording's dumps and in the recording
// itself.
type told struct{ recording, runtime, rule string }

func countsOf(t *testing.T, counts map[told]int, key told, path string, opts verify.Options) {
	t.Helper()
	opts.All = true
	opts.Emit = func(c verify.Diagnostic) {
		key.rule = c.Rule
		counts[key]++
	}
	if _, err := formats.Verifier().File(context.Background(), path, opts); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

// TestRuntimes: docs/verify.md says what the dumps and recordings of real runtimes get,
// and why.
func TestRuntimes(t *testing.T) {
	counts := make(map[told]int)
	for _, r := range runtimes {
		dir := t.TempDir()
		if err := testrec.UnpackTo(r.name, dir); err != nil {
			t.Fatal(err)
		}
		recording := filepath.Join(dir, cmp.Or(r.data, "perf.data"))
		key := told{recording: r.name, runtime: r.runtime}
		for _, dump := range testrec.Dumps(t, dir) {
			countsOf(t, counts, key, dump, verify.Options{Recording: recording})
		}
		countsOf(t, counts, key, recording, verify.Options{})
	}
	for _, l := range logs {
		path := l.path
		if strings.HasSuffix(path, ".xray.gz") { // nobody packs those but us
			path = unpacked(t, path)
		}
		countsOf(t, counts, told{recording: l.name, runtime: l.runtime}, path, verify.Options{})
	}
	explained := make(map[[2]string]known)
	for _, k := range knowns {
		explained[[2]string{k.runtime, k.rule}] = k
	}
	found := make(map[[2]string]bool)
	for k := range counts {
		if aboutRecording[k.rule] != "" {
			continue
		}
		found[[2]string{k.runtime, k.rule}] = true
		if _, ok := explained[[2]string{k.runtime, k.rule}]; !ok {
			t.Errorf("%s: %s is broken %d times, and nobody says why", k.recording, k.rule, counts[k])
		}
	}
	for _, k := range knowns {
		if !found[[2]string{k.runtime, k.rule}] {
			t.Errorf("%s does not break %s any more", k.runtime, k.rule)
		}
	}
	want := document(counts)
	path := filepath.Join("..", "..", "docs", "verify.md")
	if *update {
		if err := os.WriteFile(path, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("docs/verify.md is not what the rules and recordings say: go test ./internal/verify -run Runtimes -update (%v)", err)
	}
}

// aboutRecording are complaints that depend on how a recording was made, and not on the
// runtime.
var aboutRecording = map[string]string{
	"recording/not-injected": "They are the output of perf record.",
	"recording/no-clock":     "Made without `-k mono` on purpose.",
	"dump/recording-clock":   "The same, as seen from the dump.",
}

// complaintsOf lists what a recording or log gets.
func complaintsOf(counts map[told]int, name, runtime string) string {
	var cells []string
	for _, rule := range formats.Verifier().Rules() {
		if n := counts[told{name, runtime, rule.Name}]; n > 0 {
			cells = append(cells, fmt.Sprintf("%s %d", rule.Name, n))
		}
	}
	return cmp.Or(strings.Join(cells, ", "), "none")
}

// document returns docs/verify.md.
func document(counts map[told]int) []byte {
	var b bytes.Buffer
	b.WriteString(`# jitinject verify: the rules, and what real runtimes get

    jitinject verify FILE...

` + "`jitinject verify`" + ` checks files against the rules below:

- dumps, with OpenJ9's metadata in them, and captures of such metadata
- logs of Mono's profiler and of V8, traces of XRay, perf maps
- recordings and their objects, and ELF objects by themselves
- in core dumps, the objects that the process registered for debuggers

A recording among the FILEs is compared with the dumps, logs, maps and traces. A dump is compared with
the logs of V8. ` + "`jitinject verify --explain RULE`" + ` prints one rule. This page is generated from the
rules in internal/verify and the recordings in testdata:
` + "`go test ./internal/verify -run Runtimes -update`" + `.

An **error** costs names, lines or stacks, or makes them false, in some common tool. Readers handle a
**warning**. A **note** is information.
`)
	for _, kind := range []struct{ prefix, title string }{
		{"dump/", "Rules for dumps"}, {"producer/", "What dumps may lack (`--producer`)"}, {"mono/", "Rules for logs of Mono"}, {"xray/", "Rules for traces of XRay"}, {"v8log/", "Rules for logs of V8"}, {"perfmap/", "Rules for perf maps"}, {"j9/", "Rules for OpenJ9's metadata"}, {"recording/", "Rules for recordings"}, {"object/", "Rules for objects"}, {"core/", "Rules for core dumps"},
	} {
		fmt.Fprintf(&b, "\n## %s\n", kind.title)
		for _, r := range formats.Verifier().Rules() {
			if strings.HasPrefix(r.Name, kind.prefix) {
				fmt.Fprintf(&b, "\n### %s\n\n%s: %s\n\n- Usual cause: %s\n- Advice: %s\n", r.Name, r.Severity, r.Statement, r.Cause, r.Advice)
			}
		}
	}
	b.WriteString(`
## What real runtimes get

These are the recordings of testdata, each dump compared with its recording. jitinject's results get no
diagnostics, in any mode; a test checks this.

| recording | runtime | diagnostics |
|---|---|---|
`)
	for _, r := range runtimes {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", r.name, r.runtime, complaintsOf(counts, r.name, r.runtime))
	}
	b.WriteString("\nLogs, maps and captures by themselves:\n\n| log, map or capture | runtime | diagnostics |\n|---|---|---|\n")
	for _, l := range logs {
		fmt.Fprintf(&b, "| %s | %s | %s |\n", l.name, l.runtime, complaintsOf(counts, l.name, l.runtime))
	}
	runtime := ""
	for _, k := range knowns {
		if k.runtime != runtime {
			runtime = k.runtime
			fmt.Fprintf(&b, "\n### %s\n\n", runtime)
		}
		fmt.Fprintf(&b, "- **%s**: %s Fix: %s\n", k.rule, k.why, k.should)
	}
	b.WriteString("\n### All recordings\n\n")
	var rules []string
	for rule := range aboutRecording {
		rules = append(rules, rule)
	}
	slices.Sort(rules)
	for _, rule := range rules {
		fmt.Fprintf(&b, "- **%s**: %s\n", rule, aboutRecording[rule])
	}
	b.WriteString("\n## What results of perf inject get\n\nperf 6.1 to 7.2, from the same recordings:\n\n")
	for _, p := range perfs {
		fmt.Fprintf(&b, "- **%s**: %s\n", p.rule, p.why)
	}
	return []byte(folded(b.String()))
}

// TestResults: what jitinject makes gets no complaint.
func TestResults(t *testing.T) {
	for _, name := range testrec.Names {
		for _, mode := range []string{"default", "bundle", "sampled", "dwarf4"} {
			if name == "erlang" && mode == "default" && testing.Short() || mode == "dwarf4" && name != "toyjit" && name != "lli-hot" {
				continue
			}
			t.Run(name+"-"+mode, func(t *testing.T) {
				dir := testrec.Place(t, name)
				opts := inject.Options{Input: filepath.Join(dir, "perf.data"), Bundle: mode == "bundle", Sampled: mode == "sampled"}
				if mode == "dwarf4" {
					opts.DWARF = 4
				}
				checkResult(t, dir, opts)
			})
		}
	}
}

// TestResultForms: nor does it in other forms than a file of records as they are.
func TestResultForms(t *testing.T) {
	for name, input := range map[string]string{"python": "perf.data", "node-zstd": "perf.data", "node-pipe": "perf.pipe.data", "node-threads": "perf.data.dir", "node-pidns": "perf.data"} {
		t.Run(name, func(t *testing.T) {
			dir := testrec.Unpack(t, name)
			checkResult(t, dir, inject.Options{Input: filepath.Join(dir, input), Sampled: true})
			checkResult(t, dir, inject.Options{Input: filepath.Join(dir, input), Sampled: true, Compress: 1})
		})
	}
	t.Run("tight", func(t *testing.T) { // the place that perf with libdw has a rule of its own for
		dir, objects := testrec.Place(t, "toyjit-dwarf"), "/tmp"
		if files, _ := filepath.Glob(filepath.Join(objects, "jitted-23097-*.so")); len(files) > 0 {
			testrec.Skip(t, "other objects are there")
		}
		t.Cleanup(func() {
			files, _ := filepath.Glob(filepath.Join(objects, "jitted-23097-*.so"))
			for _, f := range files {
				os.Remove(f)
			}
		})
		checkResult(t, dir, inject.Options{Input: filepath.Join(dir, "perf.data"), Objects: objects})
	})
}

// checkResult injects and checks what comes out.
func checkResult(t *testing.T, dir string, opts inject.Options) {
	t.Helper()
	opts.Output, opts.Force = filepath.Join(dir, "out.data"), true
	sum, err := inject.Run(context.Background(), opts)
	if err != nil || sum.Objects == 0 {
		t.Fatalf("%+v, %v", sum, err)
	}
	if rules, all := verified(t, opts.Output, verify.Options{}); len(rules) > 0 {
		t.Errorf("%v: %+v", rules, all[:min(5, len(all))])
	}
	for _, dump := range testrec.Dumps(t, dir) {
		_, all := verified(t, dump, verify.Options{Recording: opts.Output})
		for _, c := range all {
			if c.Rule == "dump/injected-code" || c.Rule == "dump/not-mapped" || c.Rule == "dump/marker" {
				t.Fatalf("%+v", c)
			}
		}
	}
}

// perfs are the complaints that results of perf inject get, and why.
var perfs = []struct{ rule, why string }{
	{"recording/over-file", "With `--call-graph dwarf`: V8's embedded builtins are mapped over node's own text. perf with libdw (7.x) then loses the stacks."},
	{"recording/build-id-missing", "In pipes and with perf 7: nothing in the recording identifies its objects."},
	{"object/sh-info", "It is 0; readelf warns."},
	{"object/base", "PT_LOAD begins at 0x80 with an alignment of 8: outside /tmp, libdw searches frames 0x80 bytes off."},
	{"object/note-segment", "There is no PT_NOTE."},
	{"object/frame-segment", "There are tables, but no PT_GNU_EH_FRAME."},
	{"object/unit", "The unit has no DW_AT_low_pc: only binutils finds the lines."},
	{"object/lines", "The sequence ends at the last entry, so its line is lost. With V8 and LLVM, rows are 0x40 too late and may lie after the code."},
}

// TestPerf: the verifier finds in results of perf inject what is known to be wrong with
// them, and nothing else.
func TestPerf(t *testing.T) {
	for version, perf := range testrec.Perfs(t) {
		for name, must := range map[string][]string{
			"lli-hot":    {"object/base", "object/lines", "object/note-segment", "object/sh-info", "object/unit"},
			"node-dwarf": {"object/frame-segment", "recording/over-file"},
		} {
			dir := testrec.Place(t, name)
			testrec.Run(t, dir, perf, "--buildid-dir", "/dev/null", "inject", "--jit", "-i", "perf.data", "-o", "out.data")
			rules, all := verified(t, filepath.Join(dir, "out.data"), verify.Options{})
			for _, c := range all {
				if !slices.ContainsFunc(perfs, func(k struct{ rule, why string }) bool { return k.rule == c.Rule }) {
					t.Errorf("perf %s, %s: nobody knows of %+v", version, name, c)
				}
			}
			for _, rule := range must {
				if !slices.Contains(rules, rule) {
					t.Errorf("perf %s, %s: it breaks %v, not %s", version, name, rules, rule)
				}
			}
		}
	}
}
