package showv8_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
)

// smallLog has a line of each kind. f has g inlined, in that h, and itself. The script of g and h begins
// at line 42, column 8 of its file. The collector moves g before f is optimized. Nothing names the
// function at 0x99.
const smallLog = `v8-version,14,1,146,11,-node.25,0
v8-platform,linux,linux
code-creation,Builtin,2,100,0x7e0000001000,64,Abort
code-creation,JS,9,200,0x100000001000,20,f /src/main.js:1:11,0x10,~
script-source,1,/src/main.js,function f(x) {\n  return g(x)\x2C 1;\n}\n
code-source-info,0x100000001000,1,10,35,C0O10C5O25,,
code-creation,JS,9,300,0x100000002000,20,g /src/\xfctil.js:42:19,0x20,~
script-source,2,/src/\xfctil.js,(function g(x) {\n  return h(x); })
code-source-info,0x100000002000,2,11,34,C0O11,,
code-creation,JS,9,310,0x100000003000,20,h <anonymous>:1:1,0x30,~
code-source-info,0x100000003000,3,0,9,,,
sfi-move,0x20,0x28
code-move,0x100000003000,0x100000004000
code-creation,JS,12,400,0x7f0000001000,48,f /src/main.js:1:11,0x10,*'
code-source-info,0x7f0000001000,1,10,35,C0O-1C4O25C8O26I0C12O0I1C16O25I2C20O1I3C47O34,F0O25F1O26I0FO25F2O9,S0x28S0x30S0x99
code-delete,0x7f0000001000
heap-capacity,1048512
`

// put writes a log into a fresh directory, with the default name, and returns its path.
func put(t *testing.T, log string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "isolate-0x1000-17-v8.log")
	showtest.Put(t, path, []byte(log))
	return path
}

// The listing of a small log is the same to the byte: whole, and with damage.
func TestGolden_SmallLog(t *testing.T) {
	testdata, err := filepath.Abs("testdata")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	showtest.Put(t, "v8.log", []byte(smallLog))
	damaged := strings.NewReplacer("v8-platform", "ccode-creation", "C47O34", "C47X34", "F2O9", "F7O9I9", "code-move,", "code-move,1").Replace(smallLog)
	damaged = strings.Replace(damaged, "sfi-move,0x20,0x28", "sfi-move,0x20,0x28\nsfi-move,20,0x28\nnitializeESM } = require(", 1)
	showtest.Put(t, "damaged.log", []byte(damaged[:len(damaged)-9]))
	showtest.Golden(t, testdata, "small.txt", showtest.Whole(t, "v8.log", show.Options{}))
	showtest.Golden(t, testdata, "small.json", showtest.Whole(t, "v8.log", show.Options{JSON: true}))
	showtest.Golden(t, testdata, "damaged.txt", showtest.Shown(t, "damaged.log", show.Options{}))
}

// With bytes, every byte of a log is shown once, and lines of JSON have the same fields as without.
func TestHex_AllBytes(t *testing.T) {
	for _, path := range []string{put(t, smallLog), "../../format/v8log/testdata/node20.log", "../../format/v8log/testdata/node25.log"} {
		log, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		plain := strings.Split(showtest.Whole(t, path, show.Options{JSON: true}), "\n")
		var all []byte
		for i, line := range strings.Split(strings.TrimSuffix(showtest.Whole(t, path, show.Options{JSON: true, Hex: true}), "\n"), "\n") {
			var it struct {
				Offset, Size int
				Hex          string
			}
			if err := json.Unmarshal([]byte(line), &it); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(line, strings.TrimSuffix(plain[i], "}")) {
				t.Errorf("%s: got %s with bytes; want %s and the bytes", path, line, plain[i])
			}
			b := make([]byte, len(it.Hex)/2)
			if _, err := fmt.Sscanf(it.Hex, "%x", &b); err != nil && it.Hex != "" {
				t.Fatal(err)
			}
			if len(b) > 0 && (it.Offset != len(all) || it.Size != len(b)) {
				t.Fatalf("%s: got %d bytes at %d; want %d at %d", path, len(b), it.Offset, it.Size, len(all))
			}
			all = append(all, b...)
		}
		if !bytes.Equal(all, log) {
			t.Errorf("%s: got %d bytes; want those of the log, %d", path, len(all), len(log))
		}
	}
}

func TestFilter_Lines(t *testing.T) {
	path := put(t, smallLog)
	for _, c := range []struct {
		name string
		set  func(*show.Filter)
		want []string
	}{
		{"an inlined function's name", func(f *show.Filter) { f.Names = showtest.Names(t, "/^g /") },
			[]string{"code-creation g /src/\\xfctil.js:42:19", "code-source-info", "sfi-move", "code-source-info"}},
		{"a script's name", func(f *show.Filter) { f.Names = showtest.Names(t, "\u00fctil") },
			[]string{"code-creation g /src/\\xfctil.js:42:19", "script-source", "code-source-info", "sfi-move", "code-source-info"}},
		{"code", func(f *show.Filter) { f.Address = showtest.Range(t, show.ParseAddress, "7f000000102f") },
			[]string{"code-creation f /src/main.js:1:11", "code-source-info"}},
		{"after code", func(f *show.Filter) { f.Address = showtest.Range(t, show.ParseAddress, "7f0000001030+80") }, nil},
		{"a function", func(f *show.Filter) { f.Address = showtest.Range(t, show.ParseAddress, "28") }, []string{"sfi-move", "code-source-info"}},
		{"a time", func(f *show.Filter) { f.Time = showtest.Range(t, show.ParseTime, "0.0003-0.00031") },
			[]string{"code-creation g /src/\\xfctil.js:42:19", "code-creation h <anonymous>:1:1"}},
		{"types", func(f *show.Filter) { f.Types = []string{"heap-capacity", "CODE-DELETE", "v8-version"} }, []string{"v8-version", "code-delete", "heap-capacity"}},
		{"the process of the file's name", func(f *show.Filter) { f.PIDs = []uint32{17}; f.Types = []string{"code-move"} }, []string{"code-move"}},
		{"another process", func(f *show.Filter) { f.PIDs = []uint32{18} }, nil},
	} {
		got := showtest.Kinds(t, showtest.Shown(t, path, showtest.Options(t, c.set)))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q; want %q", c.name, got, c.want)
		}
	}
}

// Options that a log has nothing for are refused, and not ignored.
func TestFile_Refused(t *testing.T) {
	path := put(t, smallLog)
	for _, c := range []struct {
		opts show.Options
		want string
	}{
		{show.Options{Disassemble: true}, "V8 log files have no code to disassemble; leave out -d"},
	} {
		if err := showtest.File(io.Discard, path, &c.opts); err == nil || err.Error() != c.want {
			t.Errorf("got error %v; want %s", err, c.want)
		}
	}
}

// A log may come through a pipe.
func TestFile_FromPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if _, err := w.WriteString(smallLog); err != nil {
		t.Fatal(err)
	}
	w.Close()
	path := put(t, smallLog)
	want := strings.Replace(showtest.Whole(t, path, show.Options{}), path+` format="V8 log" pid=17`, `- format="V8 log"`, 1)
	if got := showtest.Whole(t, "-", show.Options{Stdin: r}); got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

// Names of functions are shown as they are in the log.
func TestFile_NamesNotEscaped(t *testing.T) {
	for _, name := range []string{"a,b", "new\nline", `back\x41slash`, "sp ace x.js:7:8", " lead", "", "\u2192\U0001f600"} {
		log := strings.ReplaceAll(smallLog, ",g /", ","+name+" /")
		shown := showtest.Whole(t, put(t, log), showtest.Options(t, func(f *show.Filter) { f.Types = []string{"sfi-move"} }))
		want, err := json.Marshal(name + ` /src/\xfctil.js:42:19`)
		if err != nil {
			t.Fatal(err)
		}
		if part := fmt.Sprintf(`"function":%s}`, want); !strings.Contains(shown, part) {
			t.Errorf("%q: got %s; want %s", name, shown, part)
		}
	}
}

// A second isolate in the file does not know scripts and functions of the first one.
func TestFile_SecondIsolate(t *testing.T) {
	second := smallLog[:strings.Index(smallLog, "v8-platform")] + smallLog[strings.Index(smallLog, "code-creation,JS,12"):]
	shown := showtest.Whole(t, put(t, smallLog+second), show.Options{})
	_, shown, _ = strings.Cut(shown, "0x00000383 ")
	for part, want := range map[string]int{"/src/main.js:": 3, "\u00fctil": 0, "function=\"f /src/main.js:1:11\"": 2, "    0x8  script_offset=26 inline=0\n": 1} {
		if got := strings.Count(shown, part); got != want {
			t.Errorf("got %q %d times; want %d: %s", part, got, want, shown)
		}
	}
}

// Every prefix of a log is shown up to its last whole line.
func TestFile_CutAnywhere(t *testing.T) {
	for n := len("v8-version,"); n < len(smallLog); n += 3 {
		var damaged *show.Damaged
		err := showtest.File(io.Discard, put(t, smallLog[:n]), &show.Options{})
		if isCut := smallLog[n-1] != '\n'; errors.As(err, &damaged) != isCut || err != nil && !isCut {
			t.Errorf("%d bytes: got error %v; want one about a cut: %v", n, err, isCut)
		} else if isCut && (damaged.Problems != 1 || !strings.Contains(damaged.First, "ends inside this line")) {
			t.Errorf("%d bytes: got %d problems, %s; want that the file ends inside a line", n, damaged.Problems, damaged.First)
		}
	}
}

// Functions of real logs have the inlined calls that their programs have, in the files that they are in.
func TestFile_OfNode(t *testing.T) {
	for _, name := range []string{"node20", "node25"} {
		shown := showtest.Whole(t, "../../format/v8log/testdata/"+name+".log", show.Options{})
		dir := "/tmp/v8log-share/" + name + "/"
		for _, want := range []string{
			"function=\"scale " + dir + "geometry.js:6:15\" called at " + dir + "app.js:3:13\n",
			"function=\"Vec " + dir + "geometry.js:3:14\" called at " + dir + "geometry.js:6:25\n",
			"function=\"clamp " + dir + "geometry.js:7:15\" called at " + dir + "app.js:4:10\n",
			"function=\"step " + dir + "app.js:2:14\" called at " + dir + "app.js:10:12\n",
			"  " + dir + "geometry.js:6:44 script_offset=226 inline=",
		} {
			if !strings.Contains(shown, want) {
				t.Errorf("%s: got no %q; want one", name, want)
			}
		}
	}
}

// Memory does not grow with the texts of a log.
func TestFile_LargeTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v8.log")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	fmt.Fprintln(file, "v8-version,14,1,146,11,-node.25,0")
	text := strings.Repeat(strings.Repeat(" ", 98)+`\n`, 40_000)
	functions := strings.Repeat("code-creation,JS,9,1,0x10,9,f /a.js:1:1,0x10,~\ncode-source-info,0x10,1,0,50,C0O0,,\n", 10_000)
	for i := range 10 {
		fmt.Fprintf(file, "script-source,%d,/a.js,%s\n%s", i, text, functions)
	}
	p := showtest.NewPeak()
	if err := showtest.File(&p, path, &show.Options{}); err != nil {
		t.Fatal(err)
	}
	if p.Written < 16<<20 || p.Heap > 32<<20 {
		t.Errorf("got %d MB of heap for %d MB of output; want at most 32 MB, for 16 MB or more", p.Heap>>20, p.Written>>20)
	}
}

// docs/dump.md shows the listing that the program writes.
func TestFile_DocsShown(t *testing.T) {
	text, err := os.ReadFile("../../../docs/dump.md")
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir("../../format/v8log/testdata")
	opts := show.Options{}
	opts.Filter.Address = showtest.Range(t, show.ParseAddress, "7f5a580412c0")
	shown := "\n" + showtest.Whole(t, "node25.log", opts)
	_, section, _ := strings.Cut(string(text), "\n## A log of V8\n")
	_, section, _ = strings.Cut(section, "```console\n")
	section, _, ok := strings.Cut(section, "```")
	if !ok || strings.Count(section, "\n") < 10 {
		t.Fatalf("got the session %q; want 10 lines or more", section)
	}
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "$ ") && line != "...\n" && !strings.Contains(shown, "\n"+line) {
			t.Errorf("got no line %s; want it", line)
		}
	}
}

// Many inlined calls of a function with a long name copy that name into the output at most.
func TestFile_LongNameShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "v8.log")
	text := "v8-version,14,1,146,11,-node.25,0\nscript-source,1,/a.js,x\n" +
		"code-creation,JS,9,1,0x10,9," + strings.Repeat("n", 50_000) + " /a.js:1:1,0x20,~\n" +
		"code-creation,JS,9,1,0x40,9,f /a.js:1:1,0x30,~\ncode-source-info,0x40,1,0,50,C0O0," + strings.Repeat("F0O1", 20_000) + ",S0x20\n" +
		strings.Repeat("sfi-move,0x20,0x50\nsfi-move,0x50,0x20\n", 100)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if err := showtest.File(io.Discard, path, &show.Options{}); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
		t.Errorf("got %d MB of allocations for a log of %d bytes; want at most 64 MB", n>>20, len(text))
	}
	compared := 0
	name := show.Name{Match: func(name []byte) bool { compared += len(name); return false }}
	if err := showtest.File(io.Discard, path, &show.Options{Filter: show.Filter{Names: []show.Name{name}}}); err == nil {
		t.Fatal("got no error; want one: nothing has the name")
	}
	if compared < 50_000 || compared > 2*len(text) {
		t.Errorf("got %d bytes compared with the name that is looked for, for a log of %d bytes; want at most twice as many", compared, len(text))
	}
}
