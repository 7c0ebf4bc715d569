package verify_test

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

// A known is a complaint that a runtime's dumps or recordings get, and why.
type known struct {
	runtime, rule string
	why           string // it is there
}

// knowns explain every complaint about the recordings of testdata.
var knowns = []known{
	{"Node.js 20 (V8)", "dump/pad", "V8 writes 0xdeadbeef into the field."},
	{"Node.js 20 (V8)", "dump/header-time", "`LinuxPerfJitLogger::LogWriteHeader` writes the time of the day, in microseconds since 1970."},
	{"Node.js 20 (V8)", "dump/lines-skewed", "V8 adds 0x40, the size of an ELF header, to every address. perf needed this up to Linux 5.8. Now perf inject shows each line 64 bytes too late. jitinject moves them back."},
	{"Node.js 20 (V8)", "dump/lines-bytecode", "Code of the baseline compiler, Sparkplug, has the source positions of its bytecode. V8 writes offsets in the bytecode instead of addresses. jitinject leaves these functions without lines."},
	{"Node.js 20 (V8)", "dump/file-freed", "The names of script files are written from freed memory. Their first 16 bytes have the allocator's links, with NULs in them. perf inject reads garbage from there. jitinject finds the name in the function's own."},
	{"Erlang/OTP 25 (BeamAsm)", "dump/load-tid", "The tid is the handle of a pthread, and no number of the kernel."},
	{"Erlang/OTP 25 (BeamAsm)", "dump/line-zero", "The last entry of each function has line 0 and the address of its end."},
	{"Erlang/OTP 25 (BeamAsm)", "dump/lines-outside", "The first entry is at the function's header (its name, arity and breakpoint), up to 0x37 bytes before code_addr."},
	{"CPython 3.14", "dump/header-time", "`perf_map_jit_write_header` writes `gettimeofday`, in microseconds since 1970."},
	{"CPython 3.15", "dump/header-time", "As 3.14."},
	{"CPython 3.15", "dump/code-salted", "`perf_map_jit_write_entry_with_name` replaces the last 8 bytes of the copy. So objects of perf inject of Linux 6.17 do not share a build id. But jitinject shows these bytes as (bad): the true ones are unknown."},
	{"LLVM 14 (lli, MCJIT)", "dump/vma", "`PerfJITEventListener` leaves vma 0."},
	{"LLVM 14 (lli, MCJIT)", "dump/line-zero", "LLVM's line tables have line 0 for code that comes from no line, and the listener passes it on."},
	{"LLVM 14 (lli, MCJIT)", "dump/lines-skewed", "The listener adds 0x40, as V8 does. ORC's `PerfSupportPlugin` does so, too."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/pad", "`FillMachine` of `JITLoaderPerf.cpp` leaves the field uninitialised, up to LLVM 21."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/flags", "The same. perf inject refuses the dump; jitinject finds the clock by the times."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/line-zero", "As LLVM 14."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/lines-skewed", "`PerfSupportPlugin` adds 0x40, as V8 does."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/lines-order", "The records of an object file are written kind by kind: unwinding, debug information, loads. So perf gives the last debug record to the first load. jitinject matches them by address."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/unwind-order", "The specification has the header first; perf reads it last. jitinject reads both."},
	{"LLVM 19 (ORC, llvm-jitlink)", "dump/unwind-shared", "One record has the .eh_frame of an object file. jitinject finds each function's FDE by the address in the header."},
}

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

// perfMaps are maps that are checked, and whose they are.
var perfMaps = []struct{ name, runtime, path string }{
	{"openjdk-17.map", "OpenJDK 17's map", "../format/perfmap/testdata/openjdk-17.map"},
	{"openjdk-25.map", "OpenJDK 25's map", "../format/perfmap/testdata/openjdk-25.map"},
	{"node-20.map", "Node.js 20's map", "../format/perfmap/testdata/node-20.map"},
	{"python-3.12.map", "CPython 3.12's map", "../format/perfmap/testdata/python-3.12.map"},
	{"erlang-25.map", "Erlang/OTP 25's map", "../format/perfmap/testdata/erlang-25.map"},
	{"php-8.2.map", "PHP 8.2's map", "../format/perfmap/testdata/php-8.2.map"},
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
	if _, err := checks.Verifier().File(context.Background(), path, opts); err != nil {
		t.Errorf("%s: %v", path, err)
	}
}

// TestRuntimes: what the dumps, maps and recordings of real runtimes get is known, and why.
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
	for _, l := range perfMaps {
		countsOf(t, counts, told{recording: l.name, runtime: l.runtime}, l.path, verify.Options{})
	}
	explained := make(map[[2]string]known)
	for _, k := range knowns {
		explained[[2]string{k.runtime, k.rule}] = k
	}
	found := make(map[[2]string]bool)
	for k := range counts {
		found[[2]string{k.runtime, k.rule}] = true
		if _, ok := explained[[2]string{k.runtime, k.rule}]; !ok {
			t.Errorf("%s: %s is broken %d times, and nobody says why", k.recording, k.rule, counts[k])
		}
	}
	for _, k := range knowns {
		if r, ok := checks.Verifier().Explain(k.rule); !ok || !r.Repaired && r.Severity != verify.Note {
			t.Errorf("%s breaks %s, and the rule is not Repaired", k.runtime, k.rule)
		}
		if !found[[2]string{k.runtime, k.rule}] {
			t.Errorf("%s does not break %s any more", k.runtime, k.rule)
		}
	}
}

// TestResults: what jitinject makes gets no complaint.
func TestResults(t *testing.T) {
	for _, name := range testrec.Few(testrec.Names, 2) {
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
	// Both count for themselves.
	if result, err := checks.Verifier().File(context.Background(), opts.Output, verify.Options{}); err != nil || result.Shown != sum.Samples.Resolved || result.Samples != sum.Samples.Total {
		t.Errorf("got %+v, %v; want %+v", result, err, sum.Samples)
	}
}

// perfs are the complaints that results of perf inject get, and why.
var perfs = []struct{ rule, why string }{
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
			"node-dwarf": {"object/frame-segment"},
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
