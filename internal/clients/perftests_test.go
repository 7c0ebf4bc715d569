package clients

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/perfcache"
	"github.com/jitinject/jitinject/internal/safefile/sys"
	"github.com/jitinject/jitinject/internal/testrec"
)

// perf's own tests, as an installed perf has them, with jitinject in the place of perf inject --jit
// (testdata/perf.sh). Their workload is a program with jitted functions, noploop and spin
// (testdata/noploop.c), and they get a result of jitinject: perf inject's other modes must keep it whole.

// cacheAdd makes this test program one that adds a file to a build-id cache.
const cacheAdd = "JITINJECT_CACHE_ADD"

// addToCache adds a file to a build-id cache as jitinject does.
func addToCache(dir, file, id string) error {
	c, err := perfcache.Open(dir)
	if err != nil {
		return err
	}
	defer c.Close()
	a := c.Adder()
	defer a.Close()
	raw, err := hex.DecodeString(id)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return a.Add(file, raw, func(*sys.File) bool { return false }, func(dir int, _, name string) error {
		fd, err := sys.Openat(dir, name, unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_NOFOLLOW, 0o755)
		if err != nil {
			return err
		}
		_, err = sys.Write(fd, content)
		return errors.Join(err, sys.Close(fd))
	})
}

// shellTests returns the directory of an installed perf's tests, or "".
func shellTests(perf string) string {
	root := filepath.Dir(perf) // of script/perf-root
	if root == "/usr/bin" || root == "/bin" {
		root = "/"
	}
	for _, dir := range []string{"usr/libexec/perf-core/tests/shell", "usr/lib/perf-core/tests/shell"} {
		if _, err := os.Stat(filepath.Join(root, dir)); err == nil {
			return filepath.Join(root, dir)
		}
	}
	return ""
}

// trampolines returns a command that runs a Python with perf_jit, that of perf's release if need be,
// or "".
func trampolines(t *testing.T, perf, dir string) string {
	root := filepath.Dir(perf)
	pythons, _ := filepath.Glob(filepath.Join(root, "usr/bin/python3.1?"))
	loaders, _ := filepath.Glob(filepath.Join(root, "lib64/ld-linux-*.so.*"))
	libs, _ := filepath.Glob(filepath.Join(root, "usr/lib/*-linux-gnu"))
	commands := []string{`exec python3 "$@"`}
	if len(pythons) > 0 && len(loaders) > 0 && len(libs) > 0 {
		commands = append(commands, fmt.Sprintf(`PYTHONHOME=%s/usr exec %s --library-path %s %s "$@"`, root, loaders[0], libs[0], slices.Max(pythons)))
	}
	for _, command := range commands {
		path := filepath.Join(dir, "python-trampolines")
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+command+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command(path, "-Xperf_jit", "-c", "import sys; print(sys.is_stack_trampoline_active())").Output(); err == nil && string(out) == "True\n" {
			return path
		}
	}
	return ""
}

func TestPerfsShellTests_JitinjectInItsPlace(t *testing.T) {
	testrec.Fresh(t)
	bash, ran := testrec.Tool(t, "bash"), map[string]bool{}
	dir := t.TempDir()
	jitinject, noploop := filepath.Join(dir, "jitinject"), filepath.Join(dir, "noploop")
	if err := testrec.Build(jitinject); err != nil {
		t.Fatal(err)
	}
	testrec.Run(t, ".", testrec.Tool(t, "cc"), "-O1", "-fno-omit-frame-pointer", "-pthread", "-I../../producer", "-o", noploop, "testdata/noploop.c")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	wrapper, err := os.ReadFile("testdata/perf.sh")
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, say string // what jitinject must say
		times     int    // at least
	}{
		{"jitdump-python.sh", "/tmp/jit-", 1},
		{"inject-callchain.sh", "noploop.toy:1  mostly line 2", 1},
		{"inject_aslr.sh", "noploop.toy:1  mostly line 2", 9},
		{"buildid.sh", "added: ", 2},
	}
	for version, perf := range testrec.Perfs(t) {
		for _, c := range tests {
			test := filepath.Join(shellTests(perf), c.name)
			if _, err := os.Stat(test); err != nil {
				t.Logf("perf %s has no %s", version, c.name)
				continue
			}
			ran[c.name] = true
			t.Run(version+" "+c.name, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.WriteFile(filepath.Join(dir, "perf"), wrapper, 0o755); err != nil {
					t.Fatal(err)
				}
				said := filepath.Join(dir, "said")
				cmd := testrec.Command(t, dir, bash, test)
				cmd.Env = append(cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"), "PERF="+perf, "JITINJECT="+jitinject, "NOPLOOP="+noploop,
					"INJECTED="+said, "PYTHON="+cmp.Or(trampolines(t, perf, dir), "python3"), "JITDUMPDIR="+dir, "CACHE_ADD="+self, cacheAdd+"=1")
				out, err := cmd.CombinedOutput()
				log, _ := os.ReadFile(said)
				switch code := cmd.ProcessState.ExitCode(); {
				case code == 2:
					testrec.Skip(t, "perf %s skips its %s: %s", version, c.name, out)
				case code != 0:
					if alone, code := perfAlone(t, dir, perf, bash, test); code != 0 && code != 2 {
						testrec.Skip(t, "perf %s fails its %s without jitinject, too: exit code %d\n%s", version, c.name, code, alone)
					}
					t.Errorf("got %v\n%s\njitinject says:\n%s", err, out, log)
				case strings.Count(string(log), c.say) < c.times:
					t.Errorf("jitinject says\n%s\nwant %q %d times\n%s", log, c.say, c.times, out)
				}
			})
		}
	}
	for _, c := range tests {
		if !ran[c.name] {
			testrec.Skip(t, "no perf has its test %s (JITINJECT_PERFS)", c.name)
		}
	}
}

// perfAlone runs one of perf's tests without jitinject, and returns what it prints and its exit code.
func perfAlone(t *testing.T, dir, perf, bash, test string) ([]byte, int) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "perf"), []byte("#!/bin/sh\nexec "+perf+" \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := testrec.Command(t, dir, bash, test)
	cmd.Env = append(cmd.Env, "PATH="+dir+":"+os.Getenv("PATH"))
	out, _ := cmd.CombinedOutput()
	return out, cmd.ProcessState.ExitCode()
}
