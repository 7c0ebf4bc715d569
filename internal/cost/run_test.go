package cost

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// A cost is what a run of the command took.
type cost struct {
	statements counts
	memory     int64 // the largest resident memory, in bytes
	calls      int64 // system calls that read or wrote
	read       int64 // bytes
	written    int64 // bytes, also to standard output
	code       int   // exit code
	input      int64 // bytes of all files
}

// run runs a command of jitinject in the directory of the scene, and returns the cost. An injection
// also gets the scene's files; if it reads -, the recording comes through a pipe. The
// variables are of the environment. One thread executes all, so that no count is lost.
func (s *scene) run(variables []string, args ...string) (got cost) {
	s.t.Helper()
	own, err := os.Executable()
	s.must(err)
	c := exec.Command(own, args...)
	if args[0] == "inject" {
		c.Args = append(c.Args, "-q", "--no-sync", "-o", "out.data", "--objects", s.path("objects"))
		if slices.Contains(args, "-") {
			c.Stdin = bytes.NewReader(s.pipe()) // not an *os.File, so it is a pipe
		} else {
			c.Args = append(c.Args, s.files...)
		}
	}
	c.Dir = s.dir
	c.Env = slices.Concat(os.Environ(), []string{usageFile + "=" + s.path("cover/usage"), programFile + "=" + program, "GOCOVERDIR=" + s.path("cover"), "GOMAXPROCS=1"}, s.variables, variables)
	var out bytes.Buffer
	c.Stderr = &out
	s.must(os.RemoveAll(s.path("cover")))
	s.must(os.Mkdir(s.path("cover"), 0o755))
	err = c.Run()
	if got.code = c.ProcessState.ExitCode(); got.code != 0 && got.code != 1 && got.code != 255 {
		s.t.Fatalf("got %v of %q\n%s", err, args, out.Bytes()[:min(out.Len(), 1000)])
	}
	usage, err := os.ReadFile(s.path("cover/usage"))
	s.must(err)
	for line := range strings.Lines(string(usage)) {
		field, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
		n, err := strconv.ParseInt(value, 10, 64)
		s.must(err)
		switch field {
		case "maxrss":
			got.memory = n << 10
		case "rchar":
			got.read = n
		case "wchar":
			got.written = n
		case "syscr", "syscw":
			got.calls += n
		}
	}
	got.statements = s.readCounts()
	return got
}

// Variables with names of files. If they are set, the test program only runs the command, and writes
// what that took. The kernel counts the memory of a program that starts another one as the other's,
// too, so it must be small.
const usageFile, programFile = "JITINJECT_USAGE", "JITINJECT_PROGRAM"

// launch runs the command with the arguments of the test program.
func launch() {
	c := exec.Command(os.Getenv(programFile), os.Args[1:]...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := c.Start()
	if err == nil {
		err = unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	var usage []byte
	if err == nil {
		usage, err = os.ReadFile(fmt.Sprintf("/proc/%d/io", c.Process.Pid))
	}
	if err != nil {
		panic(err)
	}
	c.Wait()
	usage = fmt.Appendf(usage, "maxrss: %d\n", c.ProcessState.SysUsage().(*syscall.Rusage).Maxrss)
	if err := os.WriteFile(os.Getenv(usageFile), usage, 0o600); err != nil {
		panic(err)
	}
	os.Exit(c.ProcessState.ExitCode())
}

// bytes returns the size of all files of the scene, with what directories have of them. Holes in files do not count.
func (s *scene) bytes() (size int64) {
	s.t.Helper()
	s.must(filepath.WalkDir(s.dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || filepath.Base(filepath.Dir(path)) == "cover" || d.Name() == "counts.txt" {
			return err
		}
		info, err := d.Info()
		if err == nil {
			size += min(info.Size(), cmp.Or(info.Sys().(*syscall.Stat_t).Blocks*512, info.Size()))
			size += int64(24 + len(d.Name())) // in the directory, which is read, too
		}
		return err
	}))
	return size + s.unpacked
}
