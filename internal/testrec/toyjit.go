package testrec

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// A Frame is one function of an inline stack. Lines count from 1, and so do
// columns, as in DWARF; 0 is no column.
type Frame struct {
	Function, File string
	Line, Column   uint32
}

// A ToyInsn is an instruction that testdata/toyjit made, with the functions that
// it comes from, the innermost first.
type ToyInsn struct {
	Offset, Length uint32 // in its function
	Stack          []Frame
}

// ToySources returns the program that testdata/toyjit is to run.
func ToySources() []string {
	return []string{Path("toyjit", "math.toy"), Path("toyjit", "main.toy")}
}

// ToyJIT builds testdata/toyjit in dir and returns its path.
func ToyJIT(t testing.TB, dir string) string {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		Skip(t, "the code that testdata/toyjit makes is for x86-64")
	}
	sources, err := filepath.Glob(Path("toyjit", "*.c"))
	if err != nil || len(sources) == 0 {
		t.Fatalf("no sources of the toy JIT: %v", err)
	}
	path := filepath.Join(dir, "toyjit")
	args := []string{"-std=gnu11", "-O1", "-Wall", "-Wextra", "-Werror", "-pthread", "-o", path}
	Run(t, dir, Tool(t, "gcc", "cc"), append(args, sources...)...)
	return path
}

// ToyTruth reads the one truth-PID.txt in a directory: by function, its
// instructions in the order of their offsets.
func ToyTruth(t testing.TB, dir string) map[string][]ToyInsn {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "truth-*.txt"))
	if err != nil || len(paths) != 1 {
		t.Fatalf("%s holds %d truths: %v", dir, len(paths), err)
	}
	text, err := os.ReadFile(paths[0])
	if err != nil {
		t.Fatal(err)
	}
	truth := make(map[string][]ToyInsn)
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(f) < 7 || len(f)%4 != 3 {
			t.Fatalf("%s: %q", paths[0], line)
		}
		number := func(s string) uint32 {
			n, err := strconv.ParseUint(s, 10, 32)
			if err != nil {
				t.Fatalf("%s: %q: %v", paths[0], line, err)
			}
			return uint32(n)
		}
		insn := ToyInsn{Offset: number(f[1]), Length: number(f[2])}
		for s := f[3:]; len(s) > 0; s = s[4:] {
			insn.Stack = append(insn.Stack, Frame{s[0], s[1], number(s[2]), number(s[3]) + 1})
		}
		truth[f[0]] = append(truth[f[0]], insn)
	}
	for name, insns := range truth {
		at := uint32(0)
		for _, i := range insns {
			if i.Offset != at || i.Length == 0 {
				t.Fatalf("%s: %s has an instruction at %d, want one at %d", paths[0], name, i.Offset, at)
			}
			at += i.Length
		}
	}
	return truth
}
