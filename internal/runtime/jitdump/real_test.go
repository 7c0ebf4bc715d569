package jitdump_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/jitcode"
	jitdumps "github.com/jitinject/jitinject/internal/runtime/jitdump"
	"github.com/jitinject/jitinject/internal/testrec"
)

// scanReal scans a dump of a recording.
func scanReal(t testing.TB, recording, dump string) *jitdumps.Dump {
	t.Helper()
	f, err := os.Open(filepath.Join(testrec.Unpack(t, recording), dump))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	d := scan(t, f)
	if len(d.Problems) > 0 {
		t.Errorf("problems: %v", d.Problems)
	}
	return d
}

// tables reads all functions and returns the line tables of those that have one,
// in the order of the file, as "name: offset file:line:column ...".
func tables(t testing.TB, d *jitdumps.Dump) (tables []string) {
	t.Helper()
	r := d.Reader()
	for i := range d.NumFunctions() {
		fn, err := r.Function(i)
		if err != nil {
			t.Fatal(err)
		}
		if len(fn.Lines) > 0 {
			tables = append(tables, table(fn))
		}
	}
	if len(r.Problems) > 0 {
		t.Errorf("problems: %v", r.Problems)
	}
	return tables
}

func table(fn *jitcode.Function) string {
	var s strings.Builder
	fmt.Fprintf(&s, "%s:", fn.Name)
	for _, l := range fn.Lines {
		if l.Line == 0 {
			fmt.Fprintf(&s, " %d -", l.Offset)
		} else {
			fmt.Fprintf(&s, " %d %s:%d:%d", l.Offset, fn.Files[l.File], l.Line, l.Column)
		}
	}
	return s.String()
}

// fixes returns what was repaired, by name.
func fixes(d *jitdumps.Dump) map[string]int64 {
	m := make(map[string]int64)
	for _, r := range d.Fixes() {
		m[r.Name] = r.Count
	}
	return m
}

// V8: addresses 0x40 too high, names in freed memory, bytecode offsets.
func TestRecorded_V8(t *testing.T) {
	d := scanReal(t, "node-fp", "jit-9906.dump")
	got := tables(t, d)
	if want := map[string]int64{"skewed-lines": 6, "bytecode-offsets": 20, "freed-file-names": 6}; !reflect.DeepEqual(fixes(d), want) {
		t.Errorf("repairs %v, want %v", fixes(d), want)
	}
	if len(got) != 6 {
		t.Fatalf("%d functions with lines, want 6: those of the optimizing compiler", len(got))
	}
	// Its entries, as they stand in the dump, less 0x40. The name of the file has
	// 16 bytes of the allocator's in front of "g.js".
	const f = "/tmp/rec/node-fp/prog.js"
	want := "JS:*hash " + f + ":1:14:"
	for _, e := range []string{"0 %s:1:14", "39 %s:1:42", "75 %s:1:39", "83 %s:1:88", "128 %s:1:63", "333 %s:1:26"} {
		want += " " + fmt.Sprintf(e, f)
	}
	if !strings.HasPrefix(got[1], want) {
		t.Errorf("lines %s\nwant  %s", got[1], want)
	}
	for _, table := range got {
		if strings.Count(table, f) != strings.Count(table, ".js:") {
			t.Errorf("a file name is wrong: %s", table)
		}
	}
}

// BeamAsm: entries before and behind the function, line 0 at the end, thread ids
// that are pointers.
func TestRecorded_Erlang(t *testing.T) {
	d := scanReal(t, "erlang", "jit-10050.dump")
	got := tables(t, d)
	if len(got) != 6098 {
		t.Errorf("%d functions with lines, want 6098", len(got))
	}
	if want := "proc_lib:spawn/1: 0 proc_lib.erl:90:0 76 proc_lib.erl:91:0 91 proc_lib.erl:92:0 203 proc_lib.erl:93:0 254 proc_lib.erl:100:0"; got[0] != want {
		t.Errorf("lines %s\nwant  %s", got[0], want)
	}
	for _, e := range d.Events {
		if e.TID != 10050 {
			t.Fatalf("thread %d", e.TID)
		}
	}
	if r := fixes(d); r["skewed-lines"] != 0 || r["bytecode-offsets"] != 0 || r["absurd-tids"] != 15817 || r["lines-outside"] < 6000 {
		t.Errorf("repairs %v", r)
	}
}

// LLVM: the lines are those of the same code compiled ahead of time.
func TestRecorded_LLVM(t *testing.T) {
	d := scanReal(t, "lli-hot", "jit-585.dump")
	got := tables(t, d)
	if len(got) != 2 {
		t.Fatalf("tables %v", got)
	}
	if r := fixes(d); r["skewed-lines"] != 2 {
		t.Errorf("repairs %v", r)
	}
	// The code of hot is the same in both, main calls it in another way.
	aot := readAOT(t, filepath.Join(testrec.Unpack(t, "lli-hot"), "hot.aot.lines"))
	fn, err := d.Reader().Function(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range fn.Lines {
		if want := aot[l.Offset]; int(l.Line) != want {
			t.Errorf("%s+%#x is line %d, compiled ahead of time it is %d", fn.Name, l.Offset, l.Line, want)
		}
	}
	const f = "/tmp/rec/lli-hot/hot.c"
	if want := fmt.Sprintf("main: 0 %s:11:0 32 %s:14:0 44 %s:13:0 56 %s:15:0", f, f, f, f); got[1] != want {
		t.Errorf("lines %s\nwant  %s", got[1], want)
	}
}

// readAOT reads what llvm-dwarfdump --debug-line prints: the line of each address.
func readAOT(t *testing.T, path string) map[uint64]int {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := make(map[uint64]int)
	for s := bufio.NewScanner(f); s.Scan(); {
		var addr uint64
		var line int
		if n, _ := fmt.Sscanf(s.Text(), "0x%x %d", &addr, &line); n == 2 {
			lines[addr] = line // of several rows at an address the last one counts
		}
	}
	if len(lines) == 0 {
		t.Fatalf("%s holds no rows", path)
	}
	return lines
}

// Every node recording is skewed; PHP and BeamAsm are not.
func TestRecorded_SkewOfEveryRuntime(t *testing.T) {
	for _, name := range testrec.Names {
		for _, path := range testrec.Dumps(t, testrec.Unpack(t, name)) {
			d := scanReal(t, name, filepath.Base(path))
			tables(t, d)
			skewed := fixes(d)["skewed-lines"] > 0
			if want := strings.HasPrefix(name, "node") || strings.HasPrefix(name, "lli"); skewed != want {
				t.Errorf("%s: %s: skewed is %v", name, path, skewed)
			}
		}
	}
}
