package v8

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/locate"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/runtime/jitdump"
	dumps "github.com/jitinject/jitinject/jitdump"
)

// sample returns the log and the dump of a sample program, cut to the functions of the program.
func sample(t testing.TB, name string) (log []byte, dump *jitdump.Dump) {
	t.Helper()
	log, err := os.ReadFile(filepath.Join("..", "..", "format", "v8log", "testdata", name+".log"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join("testdata", name+".dump"))
	if err != nil {
		t.Fatal(err)
	}
	dump, err = jitdump.OpenFile(bytes.NewReader(b))
	if err == nil {
		err = dump.Scan(context.Background())
	}
	if err != nil {
		t.Fatal(err)
	}
	return log, dump
}

// pairLog reads a log for a dump, and pairs them.
func pairLog(t testing.TB, log []byte, dump *jitdump.Dump) (*target, *index, pairing) {
	t.Helper()
	g := &target{jitdump: dump, path: "jit-1.dump"}
	new(attacher).prepare(g)
	x, err := readIndex(context.Background(), bytes.NewReader(log), "v8.log", g.wanted)
	if err != nil {
		t.Fatal(err)
	}
	found := g.loads.match(x)
	g.adopt(x, &found)
	return g, x, found
}

// describe lets the dump's functions be described by their logs. It demands that there are no
// problems.
func describe(t *testing.T, g *target, opts *config.Options) {
	t.Helper()
	a := &attacher{Attached: new(locate.Attached), ctx: t.Context(), rec: &recording.Recording{In: new(recording.Input)}, opts: opts}
	a.describe(g)
	if len(a.Found.Problems) > 0 || len(a.Found.Notes) > 0 {
		t.Errorf("got problems %v, notes %v; want none", a.Found.Problems, a.Found.Notes)
	}
}

// stackAt returns the inlined functions at an offset of code, innermost first, each with its place:
// that of the line, or of the call.
func stackAt(fn *jitcode.Function, off uint64) string {
	var at []string
	file, line, column := -1, uint32(0), uint32(0)
	for _, l := range fn.Lines {
		if l.Offset <= off {
			file, line, column = l.File, l.Line, l.Column
		}
	}
	place := func(file int, line, column uint32) string {
		return fmt.Sprintf("%s:%d:%d", filepath.Base(fn.Files[file]), line, column)
	}
	var stack []int
	for i, c := range fn.Inlines {
		for _, r := range fn.Ranges[c.First:c.Last] {
			if r.Offset <= off && off < r.Offset+r.Size {
				stack = append(stack, i)
			}
		}
	}
	where := place(file, line, column)
	for _, i := range slices.Backward(stack) {
		c := &fn.Inlines[i]
		at = append(at, string(fn.Origins[c.Origin].Name)+" "+where)
		caller := 0
		if c.Parent >= 0 {
			caller = fn.Inlines[c.Parent].Origin
		}
		where = place(fn.Origins[caller].File, c.Line, c.Column)
	}
	name, _, _ := strings.Cut(string(fn.Name), " ")
	return strings.Join(append(at, name+" "+where), " < ")
}

// The chains of the sample program, at code offsets of the log's lines. Their columns are those of
// operators, of members after a dot, and of ends of statements.
func TestTree_SampleProgram(t *testing.T) {
	for _, c := range []struct {
		sample, function string
		offsets          map[uint64]string
	}{
		{"node20", "JS:*step ", map[uint64]string{
			0:   "JS:*step app.js:2:14",
			39:  "scale geometry.js:6:35 < JS:*step app.js:3:13",
			120: "len geometry.js:4:44 < JS:*step app.js:4:18",
			149: "clamp geometry.js:9:12 < JS:*step app.js:4:10",
			200: "JS:*step app.js:4:33",
			357: "scale geometry.js:6:35 < JS:*step app.js:3:13",
		}},
		{"node25", "JS:+'step ", map[uint64]string{
			200: "Vec geometry.js:3:30 < scale geometry.js:6:25 < JS:+'step app.js:3:13",
			397: "len geometry.js:4:44 < JS:+'step app.js:4:18",
			446: "clamp geometry.js:8:25 < JS:+'step app.js:4:10",
		}},
	} {
		log, dump := sample(t, c.sample)
		g, _, _ := pairLog(t, log, dump)
		describe(t, g, &config.Options{EmbedSources: true})
		r := dump.Reader()
		seen := 0
		for i := range dump.NumFunctions() {
			fn, err := r.Function(i)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(fn.Name), c.function) {
				continue
			}
			seen++
			for off, want := range c.offsets {
				if got := stackAt(fn, off); got != want {
					t.Errorf("%s, %sat %d: got %s; want %s", c.sample, c.function, off, got, want)
				}
			}
		}
		if seen != 1 {
			t.Errorf("%s: got %d functions %s; want 1", c.sample, seen, c.function)
		}
	}
}

func TestMatch_SampleProgram(t *testing.T) {
	for name, want := range map[string]int{"node20": 11, "node25": 17} {
		log, dump := sample(t, name)
		g, x, found := pairLog(t, log, dump)
		if len(found.pairs) != want || x.optimized != want || g.loads.count != want || found.apart != 0 || x.damaged != 0 {
			t.Errorf("%s: got %d pairs of %d in the log and %d in the dump, %d of other times, %d damaged lines; want %d, and 0", name, len(found.pairs), x.optimized, g.loads.count, found.apart, x.damaged, want)
		}
		if err := g.refuse(x, &found); err != nil {
			t.Errorf("%s: got %v; want no error", name, err)
		}
	}
}

// A log of another run has its code elsewhere.
func TestMatch_OtherRun(t *testing.T) {
	log, _ := sample(t, "node20")
	_, dump := sample(t, "node25")
	g, x, found := pairLog(t, log, dump)
	if err := g.refuse(x, &found); err == nil || !strings.Contains(err.Error(), "it is of another run: of its 11 optimized functions, 0 are in jit-1.dump") {
		t.Errorf("got %v; want that it is of another run", err)
	}
}

// Code at an address that is used again is told apart by its time, in any order of lines.
func TestMatch_ReusedAddress(t *testing.T) {
	const head = "v8-version,11,3,244,8,0\nscript-source,1,/a.js,f()\n"
	code := func(time int, offset int) string {
		return fmt.Sprintf("code-creation,JS,13,%d,0x1000,64,f /a.js:1:1,0x20,*\ncode-source-info,0x1000,1,0,3,C0O%d,,\n", time, offset)
	}
	l := newLoads()
	x, err := readIndex(context.Background(), strings.NewReader(head+code(1_000_000, 0)+code(2_000_000, 1)+code(3_000_000, 2)), "v8.log", map[place]int{{0x1000, 64}: 3})
	if err != nil {
		t.Fatal(err)
	}
	key := x.objects[0].key
	// The dump lacks the second one.
	l.add(place{0x1000, 64}, load{7, 11e9, key})
	l.add(place{0x1000, 64}, load{8, 13e9, key})
	// A copy of the log has the same pairs.
	for range 2 {
		found := l.match(x)
		slices.SortFunc(found.pairs, func(a, b pair) int { return a.function - b.function })
		if want := []pair{{7, 0, 0}, {8, 2, 0}}; !slices.Equal(found.pairs, want) {
			t.Errorf("got pairs %v; want %v", found.pairs, want)
		}
	}
}

// madeTree returns the description of code with given lists.
func madeTree(t *testing.T, size uint64, positions, inlining, functions string) (*dumps.DebugInfo2, error, error) {
	t.Helper()
	log := "v8-version,11,3,244,8,0\ncode-creation,Builtin,2,1,0x200,9,Abort\nscript-source,1,/a.js,one\\ntwo\\nthree\nscript-source,2,/b.js,uno\\ndue\n" +
		"code-creation,JS,11,1,0x500,9,g /b.js:2:1,0x30,~\ncode-source-info,0x500,2,4,7,,,\n" +
		fmt.Sprintf("code-creation,JS,13,9,0x1000,%d,f /a.js:1:1,0x20,*\ncode-source-info,0x1000,1,0,13,%s,%s,%s\n", size, positions, inlining, functions)
	x, err := readIndex(context.Background(), strings.NewReader(log), "v8.log", map[place]int{{0x1000, size}: 1})
	if err != nil || x.damaged > 0 || len(x.objects) != 1 {
		t.Fatalf("got %v, %v, %d objects; want one", err, x.damage, len(x.objects))
	}
	trees := &Trees{functions: map[int]described{5: {index: x}}}
	info, problem, err := trees.Tree(5, size)
	if info != nil {
		if err := info.CheckTree(size); err != nil {
			t.Errorf("got %v; want a valid tree", err)
		}
		if err := info.CheckLines(); err != nil {
			t.Errorf("got %v; want valid lines", err)
		}
	}
	return info, problem, err
}

func TestTree_Damage(t *testing.T) {
	var deep strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&deep, "F0O4")
		if i > 0 {
			fmt.Fprintf(&deep, "I%d", i-1)
		}
	}
	for _, c := range []struct {
		name, positions, inlining, functions string
		calls, lines                         int
		problem                              string
	}{
		{"right", "C0O0C4O4I0C8O8", "F0O4", "S0x30", 1, 3, ""},
		{"after children", "C0O0C4O4I0C8O4I1", "F0O5I1F0O4", "S0x30", 2, 3, ""},
		{"cyclic", "C0O0C4O4I0C8O4I1C12O4I2", "F0O4I1F0O4I0F0O4", "S0x30", 1, 4, "1 inlined calls that contain themselves"},
		{"own caller", "C0O0C4O4I0", "F0O4I0", "S0x30", 0, 2, "1 inlined calls that contain themselves"},
		{"call outside", "C0O0C4O4I7", "F0O4", "S0x30", 0, 2, "1 indexes outside their lists"},
		{"caller outside", "C0O0C4O4I0", "F0O4I9", "S0x30", 0, 2, "1 indexes outside their lists"},
		{"function outside", "C0O0C4O4I0", "F9O4", "S0x30", 0, 2, "1 indexes outside their lists"},
		{"unknown function", "C0O0C4O4I0C8O4I1", "F1O4F0O5I0", "S0x30S0x99", 1, 3, "1 inlined calls of functions that the log does not describe"},
		{"recursion", "C0O0C4O4I0C8O5I1", "FO4F0O5I0", "S0x30", 2, 3, ""},
		{"beyond the code", "C0O0C64O4C99O0", "", "", 0, 1, "2 positions after the end of the code"},
		{"deep", "C0O0C4O4I99999", deep.String(), "S0x30", 256, 2, "inlined calls deeper than 255"},
	} {
		info, problem, err := madeTree(t, 64, c.positions, c.inlining, c.functions)
		if err != nil || len(info.Calls) != c.calls || len(info.Lines) != c.lines {
			t.Errorf("%s: got %v, %+v; want %d calls and %d lines", c.name, err, info, c.calls, c.lines)
			continue
		}
		if got := fmt.Sprint(problem); c.problem == "" && problem != nil || !strings.Contains(got, c.problem) {
			t.Errorf("%s: got problem %v; want %q", c.name, problem, c.problem)
		}
	}
	for _, positions := range []string{"C0O0X", "C0", "C9999999999O0", "I0"} {
		if info, _, err := madeTree(t, 64, positions, "F0O4", "S0x30"); info != nil || err == nil || !strings.Contains(err.Error(), "v8.log: V8 log: code-source-info: positions at offset 0x") {
			t.Errorf("%s: got %v, %v; want an error with its place", positions, info, err)
		}
	}
}

// A position in an inlined function that the log does not describe counts for the call.
func TestTree_UnknownFunction(t *testing.T) {
	info, _, err := madeTree(t, 64, "C0O0C4O99I0", "F0O4", "S0x99")
	if err != nil || len(info.Lines) != 2 || info.Lines[1] != (dumps.SourceLine{Offset: 4, Line: 2}) {
		t.Errorf("got %v, %+v; want the line 2 of the call", err, info)
	}
}

// A call without a function is of the function itself, wherever it is inlined.
func TestTree_Recursion(t *testing.T) {
	info, problem, err := madeTree(t, 64, "C0O0C4O4I2", "F0O5FO4I0FO9I1", "S0x30")
	if err != nil || problem != nil {
		t.Fatalf("got %v, %v; want none", err, problem)
	}
	var got []string
	for _, c := range info.Calls {
		f := info.Functions[c.Function]
		got = append(got, fmt.Sprintf("%s of %s at %d:%d", info.Names[f.Name], info.Files[f.File], c.Line, c.Column))
	}
	// The caller of the second one is g, in another script.
	if want := []string{"g of /b.js at 2:1", "f of /a.js at 2:0", "f of /a.js at 3:1"}; !slices.Equal(got, want) {
		t.Errorf("got calls %q; want %q", got, want)
	}
	if want := (dumps.SourceLine{Offset: 4, File: 0, Line: 2}); info.Lines[1] != want {
		t.Errorf("got line %+v; want %+v, of the function itself", info.Lines[1], want)
	}
}

// The collector moves functions, and uses their addresses for others.
func TestIndex_MovedFunctions(t *testing.T) {
	const log = "v8-version,11,3,244,8,0\nscript-source,1,/a.js,one\\ntwo\\nthree\n" +
		"code-creation,JS,11,1,0x500,9,g /a.js:2:1,0x30,~\ncode-source-info,0x500,1,4,7,,,\n" +
		"sfi-move,0x30,0x40\n" +
		"code-creation,JS,11,1,0x600,9,h /a.js:3:1,0x30,~\ncode-source-info,0x600,1,8,13,,,\n" +
		"code-creation,JS,13,9,0x1000,64,f /a.js:1:1,0x20,*\ncode-source-info,0x1000,1,0,13,C0O0C4O4I0C8O9I1,F0O0F1O1,S0x40S0x30\n"
	x, err := readIndex(context.Background(), strings.NewReader(log), "v8.log", map[place]int{{0x1000, 64}: 1})
	if err != nil {
		t.Fatal(err)
	}
	info, problem, err := (&Trees{functions: map[int]described{0: {index: x}}}).Tree(0, 64)
	if err != nil || problem != nil {
		t.Fatalf("got %v, %v; want none", err, problem)
	}
	if got, want := fmt.Sprintf("%s", info.Names), "[f g h]"; got != want {
		t.Errorf("got functions %s; want %s", got, want)
	}
}
