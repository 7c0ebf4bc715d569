package engine_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

const lateNote = "after V8 started, without the code that V8 makes first; inlined calls of earlier functions are left out of "

// A log that the program switched on lacks earlier functions. That is a note. In a log from the start they
// are missing, which is a problem, as are damaged lines.
func TestV8Log_BeganLater(t *testing.T) {
	const name = "isolate-0x1-8649-v8.log"
	for _, c := range []struct {
		name, old, new string
		note, problem  string
	}{
		{"as it is", "", "", "it begins 0.023 s " + lateNote + "1 of its 10 optimized functions", ""},
		{"from the start", "\n", "\ncode-creation,Builtin,2,8039,0x18c4000,768,Abort\n", "", "1 inlined calls of functions that the log does not describe"},
		{"damaged", "code-creation,JS,10,24241", "code-creation,JS,10,x", lateNote, "damaged lines are left out: 1"},
	} {
		dir := placeSample(t, "late", name)
		log := read(t, filepath.Join(dir, name))
		put(t, filepath.Join(dir, name), bytes.Replace(log, []byte(c.old), []byte(c.new), 1))
		sum := runLog(t, dir, "out", nil)
		if notes := strings.Join(sum.Notes, "\n"); (c.note != "") != strings.Contains(notes, lateNote) || !strings.Contains(notes, c.note) {
			t.Errorf("%s: got notes %q; want %q", c.name, sum.Notes, c.note)
		}
		if sum.Complete() != (c.problem == "") || c.problem != "" && !strings.Contains(sum.Problems[0].String(), c.problem) {
			t.Errorf("%s: got problems %v; want %q", c.name, sum.Problems, c.problem)
		}
		if d := sum.Dumps[0]; len(d.Logs) != 1 || d.Logs[0].Paired != 10 || d.Inlining < 5 {
			t.Errorf("%s: got %s; want 10 functions of the log, most with inlined calls", c.name, asJSON(sum))
		}
	}
}

// A log that a preload switches on in a program of today's node is a note, too.
func TestV8Log_SwitchedOnByNode(t *testing.T) {
	testrec.CanRecord(t)
	perf, node := testrec.Tool(t, "perf"), testrec.Tool(t, "node", "nodejs")
	dir := t.TempDir()
	put(t, filepath.Join(dir, "flags.cjs"), []byte(`'use strict';
function square(x) { return x * x; }
global.scale = function scale(x, by) { return square(x) * by; };
scale(1, 2);
for (const flag of ['--log-code', '--log-source-code', '--log-source-position']) require('v8').setFlagsFromString(flag);
`))
	put(t, filepath.Join(dir, "app.js"), []byte(`'use strict';
function sum(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s = (s + scale(i, 3)) % 1000003;
  return s;
}
let total = 0;
for (let i = 0; i < 400; i++) total += sum(50000);
console.log(total);
`))
	// Sparkplug would make code of square, and so describe it, before scale is optimized.
	testrec.Run(t, dir, perf, "record", "-q", "-e", "cpu-clock", "-F", "499", "-k", "mono", "-g", "-o", "perf.data", "--", node, "--perf-prof", "--no-sparkplug", "--require=./flags.cjs", "app.js")
	sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")})
	if err != nil {
		t.Fatal(err)
	}
	if d := sum.Dumps; !sum.Complete() || len(d) != 1 || len(d[0].Logs) != 1 || d[0].Logs[0].Paired == 0 || d[0].Samples.Resolved == 0 {
		t.Fatalf("got %s; want one dump with a log and samples, nothing missing", asJSON(sum))
	}
	if n := inlinesUnnamed(read(t, sum.Dumps[0].Logs[0].Path)); n == 0 {
		testrec.Skip(t, "this node inlined no function from before the switch")
	} else if want := fmt.Sprintf("%s%d of its %d optimized", lateNote, n, sum.Dumps[0].Logs[0].Optimized); !strings.Contains(strings.Join(sum.Notes, "\n"), want) {
		t.Errorf("got notes %q; want %q", sum.Notes, want)
	}
}

// inlinesUnnamed returns how many code objects of a log have a function inlined that no line before
// names.
func inlinesUnnamed(log []byte) (n int) {
	named := make(map[string]bool)
	for line := range strings.Lines(string(log)) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		switch {
		case fields[0] == "code-creation" && len(fields) > 7:
			named[fields[7]] = true
		case fields[0] == "sfi-move":
			named[fields[2]] = named[fields[1]]
		case fields[0] == "code-source-info" && slices.ContainsFunc(strings.Split(fields[7], "S")[1:], func(sfi string) bool { return !named[sfi] }):
			n++
		}
	}
	return n
}
