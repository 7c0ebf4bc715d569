package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

// networks makes two network namespaces with a wire between them, and returns what runs a command in
// each: here and there. The address there is 10.97.0.1.
func networks(t *testing.T) (here, there []string) {
	t.Helper()
	ip := testrec.Tool(t, "ip")
	a, b := fmt.Sprintf("jitinject-%d-a", os.Getpid()), fmt.Sprintf("jitinject-%d-b", os.Getpid())
	t.Cleanup(func() {
		for _, name := range []string{a, b} {
			exec.Command(ip, "netns", "del", name).Run()
		}
	})
	for _, line := range []string{
		"netns add " + a, "netns add " + b,
		"-n " + a + " link add wire type veth peer name wire netns " + b,
		"-n " + a + " addr add 10.97.0.2/24 dev wire", "-n " + b + " addr add 10.97.0.1/24 dev wire",
		"-n " + a + " link set wire up", "-n " + b + " link set wire up", "-n " + b + " link set lo up",
	} {
		if out, err := exec.Command(ip, strings.Fields(line)...).CombinedOutput(); err != nil {
			testrec.Skip(t, "ip %s: %v: %s", line, err, out)
		}
	}
	return []string{ip, "netns", "exec", a}, []string{ip, "netns", "exec", b}
}

// startDebuginfod serves the objects of a directory.
func startDebuginfod(t *testing.T, where []string, objects string) {
	t.Helper()
	dir := t.TempDir()
	line := append(where, testrec.Tool(t, "debuginfod"), "-F", "-t", "1", "-c", "1", "-d", filepath.Join(dir, "index"), "-p", "8002", objects)
	cmd := testrec.Command(t, dir, line[0], line[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
}

// A viewer is a machine with a result, on which perf shows it.
type viewer struct {
	t    *testing.T
	dir  string
	home string
}

// show returns what a perf shows of a result: functions with their samples, and all frames.
func (v *viewer) show(perf, result, hot string) string {
	v.t.Helper()
	var all strings.Builder
	for _, args := range [][]string{
		{"report", "--stdio", "-n", "-g", "none", "--no-children", "--sort", "sym,dso"},
		{"script", "--no-inline", "-F", "comm,tid,time,ip,sym,symoff,dso"},
		{"annotate", "--objdump=" + testrec.Tool(v.t, "objdump"), "--stdio", hot},
	} {
		if args[0] == "annotate" && hot == "" {
			continue
		}
		cmd := testrec.Command(v.t, v.dir, perf, append(args, "-f", "-i", result)...)
		cmd.Env = append(cmd.Env, "HOME="+v.home)
		out, err := cmd.Output()
		var failed *exec.ExitError
		if errors.As(err, &failed) && args[0] == "annotate" { // some versions crash over that
			out = []byte(err.Error())
		} else if err != nil {
			v.t.Fatalf("%s %v: unexpected error: %v", perf, args, err)
		}
		fmt.Fprintf(&all, "%s\n", args[0])
		for line := range strings.Lines(string(out)) {
			if !strings.HasPrefix(line, "# (Tip: ") { // another one each time
				all.WriteString(line)
			}
		}
	}
	return all.String()
}

// A result is copied to a machine that has no objects. After fetch from a real debuginfod, all perfs
// show there what they show on the first machine.
func TestFetchCommand_BetweenMachines(t *testing.T) {
	testrec.Tool(t, "debuginfod")
	here, there := networks(t)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	perfs := testrec.Perfs(t)
	const result = "perf.jit.data"
	type shown struct {
		recording, options, fetch, hot string
		dir                            string
		perfs                          map[string]string // what each perf shows with objects
	}
	var results []*shown
	served := t.TempDir()
	for _, options := range []string{"", "--bundle"} {
		results = append(results,
			&shown{recording: "node-hot", options: options, hot: "JS:*hot /tmp/rec/node-hot/hot.js:9:13"},
			&shown{recording: "toyjit-dwarf", options: options, fetch: "--in-place"})
	}
	for i, r := range results {
		r.dir, r.perfs = testrec.Place(t, r.recording), make(map[string]string)
		if code, _, stderr := command(t, r.dir, append(strings.Fields(r.options), "--objects", "objects")...); code != exitOK {
			t.Fatal(stderr)
		}
		for version, perf := range perfs {
			v := viewer{t, r.dir, t.TempDir()}
			r.perfs[version] = v.show(perf, result, r.hot)
			if !strings.Contains(r.perfs[version], "jit") || strings.Contains(r.perfs[version], "(jit") && !strings.Contains(r.perfs[version], "+0x") {
				t.Fatalf("%s: perf %s shows no jitted functions:\n%.2000s", r.recording, version, r.perfs[version])
			}
		}
		if err := os.Rename(filepath.Join(r.dir, "objects"), filepath.Join(served, fmt.Sprint(i))); err != nil {
			t.Fatal(err)
		}
	}
	startDebuginfod(t, there, served)
	for _, r := range results {
		t.Run(r.recording+r.options, func(t *testing.T) {
			v := viewer{t, r.dir, t.TempDir()}
			fetch := func() error {
				line := append(append([]string{}, here...), program, "fetch", "--server", "http://10.97.0.1:8002", result)
				cmd := testrec.Command(t, r.dir, line[0], append(line[1:], strings.Fields(r.fetch)...)...)
				cmd.Env = append(cmd.Env, "HOME="+v.home, beProgram+"=1")
				if out, err := cmd.CombinedOutput(); err != nil {
					return fmt.Errorf("%w\n%s", err, out)
				}
				return nil
			}
			for version, perf := range perfs {
				if v.show(perf, result, r.hot) == r.perfs[version] {
					t.Errorf("perf %s shows the same without objects; want names to be missing", version)
				}
			}
			for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Second) { // until the server has scanned them
				err := fetch()
				if err == nil {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("got error %v; want all objects", err)
				}
			}
			for version, perf := range perfs {
				if got, want := v.show(perf, result, r.hot), r.perfs[version]; got != want {
					g, w := firstDifference(got, want)
					t.Errorf("perf %s: got %q; want %q", version, g, w)
				}
			}
		})
	}
}

// firstDifference returns the first lines in which two texts differ.
func firstDifference(a, b string) (string, string) {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i], bs[i]
		}
	}
	return fmt.Sprintf("%d lines", len(as)), fmt.Sprintf("%d lines", len(bs))
}
