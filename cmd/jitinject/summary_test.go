package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	engine "github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// The whole text of plain runs, but for the time that they take.
func TestSummary_WholeText(t *testing.T) {
	dir := testrec.Place(t, "php")
	code, _, stderr := command(t, dir)
	head, tail, _ := strings.Cut(stderr, "wrote ")
	want := fmt.Sprintf(`process    functions  samples  resolved  dump
10085 php         44      151     100 %%  %s/jit-10085.dump
perf.jit.data: 44 mappings, 36 kB of objects in %s
read 35 kB, `, dir, dir)
	if code != exitOK || head != want || !strings.Contains(tail, " kB in ") || !strings.HasSuffix(tail, "s\n") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
	st, err := os.Stat(filepath.Join(dir, "jit-10085.dump"))
	if err == nil {
		err = os.Truncate(filepath.Join(dir, "jit-10085.dump"), st.Size()/2)
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, _, stderr = command(t, dir, "--no-count"); strings.Contains(stderr, "samples") || !strings.Contains(stderr, "\n    the dump ends inside a record, at offset 0x") {
		t.Error(stderr)
	}
	code, _, stderr = command(t, dir)
	if code != exitIncomplete || !strings.Contains(stderr, "ends inside a record") || !strings.Contains(stderr, "and 151 of 151 samples are in code that it does not describe; process 10085 ended before it wrote the rest, or the disk was full; to keep the rest next time: jitinject record -- COMMAND") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// dumps makes a summary of so many.
func dumps(n int) *engine.Summary {
	s := &engine.Summary{Input: "perf.data", Output: "out.data", Markers: n, Samples: new(engine.SampleSummary), Elapsed: 61e9}
	for i := range n {
		s.Dumps = append(s.Dumps, engine.DumpSummary{
			PID: uint32(1000 + i), Command: "node\x1b[2J", Path: fmt.Sprintf("/tmp/jit-%d.dump", 1000+i), Objects: fmt.Sprintf("/o/%d", i), Functions: 10 * i, Cut: -1,
			Samples: &engine.JitSamples{InJIT: int64(100 * i), Resolved: int64(99 * i)},
		})
	}
	return s
}

// Objects that were replaced are told of without alarm: mostly they are of the same recording,
// which was injected before in another way.
func TestSummary_ReplacedObjects(t *testing.T) {
	for n, want := range map[int]string{0: "", 1: "1 object was replaced, as the contents differed; an earlier result", 1234: "1,234 objects were replaced, as the contents differed; an earlier result"} {
		var out bytes.Buffer
		s := dumps(1)
		s.Replaced = n
		writeSummary(&out, s, "", false)
		if text := out.String(); !strings.Contains(text, want) || strings.Contains(text, "replaced") != (n > 0) {
			t.Errorf("%d replaced: got %s; want %q, and nothing of it without replaced objects", n, text, want)
		}
	}
}

// Many dumps are summed up behind the largest; the columns are straight, and what is in
// names does no harm.
func TestSummary_ManyDumps(t *testing.T) {
	for n, rows := range map[int]int{1: 1, 2: 3, 20: 21, 21: 17, 3000: 17} {
		for _, all := range []bool{false, true} {
			if all && n > 20 {
				rows = n + 1
			}
			var out bytes.Buffer
			writeSummary(&out, dumps(n), "", all)
			text := out.String()
			table, rest, ok := strings.Cut(text, "out.data: ")
			lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
			lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "    unresolved: ") })
			if !ok || len(lines) != rows+1 || strings.Contains(text, "\x1b") || strings.Count(rest, "\n") != 2 || !strings.HasSuffix(rest, " in 1m1s\n") {
				t.Fatalf("%d, all %v: %d lines\n%s", n, all, len(lines), text)
			}
			column := strings.Index(lines[0], "  dump")
			for _, line := range lines[1:] {
				if len(line) != column && !strings.HasPrefix(line[column:], "  /tmp/jit-") && !strings.HasPrefix(line[column:], "  (all of them") {
					t.Errorf("%d: not straight:\n%s\n%s", n, lines[0], line)
				}
			}
			sum := n * (n - 1) / 2
			if last := lines[len(lines)-1]; n > 1 && (!strings.HasPrefix(last, "all ") || !strings.Contains(last, " "+number(int64(10*sum))+" ") || !strings.Contains(last, " "+number(int64(100*sum))+" ") || !strings.Contains(last, "99.0 %")) {
				t.Errorf("%d dumps: got %s; want a line of all with %d functions, %d samples, 99.0 %%", n, last, 10*sum, 100*sum)
			}
			if n > 20 && !all && (!strings.HasPrefix(lines[1], fmt.Sprint(999+n)) || !strings.HasPrefix(lines[16], fmt.Sprintf("%d more", n-15))) {
				t.Errorf("%d dumps: want the first line to be of process %d, the 16th of %d more; got\n%s", n, 999+n, n-15, text)
			}
		}
	}
}

func TestShare_Rounding(t *testing.T) {
	for want, s := range map[string]engine.JitSamples{
		"": {}, "100 %": {InJIT: 3, Resolved: 3}, "0 %": {InJIT: 3}, "99.9 %": {InJIT: 1e9, Resolved: 1e9 - 1}, "0.1 %": {InJIT: 1e9, Resolved: 1}, "66.7 %": {InJIT: 3, Resolved: 2},
	} {
		if got := share(s); got != want {
			t.Errorf("for %+v: got %q, want %q", s, got, want)
		}
	}
}

// fields returns the names in the JSON form of a type.
func fields(t reflect.Type, names map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		fields(t.Elem(), names)
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
				names[name] = true
			}
			fields(f.Type, names)
		}
	}
}

// Every field of the JSON form is explained, and every kind of reason; and every field is
// there, whatever was done.
func TestSummary_EveryFieldExplained(t *testing.T) {
	text, err := helpFiles.ReadFile("help/summary.md")
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	fields(reflect.TypeFor[engine.Summary](), names)
	fields(reflect.TypeFor[failedRun](), names)
	for _, kind := range []string{
		engine.ReasonInjected, engine.ReasonNoSamples, engine.ReasonNoJittedCode, engine.ReasonNoMarker, engine.ReasonPerfMap, engine.ReasonFlagMissing, engine.ReasonNoDump,
		engine.ReasonUnknownRuntime, engine.ReasonMore, engine.ClockMonotonic, engine.ClockTSC, engine.ClockEstimated, engine.ClockGiven, engine.ClockNone,
	} {
		names[kind] = true
	}
	for name := range names {
		if !bytes.Contains(text, []byte("`"+name+"`")) {
			t.Errorf("help/summary.md says nothing of `%s`", name)
		}
	}
	for _, c := range columns {
		if !bytes.Contains(text, []byte("**"+c.title+"**")) {
			t.Errorf("help/summary.md says nothing of the column %s", c.title)
		}
	}
	dir := testrec.Place(t, "php")
	_, stdout, _ := command(t, dir, "--summary", "json")
	var sum map[string]json.RawMessage
	if err := json.Unmarshal([]byte(stdout), &sum); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"version", "input", "output", "dumps", "samples", "problems", "markers", "already_injected", "mappings", "objects", "elapsed_ns", "bytes_read", "bytes_written"} {
		if sum[name] == nil {
			t.Errorf("there is no %s in\n%s", name, stdout)
		}
	}
}

// Where code is missing, it is said once, and not that a core is needed where there was one.
func TestSummary_CodeMissing(t *testing.T) {
	for _, x := range []struct {
		change func(d *engine.DumpSummary)
		want   string
		no     string
		times  int
	}{
		{func(d *engine.DumpSummary) {}, "Mono's logs hold no code", "in no file of", 1},
		{func(d *engine.DumpSummary) { d.Samples.InJIT = 0 }, "", "code", 0}, // nobody looks for any
		{func(d *engine.DumpSummary) { d.CodeFiles = 1 }, "the code of 900 of its functions is in no file of --code-from; the memory of others was reused", "hold no code", 3},
		{func(d *engine.DumpSummary) { d.CodeFiles, d.Late = 1, 800 }, "in no file of --code-from; 800 functions were loaded after the core dump was made: make the core dump later", "hold no code", 3},
		{func(d *engine.DumpSummary) { d.CodeFiles, d.WithoutCode, d.Late = 1, 100, 80 }, "", "code", 0}, // said with -v
		{func(d *engine.DumpSummary) { d.Kind, d.WithoutCode = engine.KindJ9, 1 }, "its captures have no code of 1 of its functions", "hold no code", 3},
		{func(d *engine.DumpSummary) { d.Kind, d.WithoutCode = engine.KindJ9, 0 }, "", "no code", 0},
	} {
		s := dumps(3)
		for i := range s.Dumps {
			d := &s.Dumps[i]
			d.Samples = &engine.JitSamples{InJIT: 100, Resolved: 100}
			d.Kind, d.Functions, d.WithoutCode = engine.KindMono, 1000, 900
			x.change(d)
		}
		var out bytes.Buffer
		writeSummary(&out, s, "", false)
		if text := out.String(); x.times > 0 && strings.Count(text, x.want) != x.times || strings.Contains(text, x.no) {
			t.Errorf("not %d times %q, or %q in\n%s", x.times, x.want, x.no, text)
		}
	}
}

// One line says how much a log of V8 would add to several dumps.
func TestSummary_Unlogged(t *testing.T) {
	const about = "V8's log would add"
	for unlogged, want := range map[int]string{
		0:   "",
		400: about + " inlined calls and exact lines to 1,200 functions: add V8's flags --log-code --log-source-code; see jitinject help v8log\n",
	} {
		s := dumps(3)
		for i := range s.Dumps {
			s.Dumps[i].Unlogged = unlogged
		}
		var out bytes.Buffer
		writeSummary(&out, s, "", false)
		if text := out.String(); strings.Count(text, about) != min(unlogged, 1) || !strings.Contains(text, want) {
			t.Errorf("%d functions a dump: got %q; want %q once", unlogged, text, want)
		}
	}
}

// If the recorded command asks for V8's log, that was not found.
func TestSummary_UnloggedAsked(t *testing.T) {
	for line, asked := range map[string]bool{
		"node --perf-prof --log-code --log-source-code app.js":           true,
		"deno run --v8-flags=--perf_prof,--log_code,--log-source-code a": true,
		"node --perf-prof --log-code app.js":                             false,
		"node --perf-prof --log-source-code app.js":                      false,
		"node --log-code-disassemble --log-source-code app.js":           false,
	} {
		s := dumps(1)
		s.Dumps[0].Unlogged, s.Cmdline = 4, strings.Fields("perf record "+line)
		var out bytes.Buffer
		writeSummary(&out, s, "", false)
		if text := out.String(); strings.Contains(text, "no isolate-*-PID-v8.log is used; name its directory with --dump-dir") != asked || strings.Contains(text, "add V8's flags") == asked {
			t.Errorf("%s: got %q; want the flags only if they are missing", line, text)
		}
	}
}

// If most copies of stacks are full, they are too small: the summary names a larger size.
func TestSummary_StacksTooSmall(t *testing.T) {
	for _, c := range []struct {
		s    engine.StackSummary
		want string
	}{
		{engine.StackSummary{Samples: 1240, Full: 1173, Room: 8192}, "1,173 of its 1,240 samples have full copies of the stack (8,192 bytes): if perf report lacks outer callers, record with --call-graph dwarf,32768"},
		{engine.StackSummary{Samples: 40, Full: 21, Room: 32768}, "21 of its 40 samples have full copies of the stack (32,768 bytes): if perf report lacks outer callers, record with --call-graph dwarf,65528"},
		{engine.StackSummary{Samples: 40, Full: 40, Room: 65208}, "40 of its 40 samples have full copies of the stack (65,208 bytes): outer callers may be missing, and copies cannot be larger"},
		{engine.StackSummary{Samples: 40, Full: 20, Room: 8192}, ""},
		{engine.StackSummary{Samples: 40, Full: 40, Room: 8192, Own: true}, ""}, // Erlang
		{engine.StackSummary{Samples: 10, Full: 10, Room: 8192}, ""},
		{engine.StackSummary{}, ""},
	} {
		if got := stackText(&c.s); got != c.want {
			t.Errorf("for %+v: got %q, want %q", c.s, got, c.want)
		}
	}
	if got := stackText(nil); got != "" {
		t.Errorf("without copies: %q", got)
	}
	for name, want := range map[string]bool{"php-dwarf": true, "node-dwarf": false, "node-hot": false} {
		_, _, stderr := command(t, testrec.Place(t, name))
		if strings.Contains(stderr, "full copies of the stack (8,192 bytes)") != want {
			t.Errorf("%s: want the hint %v:\n%s", name, want, stderr)
		}
	}
}

// If samples are unresolved, the summary says how many are in which code.
func TestSummary_Unresolved(t *testing.T) {
	for want, c := range map[string]struct {
		early, left, resolved int64
		all                   bool
	}{
		"": {0, 0, 990, false},
		"unresolved: 1 sample in code that the dump does not describe":                                                      {0, 0, 999, true},
		"unresolved: 40 samples in code that the dump does not describe":                                                    {0, 0, 960, false},
		"unresolved: 40 samples in code that the dump describes only later":                                                 {40, 0, 960, false},
		"unresolved: 40 samples where a function was that has moved away":                                                   {0, 40, 960, false},
		"unresolved: 40 samples, 30 in code that the dump describes only later, 10 in code that the dump does not describe": {30, 0, 960, false},
		"unresolved: 40 samples, 8 where a function was that has moved away, 32 in code that the dump does not describe":    {0, 8, 960, false},
	} {
		d := &engine.DumpSummary{Samples: &engine.JitSamples{InJIT: 1000, Resolved: c.resolved, Early: c.early, Left: c.left}}
		if got := unresolvedText(d, c.all); got != want {
			t.Errorf("for %+v: got %q; want %q", c, got, want)
		}
	}
}

// Samples in code that a process had removed are not in helpers of a runtime.
func TestSummary_RegisteredCodeRemoved(t *testing.T) {
	s := dumps(2)
	d := &s.Dumps[1]
	d.Kind, d.Samples = engine.KindGDBJIT, &engine.JitSamples{InJIT: 100, Resolved: 50}
	var out bytes.Buffer
	writeSummary(&out, s, "", false)
	if text, want := out.String(), "50 of its samples are in code that the process had removed, or did not register, when its memory was read"; !strings.Contains(text, want) || strings.Contains(text, "helpers") {
		t.Errorf("got %s; want %q", text, want)
	}
}

// Samples may be in no function because objects could not be written: the process has a dump then.
func TestSummary_NothingInjectedOfOthers(t *testing.T) {
	s := dumps(1)
	s.Samples.WithoutDump = fewSamples
	var out bytes.Buffer
	writeSummary(&out, s, "", false)
	if text, want := out.String(), "more samples are in JIT code of processes that got no functions\n"; !strings.Contains(text, want) {
		t.Errorf("got %s; want %q", text, want)
	}
}

// If something is missing, functions that are missing may be in samples.
func TestSummary_CallersOfIncompleteDump(t *testing.T) {
	for _, d := range []engine.DumpSummary{{Cut: 7, Samples: new(engine.JitSamples)}, {Cut: -1, Samples: &engine.JitSamples{InJIT: 3}}} {
		d.Functions = 1
		for with, want := range map[int64]string{0: "", 7: "its functions are callers in 7 of 9 stacks"} {
			d.Callers = &engine.Callers{Stacks: 9, With: with}
			if got := callersText(&d); got != want {
				t.Errorf("for %+v: got %q; want %q", d, got, want)
			}
		}
	}
}

// Functions that are in no sample are callers, or nothing is known.
func TestSummary_Callers(t *testing.T) {
	idle := &engine.Callers{Stacks: 9}
	for want, d := range map[string]engine.DumpSummary{
		"none of its functions is in a sample, or in one of its 9 stacks; record with --call-graph dwarf, as a Python without frame pointers hides them from -g":     {Command: "python3", Callers: idle},
		"none of its functions is in a sample, or in one of its 9 stacks; PHP compiles files younger than two seconds only with -d opcache.file_update_protection=0": {Command: "php8.2", Callers: idle},
		"its functions are only callers: they are in 7 of 9 stacks, and in no sample themselves":                                                                     {Callers: &engine.Callers{Stacks: 9, With: 7}},
		"none of its functions is in a sample, or in one of its 9 stacks":                                                                                            {Callers: &engine.Callers{Stacks: 9}},
		"no sample is in its functions themselves; their addresses are in 8 of 9 copies of the stack, where perf finds callers":                                      {Callers: &engine.Callers{Copies: 9, Words: 8}},
		"no sample is in its functions themselves; callers were not counted":                                                                                         {},
	} {
		d.Functions, d.Samples, d.Cut = 1, new(engine.JitSamples), -1
		if got := callersText(&d); got != want {
			t.Errorf("for %+v: got %q; want %q", d, got, want)
		}
		d.Samples.Resolved = 1
		if got := callersText(&d); got != "" {
			t.Errorf("for a sample in a function: got %q; want nothing", got)
		}
	}
}
