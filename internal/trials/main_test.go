package trials

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// program is the command, built for these tests. The agent for Java is beside it.
var program string

// built is the directory of program, and of what compilers make of the programs in testdata.
var built string

func TestMain(m *testing.M) {
	testrec.PrivateTmp()
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGHUP} {
		if signal.Ignored(sig) { // programs that are started would do so, too
			signal.Notify(make(chan os.Signal, 1), sig)
		}
	}
	dir, err := os.MkdirTemp("", "jitinject-trials-")
	if err != nil {
		panic(err)
	}
	os.Chmod(dir, 0o755) // other users run it, too
	built, program = dir, filepath.Join(dir, "jitinject")
	code := 1
	if err := testrec.Build(program); err != nil {
		fmt.Fprintln(os.Stderr, err)
	} else {
		code = m.Run()
	}
	os.RemoveAll(dir)
	os.Exit(code)
}

// all reports whether all trials are asked for.
func all() bool { return os.Getenv("JITINJECT_ALL") != "" }

// A made file is compiled once, when the first trial needs it.
type made struct {
	once sync.Once
	make func() error
	err  error
}

// need makes the file, or fails the test.
func (m *made) need(t testing.TB) {
	t.Helper()
	if m.once.Do(func() { m.err = m.make() }); m.err != nil {
		t.Fatal(m.err)
	}
}

// compile returns what runs commands in the directory for built files, one after the other.
func compile(commands ...[]string) *made {
	return &made{make: func() error {
		for _, argv := range commands {
			cmd := exec.Command(argv[0], argv[1:]...)
			cmd.Dir = built
			if out, err := cmd.CombinedOutput(); err != nil {
				return fmt.Errorf("%q: %w\n%s", argv, err, out)
			}
		}
		return nil
	}}
}

// testdata returns the path of a file in testdata.
func testdata(name string) string {
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		panic(err)
	}
	return path
}

var (
	javaClasses = compile([]string{"javac", "-XDignore.symbol.file", "-nowarn", "-d", ".", testdata("Hot.java")}, []string{"jar", "cfe", "Hot.jar", "Hot", "-C", ".", "Hot.class"})
	javaAgent   = &made{make: func() error {
		out, err := exec.Command("make", "-C", "../..", "agent", "BIN="+built).CombinedOutput()
		if err != nil {
			return fmt.Errorf("make agent: %w\n%s", err, out)
		}
		return nil
	}}
	monoProgram = compile([]string{"mcs", "-debug", "-out:Hot.exe", testdata("Hot.cs")})
	lliProgram  = compile([]string{"clang", "-O1", "-g", "-fno-omit-frame-pointer", "-emit-llvm", "-c", "-o", "hot.bc", testdata("hot.c")})
)
