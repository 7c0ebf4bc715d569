package engine_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Containers and processes that ran before the recording, real ones.

// samples counts the samples of a recording in user space by thread and symbol, of
// programs called comm.
func samples(t *testing.T, dir, file, comm string) map[string]int {
	t.Helper()
	out := testrec.Run(t, dir, testrec.Tool(t, "perf"), "script", "-G", "--no-inline", "-F", "comm,pid,ip,sym", "-i", file)
	counts := make(map[string]int)
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) >= 4 && f[0] == comm && !strings.HasPrefix(f[2], "ffff") {
			counts[f[1]+" "+f[3]]++
			counts[f[1]]++
			counts[f[3]]++
		}
	}
	return counts
}

// In a pid namespace of its own, a process is another number to itself.
func TestNamespace_RecordedNode(t *testing.T) {
	dir := testrec.Unpack(t, "node-pidns")
	out := filepath.Join(dir, "out.data")
	sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: out})
	if err != nil || !sum.Complete() || sum.Dumps[0].PID != 10016 || sum.Dumps[0].Functions != 2208 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Dumps[0].PID = 10016, Dumps[0].Functions = 2208", asJSON(sum), err)
	}
	counts := samples(t, dir, out, "node")
	if unknown := counts["10016 [unknown]"]; counts["10016"] < 100 || unknown > counts["10016"]/50 {
		t.Errorf("%d of %d samples are unknown", unknown, counts["10016"])
	}
}

// unshare skips the test, loudly, where no namespaces can be made, and returns the
// command that makes them.
func unshare(t *testing.T) string {
	t.Helper()
	path := testrec.Tool(t, "unshare")
	if out, err := exec.Command(path, "--mount", "--pid", "--fork", "--mount-proc", "mount", "-t", "tmpfs", "none", "/mnt").CombinedOutput(); err != nil {
		testrec.Skip(t, "no namespaces can be made here: %v\n%s", err, out)
	}
	return path
}

// Two containers at once, whose processes have one number: in different
// directories, and in the same directory, which is another one to each.
func TestContainers_TwoFreshWithOnePID(t *testing.T) {
	testrec.CanRecord(t)
	unshare, jit := unshare(t), tinyJIT(t, t.TempDir())
	for name, enter := range map[string]string{
		"two directories": `exec "$2" "$1" 2`,
		"one directory":   `mount -t tmpfs none /mnt && "$2" /mnt 2 && cp /mnt/jit-*.dump "$1"`,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			script := "#!/bin/sh\n"
			for _, sub := range []string{"one", "two"} {
				if err := os.MkdirAll(filepath.Join(dir, "dumps", sub), 0o755); err != nil {
					t.Fatal(err)
				}
				script += fmt.Sprintf("%s --mount --pid --fork --mount-proc sh -c '%s' sh %s %s &\n", unshare, enter, filepath.Join(dir, "dumps", sub), jit)
			}
			program(t, dir, "run", script+"wait\n")
			record(t, dir, nil, "--namespaces", "sh", "run")
			// Where they were recorded, there is nothing any more.
			if err := os.Rename(filepath.Join(dir, "dumps"), filepath.Join(dir, "kept")); err != nil {
				t.Fatal(err)
			}
			ours := filepath.Join(dir, "ours.data")
			sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: ours, DumpDirs: []string{filepath.Join(dir, "kept")}})
			if err != nil || !sum.Complete() || len(sum.Dumps) != 2 {
				t.Fatalf("got %s, %v; want no error, nothing missing, 2 dumps", asJSON(sum), err)
			}
			counts := samples(t, dir, ours, "jit")
			for _, d := range sum.Dumps {
				pid := fmt.Sprint(d.PID)
				if unknown := counts[pid+" [unknown]"]; counts[pid] < 20 || unknown > counts[pid]/20 {
					t.Errorf("process %s: %d of %d samples are unknown", pid, unknown, counts[pid])
				}
			}
		})
	}
}

// tinyJIT builds testdata/jit.c.
func tinyJIT(t *testing.T, dir string) string {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		testrec.Skip(t, "the code that testdata/jit.c makes is for x86-64")
	}
	testrec.Run(t, dir, testrec.Tool(t, "gcc", "cc"), "-O1", "-o", "jit", testrec.Path("jit.c"))
	return filepath.Join(dir, "jit")
}

// startProcess starts a program that runs until the test ends, and waits for n lines of
// its output, which it returns.
func startProcess(t *testing.T, dir string, n int, args ...string) []string {
	t.Helper()
	log := filepath.Join(dir, "log")
	f, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	cmd := testrec.Command(t, dir, args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = f, f
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 3000 {
		out, _ := os.ReadFile(log)
		if lines := strings.Fields(string(out)); len(lines) >= n {
			return lines
		}
		time.Sleep(10 * time.Millisecond)
	}
	out, _ := os.ReadFile(log)
	t.Fatalf("want %d lines of %v within 30 s; got\n%s", n, args, out)
	return nil
}

// perf record comes to a process and its child that are there already: what both
// have from before the fork is known in both.
func TestAttach_FreshProcessAndChild(t *testing.T) {
	testrec.CanRecord(t)
	for name, record := range map[string]func(pids []string) []string{
		"-p": func(pids []string) []string { return []string{"-p", strings.Join(pids, ",")} },
		"-a": func([]string) []string { return []string{"-a"} },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			pids := startProcess(t, dir, 2, tinyJIT(t, dir), dir, "90", "fork")
			t.Cleanup(func() { // the child does not end with its parent
				for _, text := range pids {
					if pid, err := strconv.Atoi(text); err == nil {
						syscall.Kill(pid, syscall.SIGKILL)
					}
				}
			})
			attach(t, dir, len(pids), record(pids)...)
			sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "ours.data")})
			if err != nil || len(sum.Dumps) == 0 {
				t.Fatalf("got %s, %v; want no error, some dumps", asJSON(sum), err)
			}
			checkTiny(t, dir, pids)
		})
	}
}

// attach records processes of jit.c that run already, for longer where the machine gives one of them
// little time.
func attach(t *testing.T, dir string, processes int, args ...string) {
	t.Helper()
	perf := testrec.Tool(t, "perf")
	args = append([]string{"record", "-q", "-e", "cpu-clock", "-F", "499", "-k", "mono", "-g", "-o", "perf.data"}, args...)
	for seconds := 1; ; seconds *= 2 {
		testrec.Run(t, dir, perf, append(slices.Clone(args), "sleep", fmt.Sprint(seconds))...)
		counts := make(map[string]int)
		for pid := range strings.FieldsSeq(testrec.Run(t, dir, perf, "script", "-G", "-F", "pid", "--comms", "jit", "-i", "perf.data")) {
			counts[pid]++
		}
		if len(counts) >= processes && slices.Min(slices.Collect(maps.Values(counts))) >= 100 || seconds == 16 {
			return
		}
	}
}

// checkTiny wants both processes of jit.c to be in "before", one in "after", and
// the other one in "child".
func checkTiny(t *testing.T, dir string, pids []string) {
	t.Helper()
	counts := samples(t, dir, "ours.data", "jit")
	for _, pid := range pids {
		own := counts[pid+" after"]
		if own == 0 {
			own = counts[pid+" child"]
		}
		if n := counts[pid]; n < 20 || counts[pid+" before"] < n/5 || own < n/5 || counts[pid+" [unknown]"] > n/50+2 {
			t.Errorf("process %s: %v", pid, counts)
		}
	}
	if counts["after"] == 0 || counts["child"] == 0 {
		t.Errorf(`got %v; want counts["after"] other than 0, counts["child"] other than 0`, counts)
	}
}

// isDescendant reports whether a process comes from this one. Another run of the tests may
// have containers at the same time.
func isDescendant(t *testing.T, pid uint32) bool {
	t.Helper()
	for at := fmt.Sprint(pid); at != "0"; {
		if at == fmt.Sprint(os.Getpid()) {
			return true
		}
		status, err := os.ReadFile("/proc/" + at + "/status")
		if err != nil {
			return false // it has ended
		}
		_, rest, _ := strings.Cut(string(status), "\nPPid:\t")
		at, _, _ = strings.Cut(rest, "\n")
	}
	return false
}

// Containers that still run: their files are where only they see them, and one of
// them is deleted.
func TestContainers_FreshAndStillRunning(t *testing.T) {
	testrec.CanRecord(t)
	unshare := unshare(t)
	dir := t.TempDir()
	jit := tinyJIT(t, dir)
	for i, rest := range []string{"", "rm -f /mnt/jit-*.dump;"} {
		sub := filepath.Join(dir, fmt.Sprint(i))
		if err := os.Mkdir(sub, 0o755); err != nil {
			t.Fatal(err)
		}
		startProcess(t, sub, 3, unshare, "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c",
			"mount -t tmpfs none /mnt; "+jit+" /mnt 90 fork & sleep 0.5; "+rest+" echo ready; wait")
	}
	attach(t, dir, 4, "-a")
	sum, err := engine.Run(context.Background(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "ours.data")})
	if err != nil {
		t.Fatal(err)
	}
	ours := 0
	var pids []string
	for _, d := range sum.Dumps {
		if strings.HasPrefix(d.Path, "/proc/") && d.Objects == dir && strings.Contains(d.Note, "running container") && isDescendant(t, d.PID) {
			ours++
			pids = append(pids, fmt.Sprint(d.PID))
		}
	}
	if ours != 2 {
		t.Fatalf("got %d dumps of running containers; want 2: %s", ours, asJSON(sum))
	}
	checkTiny(t, dir, pids)
}
