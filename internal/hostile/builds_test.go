package hostile

import (
	"cmp"
	"crypto/sha256"
	"debug/elf"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// builds are the ways to build the program, by the variables of the environment and the commands.
// DIR is replaced by a directory that gets a file named jitinject.
var builds = map[string][]string{
	"make":       {"make", "-s", "build", "BIN=DIR", "VERSION=1.2.3"},
	"go build":   {"go", "build", "-o", "DIR/jitinject", "./cmd/jitinject"},
	"go install": {"env", "GOBIN=DIR", "go", "install", "./cmd/jitinject"},
}

// The program is the same, however it was built: it begins where Go's runtime does, and says and makes
// the same.
func TestBuilds_BehaveAlike(t *testing.T) {
	testrec.Tool(t, "make")
	want, stageDir := program, filepath.Join(t.TempDir(), "stage")
	for _, how := range []string{"make", "go build", "go install"} {
		dir := t.TempDir()
		argv := slices.Clone(builds[how])
		for i, arg := range argv {
			if argv[i] = strings.Replace(arg, "DIR", dir, 1); arg == "go" {
				argv[i] = cmp.Or(os.Getenv("GO"), "go")
			}
		}
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = filepath.Join("..", "..")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", how, err, out)
		}
		got := filepath.Join(dir, "jitinject")
		if sym := entrySymbol(t, got); sym != "_start" && !strings.HasPrefix(sym, "_rt0_") { // C's with cgo
			t.Errorf("%s: got a program that begins at %q; want the entry point of C or Go", how, sym)
		}
		a, b := behaviour(t, want, stageDir), behaviour(t, got, stageDir)
		all := maps.Clone(a)
		maps.Copy(all, b)
		for _, what := range slices.Sorted(maps.Keys(all)) {
			if a[what] != b[what] {
				t.Errorf("%s: %s: got %q; want %q", how, what, b[what], a[what])
			}
		}
	}
}

// entrySymbol returns the symbol at the entry point of a program.
func entrySymbol(t *testing.T, path string) string {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	symbols, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range symbols {
		if s.Value == f.Entry && elf.ST_TYPE(s.Info) == elf.STT_FUNC {
			return s.Name
		}
	}
	return ""
}

// behaviour runs a build in a directory, and returns what it says and makes, by what it was to do.
func behaviour(t *testing.T, build, dir string) map[string]string {
	t.Helper()
	did := make(map[string]string)
	s := &stage{t, dir} // recordings have its name
	s.must(os.RemoveAll(dir))
	s.must(os.Mkdir(dir, 0o755))
	s.functions(300)
	run := func(via []string, args ...string) {
		argv := append(append(slices.Clone(via), build), args...)
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir = s.dir
		out, _ := cmd.CombinedOutput()
		text := strings.ReplaceAll(string(out), s.dir, "DIR")
		did[strings.Join(append(slices.Clone(via), args...), " ")] = fmt.Sprintf("exit code %d, %s", cmd.ProcessState.ExitCode(), text)
	}
	run(nil, "help")
	run(nil, "nothing")
	run(nil, "-i", "nothing.data")
	run(nil, "-q", "-i", "perf.data", "-o", "out.data", "--objects", "objects")
	run(nil, "-q", "-i", "perf.data", "-o", "out.data", "--objects", "objects", "--bundle")
	run([]string{testrec.Tool(t, "prlimit"), "--nofile=10"}, "-q", "-i", "perf.data", "-o", "few.data")
	run(nil, "verify", "-q", "out.data")
	for name, what := range s.list() {
		did["file "+name] = fmt.Sprintf("%x", sha256.Sum256([]byte(strings.ReplaceAll(what, s.dir, "DIR"))))
	}
	run(nil, "clean", "out.data")
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGQUIT, syscall.SIGABRT, syscall.SIGKILL} {
		at := newStage(t, 1200)
		r := at.startSlowAs(build, nil)
		r.cmd.Process.Signal(sig)
		result := r.wait()
		first, _, _ := strings.Cut(result.stderr, "\n")
		if strings.HasPrefix(first, "jitinject: removing the files of this run") { // on a busy machine
			_, rest, _ := strings.Cut(result.stderr, "\n")
			first, _, _ = strings.Cut(rest, "\n")
		}
		did[fmt.Sprintf("%v", sig)] = fmt.Sprintf("exit code %d, objects are left: %v, %s", result.code, at.countObjects() > 0, first)
	}
	return did
}
