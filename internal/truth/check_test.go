package truth

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
)

func TestParsePlaces_OfThreeTools(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       [][]Place
	}{
		{"addr2line", "0x0000000000000080\nJS:*f file:///a b.mjs:22:15\n??:?\n0x00000000000000e0\nf\n/tmp/a.mjs:25 (discriminator 3)\n", [][]Place{
			{{Function: "JS:*f file:///a b.mjs:22:15"}}, {{Function: "f", File: "a.mjs", Line: 25}}}},
		{"llvm-symbolizer, inlined", "0xe0\ninner\n/tmp/b.c:9:3\nouter\n/tmp/a.c:7:1\n\n0x10\n??\n??:0:0\n\n", [][]Place{
			{{"inner", "b.c", 9}, {"outer", "a.c", 7}}, {{Function: "??"}}}},
		{"eu-addr2line", "0x0000000000000080\nf\nnode:internal/a:30:5\n0x0000000000000084\nf\n??:0\n", [][]Place{
			{{"f", "a", 30}}, {{Function: "f"}}}},
		{"a line 0", "0x80\nf\n/a.c:0\n", [][]Place{{{Function: "f"}}}},
		{"nothing", "", nil},
	} {
		if got := parsePlaces(c.text); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %+v, want %+v", c.name, got, c.want)
		}
	}
}

// object compiles a program into an object with a name as perf shows it, with functions at
// known lines.
func object(t *testing.T) (path string, marks []Mark) {
	t.Helper()
	const program = `static inline __attribute__((always_inline)) int inner(int x) {
  return x * 31; // hot: outer > inner
}
int outer(int x) {
  return inner(x);
}
int plain(int x) {
  return x * 33; // hot: plain
}
int unmarked(int x) { return x; }
`
	dir := t.TempDir()
	src := filepath.Join(dir, "app.c")
	if err := os.WriteFile(src, []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(dir, "jitted-1-1.so")
	for _, tool := range []string{"gcc", "addr2line", "llvm-symbolizer", "eu-addr2line"} {
		testrec.Tool(t, tool)
	}
	if out, err := exec.Command("gcc", "-O1", "-g", "-shared", "-fPIC", "-o", path, src).CombinedOutput(); err != nil {
		t.Fatalf("gcc: %v: %s", err, out)
	}
	marks, err := Marks(src)
	if err != nil {
		t.Fatal(err)
	}
	return path, marks
}

// in makes n samples in a function of an object.
func in(path, symbol string, offset uint64, n int) (samples []judge.Sample) {
	for range n {
		samples = append(samples, judge.Sample{Frames: []judge.Frame{{Symbol: symbol, Offset: offset, DSO: path}}})
	}
	return samples
}

func TestCheck_RealToolsAgree(t *testing.T) {
	path, marks := object(t)
	samples := append(in(path, "plain", 0, 3), in(path, "outer", 0, 5)...)
	samples = append(samples, in(path, "unmarked", 0, 7)...)
	samples = append(samples, in("/usr/bin/app", "plain", 0, 9)...) // not jitted
	samples = append(samples, judge.Sample{})
	verdicts, err := Check(t.Context(), marks, samples, nil, Tools)
	if err != nil {
		t.Fatal(err)
	}
	if got := []int{verdicts[0].Samples, verdicts[1].Samples}; !reflect.DeepEqual(got, []int{5, 3}) {
		t.Errorf("samples of outer and plain: got %v, want [5 3]", got)
	}
	for _, tool := range Tools {
		plain, outer := verdicts[1].Answers[tool.Name], verdicts[0].Answers[tool.Name]
		if plain == nil || plain.Right != 3 || plain.Wrong != 0 || plain.InnerAll != 0 {
			t.Errorf("%s, plain: got %+v, want 3 right", tool.Name, plain)
		}
		if outer == nil || outer.Right != 5 || outer.Inner != 5 || outer.InnerAll != 5 {
			t.Errorf("%s, outer: got %+v, want 5 right, all with a frame for inner", tool.Name, outer)
		}
	}
	if got, want := Sum(verdicts, 1), (Total{Functions: 2, Seen: 2, Lines: 2, Right: 24, Inner: 15, InnerAll: 15}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if got := Failures(verdicts, 1, true); len(got) != 0 {
		t.Errorf("got %q, want no complaint", got)
	}
}

// A frame is missing at the marked line, at a line beside it, and not at all.
func TestCheck_InlinedCalls(t *testing.T) {
	m := &Mark{File: "a.c", Line: 2, Names: []Name{{Function: "outer", Inner: "inner"}}}
	a := Answer{Instead: make(map[string]int)}
	a.add(m, &m.Names[0], []Place{{"inner", "a.c", 2}, {"outer", "a.c", 5}}, 3)
	a.add(m, &m.Names[0], []Place{{"outer", "a.c", 2}}, 5)
	a.add(m, &m.Names[0], []Place{{"outer", "a.c", 5}}, 7)
	a.add(m, &m.Names[0], nil, 11)
	if got := []int{a.Inner, a.InnerAll, a.Bare}; !reflect.DeepEqual(got, []int{3, 26, 5}) {
		t.Errorf("got %v with a frame, of all, and at the line without a frame; want [3 26 5]", got)
	}
}

// With a mark that is one line off, every tool is wrong, and reports its line.
func TestCheck_WrongLines(t *testing.T) {
	path, marks := object(t)
	marks[1].Line++
	samples := in(path, "plain", 0, 3)
	verdicts, err := Check(t.Context(), marks, samples, nil, Tools)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Sum(verdicts, 1), (Total{Functions: 2, Seen: 1, Wrong: 9}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	want := []string{
		"outer (app.c:2): 0 samples have its name, at least 1 were expected",
		"plain (app.c:9), 3 samples: all tools: 0 right, 3 wrong, 0 without a line (3 at app.c:8)",
	}
	if got := Failures(verdicts, 1, true); !reflect.DeepEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestCheck_Errors(t *testing.T) {
	path, marks := object(t)
	for _, c := range []struct {
		name    string
		samples []judge.Sample
		tools   []Tool
		want    string
	}{
		{"no symbol", in(path, "JS:*plain", 0, 1), nil, "has no symbol JS:*plain"},
		{"no object", in(filepath.Join(t.TempDir(), "jitted-2-2.so"), "plain", 0, 1), nil, "no such file"},
		{"no tool", in(path, "plain", 0, 1), []Tool{{"none", []string{"no-such-tool"}}}, "none "},
		{"tool fails", in(path, "plain", 0, 1), []Tool{{"false", []string{"false"}}}, "exit status 1"},
		{"tool says nothing", in(path, "plain", 0, 1), []Tool{{"true", []string{"true"}}}, "0 answers to 1 addresses"},
	} {
		if _, err := Check(t.Context(), marks, c.samples, nil, c.tools); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
}

func TestCheckLines_OfPerfScript(t *testing.T) {
	marks, err := Marks(source(t, "a.mjs", "f() // hot: f\ng() // hot: g\n"))
	if err != nil {
		t.Fatal(err)
	}
	at := func(symbol, line string) judge.Sample {
		return judge.Sample{Frames: []judge.Frame{{Symbol: symbol, DSO: "/tmp/jitted-1-1.so", Line: line}}}
	}
	samples := []judge.Sample{at("JS:*f /a.mjs:1:1", "a.mjs:1"), at("JS:*f /a.mjs:1:1", "a.mjs:2"), at("JS:*f /a.mjs:1:1", "b.mjs:1"), at("JS:^f /a.mjs:1:1", "jitted-1-1.so[80]"), at("JS:*h /a.mjs:1:1", "a.mjs:1")}
	if got, want := Symbols(marks, samples), []string{"JS:*f /a.mjs:1:1", "JS:^f /a.mjs:1:1"}; !reflect.DeepEqual(got, want) {
		t.Errorf("symbols: got %q, want %q", got, want)
	}
	verdicts, err := Check(t.Context(), marks, samples, nil, nil)
	if err == nil {
		t.Error("the object is not there: got no error")
	}
	CheckLines(verdicts, marks, samples, "perf script")
	a := verdicts[0].Answers["perf script"]
	if a == nil || a.Right != 1 || a.Wrong != 2 || a.None != 1 {
		t.Errorf("got %+v, want 1 right, 2 wrong, 1 without a line", a)
	}
}

func TestLines_ToleratesATenth(t *testing.T) {
	for _, c := range []struct {
		right, wrong, none int
		want               bool
	}{{10, 0, 0, true}, {9, 1, 0, true}, {9, 2, 0, false}, {1, 0, 50, true}, {0, 0, 5, false}, {0, 3, 0, false}} {
		a := Answer{Right: c.right, Wrong: c.wrong, None: c.none}
		if got := a.Lines(); got != c.want {
			t.Errorf("for %v: got %v, want %v", &a, got, c.want)
		}
	}
}
