package producer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/formats/checks"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/verify"
)

func TestMain(m *testing.M) { testrec.Main(m) }

// producer returns a path in the directory of the header. A file is read, for the cache of go test
// to see its changes.
func producer(t *testing.T, elem ...string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(append([]string{".."}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, filepath.Join("..", "jitdump.h")} {
		os.ReadFile(file)
	}
	return path
}

var cFlags = []string{"-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-O2", "-pthread"}

// verified fails the test for each finding about a dump.
func verified(t *testing.T, path string) {
	t.Helper()
	_, err := checks.Verifier().File(t.Context(), path, verify.Options{All: true, Emit: func(d verify.Diagnostic) {
		t.Errorf("jitinject verify: %s: %s", d.Rule, d.Text)
	}})
	if err != nil {
		t.Fatal(err)
	}
}

// dumpIn returns the one dump in a directory.
func dumpIn(t *testing.T, dir string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "jit-*.dump"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("got dumps %q, %v; want one", paths, err)
	}
	return paths[0]
}

// An example is a compiler that uses the header.
type example struct {
	name  string
	build func(t *testing.T, dir string)
	stack []string // options of perf record
}

func examples() []example {
	return []example{
		{"C", func(t *testing.T, dir string) {
			args := append([]string{"-std=c99", "-I", producer(t), "-o", "cube", producer(t, "examples", "cube.c")}, cFlags...)
			testrec.Run(t, dir, testrec.Tool(t, "gcc"), args...)
		}, []string{"--call-graph", "dwarf,4096"}},
		{"C++", func(t *testing.T, dir string) {
			args := append([]string{"-std=c++11", "-I", producer(t), "-o", "cube", producer(t, "examples", "cube.cc")}, cFlags...)
			testrec.Run(t, dir, testrec.Tool(t, "g++"), args...)
		}, []string{"--call-graph", "dwarf,4096"}},
		{"Rust", func(t *testing.T, dir string) {
			rustc, err := exec.LookPath("rustc")
			if err != nil {
				testrec.Skip(t, "there is no rustc")
			}
			args := append([]string{"-x", "c", "-std=c99", "-D_GNU_SOURCE", "-DJITDUMP_IMPLEMENTATION", "-c", "-o", "jitdump.o", producer(t, "jitdump.h")}, cFlags...)
			testrec.Run(t, dir, testrec.Tool(t, "gcc"), args...)
			cmd := exec.Command(rustc, "-O", "-C", "link-arg=jitdump.o", "-o", "cube", producer(t, "examples", "cube.rs"))
			cmd.Dir = dir // with the user's home, where rustup has its compiler
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("unexpected error: %v\n%s", err, out)
			}
		}, []string{"-g"}},
	}
}

var (
	inlined = regexp.MustCompile(`(?m)^\s+[0-9a-f]+ cube.*\n\s+(?:\S*/)?cube\.toy:1.*\n\s+[0-9a-f]+ sum.*\n\s+(?:\S*/)?cube\.toy:5`)
	inSum   = regexp.MustCompile(`(?m)^\s+([0-9a-f]+) sum`)
	whole   = regexp.MustCompile(`(?m)^\s+[0-9a-f]+ sum(?: .*)?\n(?:\s+\S*cube\.toy:\d+.*\n)?\s+[0-9a-f]+ (?:\S+::)?main\b`)
	plain   = regexp.MustCompile(`(?m)^\s+[0-9a-f]+ sum.*\n\s+(?:\S*/)?cube\.toy:[15]$`)
)

// sampled reports whether any sample in sum may lie in the inlined call: processors put samples on few
// instructions of a small loop. Only perf 6.1 prints addresses in files, which addr2line knows.
func sampled(t *testing.T, dir, script string) bool {
	t.Helper()
	objects, err := filepath.Glob(filepath.Join(dir, "objects", "*.so"))
	if err != nil || len(objects) != 1 {
		t.Fatalf("got objects %v, %v; want one", objects, err)
	}
	if info := testrec.Run(t, dir, testrec.Tool(t, "readelf"), "--debug-dump=info", objects[0]); !strings.Contains(info, "DW_TAG_inlined_subroutine") {
		t.Errorf("%s has no inlined call", objects[0])
	}
	seen := make(map[string]bool)
	for _, m := range inSum.FindAllStringSubmatch(script, -1) {
		if len(m[1]) > 6 {
			return true
		}
		if seen[m[1]] {
			continue
		}
		seen[m[1]] = true
		if answer := testrec.Run(t, dir, testrec.Tool(t, "addr2line"), "-i", "-e", objects[0], "0x"+m[1]); strings.Count(answer, "\n") > 1 {
			return true
		}
	}
	return false
}

// fewSamples is how many there are at least on a loaded machine, of 500 and more on an idle one.
const fewSamples = 5

// perf shows names, lines, inlined calls and whole stacks of the examples; perf inject shows names
// and lines.
func TestExamples_ShownByPerf(t *testing.T) {
	testrec.CanRecord(t)
	if runtime.GOARCH != "amd64" {
		testrec.Skip(t, "the examples make code for x86-64")
	}
	for _, e := range examples() {
		t.Run(e.name, func(t *testing.T) {
			dir := t.TempDir()
			e.build(t, dir)
			perf := testrec.Tool(t, "perf")
			args := append([]string{"record", "-q", "-e", "cpu-clock", "-F", "499", "-k", "mono", "-o", "perf.data"}, e.stack...)
			testrec.Run(t, dir, perf, append(args, "./cube")...)
			verified(t, dumpIn(t, dir))
			sum, err := inject.Run(t.Context(), inject.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects")})
			if err != nil || !sum.Complete() || sum.Objects != 1 {
				t.Fatalf("got %+v, %v; want one object, nothing missing", sum, err)
			}
			samples := sum.Samples.InJIT
			if samples < fewSamples || sum.Samples.Resolved != samples {
				t.Fatalf("got %d samples in jitted code, %d of them resolved; want %d or more, all", samples, sum.Samples.Resolved, fewSamples)
			}
			for version, perf := range testrec.Perfs(t) {
				out := testrec.Run(t, dir, perf, "script", "--inline", "-F", "ip,sym,srcline", "-i", "out.data")
				ours := int64(len(whole.FindAllString(out, -1)))
				// perf 6 shows no inlined calls in stacks of the kernel.
				shown := e.stack[0] == "-g" && strings.HasPrefix(version, "6.") || inlined.MatchString(out) || !sampled(t, dir, out)
				if !shown || ours*10 < samples*9 {
					t.Errorf("perf %s: got %d whole stacks of %d samples in jitted code, inlined calls: %v; want nine of ten, true\n%.2000s", version, ours, samples, shown, out)
				}
				testrec.Run(t, dir, perf, "inject", "--jit", "-i", "perf.data", "-o", "theirs.data")
				out = testrec.Run(t, dir, perf, "script", "-G", "--no-inline", "-F", "ip,sym,srcline", "-i", "theirs.data")
				if n := int64(len(plain.FindAllString(out, -1))); n*10 < samples*9 {
					t.Errorf("perf %s inject: got %d samples with a name and a line of %d in jitted code, want nine of ten\n%.1000s", version, n, samples, out)
				}
			}
		})
	}
}
