package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// The whole text of plain runs, but for the time that they take.
func TestSummary_WholeText(t *testing.T) {
	dir := testrec.Place(t, "php")
	code, _, stderr := command(t, dir)
	head, tail, _ := strings.Cut(stderr, "wrote ")
	want := fmt.Sprintf(`process    functions  samples  resolved  dump
10085 php         44      151     100 %%  %s/jit-10085.dump
hottest functions (share of samples)
  69.4 %%  collatz  optimized  line 2
PHP's JIT compiler writes no lines: perf annotate shows instructions only
perf.jit.data: 44 mappings, 36 kB of objects in %s
read 35 kB, `, dir, dir)
	if code != exitOK || head != want || !strings.Contains(tail, " kB in ") || !strings.HasSuffix(tail, "s\nnext: jitinject report\n      jitinject view\n") {
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
	fields(reflect.TypeFor[report.Summary](), names)
	fields(reflect.TypeFor[failedRun](), names)
	for _, kind := range []string{
		report.ReasonInjected, report.ReasonNoSamples, report.ReasonNoJittedCode, report.ReasonNoMarker, report.ReasonPerfMap, report.ReasonFlagMissing, report.ReasonNoDump,
		report.ReasonUnknownRuntime, report.ReasonMore, report.ClockMonotonic, report.ClockTSC, report.ClockEstimated, report.ClockGiven, report.ClockNone,
	} {
		names[kind] = true
	}
	for name := range names {
		if !bytes.Contains(text, []byte("`"+name+"`")) {
			t.Errorf("help/summary.md says nothing of `%s`", name)
		}
	}
	dir := testrec.Place(t, "php")
	_, stdout, _ := command(t, dir, "--summary", "json")
	var sum map[string]json.RawMessage
	if err := json.Unmarshal([]byte(stdout), &sum); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"version", "input", "output", "dumps", "samples", "hottest", "problems", "markers", "already_injected", "mappings", "objects", "elapsed_ns", "bytes_read", "bytes_written"} {
		if sum[name] == nil {
			t.Errorf("there is no %s in\n%s", name, stdout)
		}
	}
}

// The summary of a recording whose copies of stacks are full says so.
func TestSummary_FullCopiesOfStacks(t *testing.T) {
	for name, want := range map[string]bool{"php-dwarf": true, "node-dwarf": false, "node-hot": false} {
		_, _, stderr := command(t, testrec.Place(t, name))
		if strings.Contains(stderr, "full copies of the stack (8,192 bytes)") != want {
			t.Errorf("%s: want the hint %v:\n%s", name, want, stderr)
		}
	}
}
