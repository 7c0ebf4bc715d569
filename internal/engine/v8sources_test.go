package engine_test

import (
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Sources in V8's logs: of node's own modules, of evaluated code, and of modules with URLs.

// sampleSources are the files of the sample. Their order is that of the log: the first evaluated
// code has the name, others have directories of their own.
var sampleSources = []string{
	"@e729476ce8d2/eval.js", "@f15dd3ee599e/eval.js", "eval.js",
	"node/internal/errors.js", "node/internal/validators.js", "node/path.js", "tmp/v8log-sources/geometry.mjs",
}

// objectsOf returns the objects of a function, in the order of the dump.
func objectsOf(t *testing.T, dir, symbol string) (paths []string) {
	t.Helper()
	for path, f := range objectFiles(t, dir) {
		symbols, err := f.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(symbols, func(s elf.Symbol) bool { return s.Name == symbol }) {
			paths = append(paths, path)
		}
	}
	if len(paths) == 0 {
		t.Fatalf("no object in %s has the symbol %q", dir, symbol)
	}
	return paths
}

// sourcesRun injects the sample with its sources.
func sourcesRun(t *testing.T, change func(*config.Options)) (dir string) {
	dir = placeSample(t, "sources", "isolate-0x27989f80-8649-v8.log")
	sum := runLog(t, dir, "out", func(o *config.Options) {
		o.Sources = filepath.Join(dir, "src")
		if change != nil {
			change(o)
		}
	})
	if len(sum.Problems) > 0 {
		t.Errorf("got problems %v; want none", sum.Problems)
	}
	if got := sum.Dumps[0].Sources; got != len(sampleSources) {
		t.Errorf("the summary counts %d sources; want %d", got, len(sampleSources))
	}
	return dir
}

func TestV8Sources_Files(t *testing.T) {
	dir := sourcesRun(t, nil)
	if got := tree(t, filepath.Join(dir, "src")); !slices.Equal(got, sampleSources) {
		t.Errorf("got files %q; want %q", got, sampleSources)
	}
	for file, want := range map[string]string{
		"eval.js":                        "(function anonymous(a,b\n) {\nlet s = 0;\nfor (let i = 0; i < a; i++) s += i % b;\nreturn s;\n})",
		"@e729476ce8d2/eval.js":          "(function anonymous(a,b\n) {\nlet s = 1;\nfor (let i = 0; i < a; i++) s += (i * 3) % b;\nreturn s;\n})",
		"@f15dd3ee599e/eval.js":          "(function evaluated(n) {\n  let s = 0;\n  for (let i = 0; i < n; i++) s += Math.sqrt(i);\n  return s;\n})",
		"tmp/v8log-sources/geometry.mjs": "// A module is a URL to V8: file:///…/geometry.mjs.\nexport function length(x, y) {\n  return Math.sqrt(x * x + y * y);\n}\n",
	} {
		if got, err := os.ReadFile(filepath.Join(dir, "src", file)); err != nil || string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", file, got, err, want)
		}
	}
}

// Each tool finds the line of the text that was compiled.
func TestV8Sources_ShownByTools(t *testing.T) {
	dir := sourcesRun(t, nil)
	objdump := testrec.Tool(t, "objdump")
	out := testrec.Run(t, dir, objdump, "-dS", objectsOf(t, filepath.Join(dir, "out"), "JS:*normalize node:path:1259:12")[0])
	for _, want := range []string{"StringPrototypeCharCodeAt(path, 0) === CHAR_FORWARD_SLASH;", "const validateString = hideStackFrames((value, name) => {"} {
		if !strings.Contains(out, want) {
			t.Errorf("objdump -S does not show %q", want)
		}
	}
	made := objectsOf(t, filepath.Join(dir, "out"), "JS:* :1:20")
	for i, want := range []string{"for (let i = 0; i < a; i++) s += (i * 3) % b;", "for (let i = 0; i < a; i++) s += i % b;"} {
		if out := testrec.Run(t, dir, objdump, "-dS", made[i]); !strings.Contains(out, want) {
			t.Errorf("objdump -S of %s does not show %q:\n%s", made[i], want, out)
		}
	}
	if addr2line := testrec.Tool(t, "addr2line"); addr2line != "" {
		out := testrec.Run(t, dir, addr2line, "-fie", objectsOf(t, filepath.Join(dir, "out"), "JS:*normalize node:path:1259:12")[0], "0xa7")
		got := strings.ReplaceAll(out, filepath.Join(dir, "src")+"/", "")
		want := "(anonymous)\nnode/internal/validators.js:162\nwrappedFn\nnode/internal/errors.js:538\nJS:*normalize node:path:1259:12\nnode/path.js:1260\n"
		if got != want {
			t.Errorf("addr2line: got %q; want %q", got, want)
		}
	}
}

// perf annotate shows lines of node's own modules with their numbers. Its reader of objdump's
// output takes the first colon for the end of a file's name.
func TestV8Sources_PerfAnnotate(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	dir := sourcesRun(t, nil)
	out, _ := testrec.RunBoth(t, dir, perf, "annotate", "--stdio", "-f", "-i", "out.data", "-s", "JS:*normalize node:path:1259:12")
	if !strings.Contains(out, "StringPrototypeCharCodeAt(path, 0) === CHAR_FORWARD_SLASH;") || strings.Contains(out, "node/path.js:1") {
		t.Errorf("perf annotate does not show the source, or shows names of files in it:\n%s", out)
	}
}

// A second run finds its files, and changes none. A file of the user stays.
func TestV8Sources_FilesThatExist(t *testing.T) {
	dir := placeSample(t, "sources", "isolate-0x27989f80-8649-v8.log")
	src := filepath.Join(dir, "src")
	if err := os.MkdirAll(filepath.Join(src, "node"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(src, "node/path.js"), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	change := func(o *config.Options) { o.Sources = src }
	runLog(t, dir, "out", change)
	before := tree(t, src)
	runLog(t, dir, "again", change)
	if got := tree(t, src); !slices.Equal(got, before) {
		t.Errorf("got files %q after a second run; want %q", got, before)
	}
	if got, err := os.ReadFile(filepath.Join(src, "node/path.js")); err != nil || string(got) != "mine" {
		t.Errorf("the user's file: got %q, %v; want it as it was", got, err)
	}
	if i := slices.IndexFunc(before, func(f string) bool { return strings.HasPrefix(f, "@") && strings.HasSuffix(f, "/node/path.js") }); i < 0 {
		t.Errorf("got files %q; want node/path.js in a directory of its own", before)
	}
}

// LLVM's tools read texts in objects, without the files. Evaluated code has one name.
func TestV8Sources_Embedded(t *testing.T) {
	symbolizer := testrec.Tool(t, "llvm-symbolizer")
	dir := sourcesRun(t, func(o *config.Options) { o.Sources, o.EmbedSources = "", true })
	for i, want := range []string{"s += (i * 3) % b;", "s += i % b;"} {
		object := objectsOf(t, filepath.Join(dir, "out"), "JS:* :1:20")[i]
		if out := testrec.Run(t, dir, symbolizer, "--obj="+object, "--print-source-context-lines=7", "0xa7"); !strings.Contains(out, want) {
			t.Errorf("llvm-symbolizer: got %q; want %q in it", out, want)
		}
	}
}
