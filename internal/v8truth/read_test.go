package v8truth_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/v8truth"
)

func TestMain(m *testing.M) { testrec.Main(m) }

// recordings returns directories with a recording of node or deno, its jitdump and its logs:
// those of testdata, and those that JITINJECT_V8LOGS names, separated by colons.
func recordings(t *testing.T) (dirs map[string]string) {
	dirs = make(map[string]string)
	for _, name := range []string{"v8log-node25", "v8log-workers"} {
		dirs[name] = testrec.Place(t, name)
	}
	for _, dir := range filepath.SplitList(os.Getenv("JITINJECT_V8LOGS")) {
		dirs[filepath.Base(dir)] = dir
	}
	return dirs
}

// logs reads the logs of a recording, by name.
func logs(t *testing.T, dir string) map[string]*v8truth.Log {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*v8.log"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("got %d logs in %s, %v; want one at least", len(paths), dir, err)
	}
	all := make(map[string]*v8truth.Log)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		l, err := v8truth.Read(string(b))
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		all[filepath.Base(path)] = l
	}
	return all
}

// V8 writes the line and column of each function, and its offset in the script. The two must agree.
func TestRead_FunctionsBeginWhereV8Says(t *testing.T) {
	for name, dir := range recordings(t) {
		for file, l := range logs(t, dir) {
			checked := 0
			for _, c := range l.Codes {
				f := c.Function
				if f == nil || f.Script == nil {
					continue
				}
				checked++
				line, column := f.Script.Place(f.Start)
				if line != f.Line || column != f.Column {
					t.Errorf("%s/%s:%d: %s begins at %d:%d; want %d:%d", name, file, c.Line, c.DumpName(), line, column, f.Line, f.Column)
				}
			}
			if checked < 50 {
				t.Errorf("%s/%s: got %d functions; want 50 at least", name, file, checked)
			}
			t.Logf("%s/%s: %d", name, file, checked)
		}
	}
}

// calls calls each for every inlined call that a byte of code comes from, once.
func calls(l *v8truth.Log, each func(c *v8truth.Code, at uint64, callee, caller v8truth.Frame)) {
	type call struct {
		callee *v8truth.Function
		caller v8truth.Frame
	}
	seen := make(map[call]bool)
	for _, c := range l.Codes {
		var last []v8truth.Frame
		for at := range c.Size {
			chain := c.Chain(at)
			if slices.Equal(chain, last) {
				continue
			}
			last = chain
			for i := 1; i < len(chain); i++ {
				if k := (call{chain[i-1].Function, chain[i]}); !seen[k] {
					seen[k] = true
					each(c, at, chain[i-1], chain[i])
				}
			}
		}
	}
}

// The line of an inlined call has the name of the function that is called. Only the programs'
// own files count: node's have calls through other names. V8 has two places of its own: the
// beginning of a constructor calls the initializer of a class, and Maglev's code that replaces
// a running loop has calls at the loop.
func TestChain_CallersNameCallees(t *testing.T) {
	for _, name := range []string{"v8log-node25", "v8log-workers"} {
		for file, l := range logs(t, testrec.Unpack(t, name)) {
			checked := 0
			calls(l, func(c *v8truth.Code, at uint64, callee, caller v8truth.Frame) {
				word := callee.Name[strings.LastIndexByte(callee.Name, ' ')+1:] // without get
				if word == "" || strings.HasPrefix(caller.URL, "node:") {
					return
				}
				checked++
				line := strings.Split(caller.Script.Text(), "\n")[caller.Line-1]
				initializer := caller.Name == "Vec" && caller.Line == caller.Function.Line && caller.Column == caller.Function.Column
				loop := strings.Contains(c.Tier, "+") && strings.HasPrefix(strings.TrimSpace(line), "for ")
				escaped := strings.NewReplacer("\\", `\\`, "\n", `\n`).Replace(word)
				if !strings.Contains(line, escaped) && !initializer && !loop {
					t.Errorf("%s/%s:%d+%#x: %s is called at %s:%d:%d; want a line with that name", name, file, c.Line, at, callee.Name, caller.URL, caller.Line, caller.Column)
				}
			})
			if checked < 10 {
				t.Errorf("%s/%s: got %d calls; want 10 at least", name, file, checked)
			}
		}
	}
}

// chains returns the chains of names in optimized code of functions, the innermost first.
func chains(l *v8truth.Log) (all []string) {
	for _, c := range l.Codes {
		if !c.IsOptimized() {
			continue
		}
		for at := range c.Size {
			var names []string
			for _, f := range c.Chain(at) {
				names = append(names, fmt.Sprintf("%s %s:%d", f.Name, filepath.Base(f.URL), f.Line))
			}
			if s := strings.Join(names, " ← "); !slices.Contains(all, s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// The hot lines of the program.
func TestChain_HotLines(t *testing.T) {
	for name, main := range map[string]string{"v8log-node25": "main.js", "v8log-workers": "job.js"} {
		want := "clamp clamp.js:3 ← step step.js:8 ← simulate " + main + ":8"
		for file, l := range logs(t, testrec.Unpack(t, name)) {
			if all := chains(l); !slices.ContainsFunc(all, func(c string) bool { return strings.HasPrefix(c, want) }) {
				t.Errorf("%s/%s: got no chain %s in\n%s", name, file, want, strings.Join(all, "\n"))
			}
		}
	}
}

// small has an odd name, an inlined call in an inlined call, and inlined recursion.
const small = `v8-version,14,1,146,11,-node.25,0
script-source,7,/x\x2c y \u2192/1 f.js,// \ud83d\ude00\n/* \xe9\u2192\ud83d\ude00 */ (x) => x
code-creation,JS,9,1,0x100,5,a,\x62
c /x\x2c y \u2192/1 f.js:2:12,0xa0,~
code-source-info,0x100,7,17,25,C0O17,,
code-creation,JS,12,2,0x200,64, outer /x\x2c y \u2192/1 f.js:1:6,0xb0,o*'
code-source-info,0x200,7,5,25,C4O9C4O20I1C8O10I2,F0O18F0O19I0FO-1,S0xa0
`

func TestRead_NamesAndPlaces(t *testing.T) {
	l, err := v8truth.Read(small)
	if err != nil || len(l.Codes) != 2 {
		t.Fatalf("got %v, %v; want 2 codes, no error", l, err)
	}
	const name = "a,\\x62\nc"
	if got := l.Codes[0].Function.Name; got != name {
		t.Errorf("got name %q; want %q", got, name)
	}
	if got, want := l.Codes[1].DumpName(), "JS:o*' outer /x, y →/1 f.js:1:6"; got != want {
		t.Errorf("got name in the dump %q; want %q", got, want)
	}
	for at, want := range map[uint64][]string{
		3:  nil,
		4:  {name + " 2:15", name + " 2:14", " outer 2:13"},
		7:  {name + " 2:15", name + " 2:14", " outer 2:13"},
		63: {" outer 2:5", " outer 0:0"},
	} {
		var got []string
		for _, f := range l.Codes[1].Chain(at) {
			got = append(got, fmt.Sprintf("%s %d:%d", f.Name, f.Line, f.Column))
			if f.URL != "/x, y →/1 f.js" {
				t.Errorf("got script %q", f.URL)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("got at %d %q; want %q", at, got, want)
		}
	}
}

// Whatever is wrong is an error: the reader is to judge others.
func TestRead_Errors(t *testing.T) {
	for old, change := range map[string]string{
		"C4O20I1":                  "C4O20I3",
		"F0O19I0":                  "F0O19I1",
		"F0O18":                    "F1O18",
		"S0xa0":                    "S0xa8",
		"C8O10":                    "C3O10",
		"C8":                       "D8",
		"code-source-info,0x200":   "code-source-info,0x208",
		"x200,7,":                  "x200,8,",
		`\ude00\n`:                 `\ude0`,
		"f.js:1:6":                 "g.js:1:6",
		"script-source,7,":         "script-source,7,,",
		"code-creation,JS,12,2,0x": "code-creation,JS,12,2,",
		"v8-version,14":            "ccode-creation,JS",
	} {
		if !strings.Contains(small, old) {
			t.Fatalf("the log has no %q", old)
		}
		if l, err := v8truth.Read(strings.Replace(small, old, change, 1)); err == nil {
			t.Errorf("%s in place of %s: got %v, no error; want an error", change, old, l.Codes)
		}
	}
}
