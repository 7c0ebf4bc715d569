package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jitinject/jitinject/internal/testrec"
)

// perfAlone returns a command that runs a perf without this program.
func perfAlone(t *testing.T, dir, perf string, args ...string) *exec.Cmd {
	t.Helper()
	cmd := testrec.Command(t, dir, perf, args...)
	cmd.Args[0] = "perf" // with a directory, it would look for addr2line there first
	return cmd
}

// viewProgram returns a command that is this program, with a perf first in PATH.
func viewProgram(t *testing.T, dir, perf string, args ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "perf"), []byte(fmt.Sprintf("#!/bin/bash\nexec -a perf %s \"$@\"\n", perf)), 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := testrec.Command(t, dir, program, args...)
	cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), beProgram+"=1")
	return cmd
}

// changing are lines that perf prints differently each time: tips.
var changing = regexp.MustCompile(`(?m)^# \(.*\)\n|^# \(?Tip: .*\n`)

// sameView checks that a view shows what perf shows alone, and returns the times of both.
func sameView(t *testing.T, dir, version, perf, recording, view string) (alone, fast time.Duration) {
	t.Helper()
	words := strings.Fields(view)
	args := append([]string{words[0], "-i", recording}, words[1:]...)
	if words[0] == "annotate" && strings.HasPrefix(version, "6.12.") {
		args = append(args, "--asm-raw")
	}
	patient := testrec.PatientPerf(t)
	var wantErr, gotErr bytes.Buffer
	p := perfAlone(t, dir, perf, args...)
	p.Env, p.Stderr = append(p.Env, patient), &wantErr
	begin := time.Now()
	want, errPerf := p.Output()
	alone = time.Since(begin)
	v := viewProgram(t, dir, perf, append(words, "-i", recording)...)
	v.Env, v.Stderr = append(v.Env, patient), &gotErr
	begin = time.Now()
	got, err := v.Output()
	fast = time.Since(begin)
	if v.ProcessState.ExitCode() != p.ProcessState.ExitCode() {
		t.Errorf("perf %s %s: got %v, %s; want %v, %s", version, view, err, &gotErr, errPerf, &wantErr)
	}
	got, want = changing.ReplaceAll(got, nil), changing.ReplaceAll(want, nil)
	if !bytes.Equal(got, want) || len(bytes.TrimSpace(want)) == 0 {
		gotLines, wantLines := strings.Split(string(got), "\n"), strings.Split(string(want), "\n")
		for i := range min(len(gotLines), len(wantLines)) {
			if gotLines[i] != wantLines[i] {
				t.Errorf("perf %s %s: line %d: got %q; want %q", version, view, i+1, gotLines[i], wantLines[i])
				return alone, fast
			}
		}
		t.Errorf("perf %s %s: got %d lines; want %d, and some", version, view, len(gotLines), len(wantLines))
	}
	return alone, fast
}

// placeResult unpacks a recording, and injects it.
func placeResult(t *testing.T, recording string) (dir string) {
	t.Helper()
	dir = testrec.Place(t, recording)
	if code, _, stderr := command(t, dir, "--bundle"); code != exitOK {
		t.Fatalf("got exit code %d; want %d\n%s", code, exitOK, stderr)
	}
	return dir
}

func TestPerfViews_ShowWhatPerfShows(t *testing.T) {
	testrec.Tool(t, "addr2line")
	dir := placeResult(t, "toyjit-dwarf")
	for version, perf := range testrec.Perfs(t) {
		for _, view := range []string{"report --stdio", "script", "script -F +srcline", "annotate --stdio -l", "report --stdio --no-such-option"} {
			if strings.Contains(view, "no-such") {
				v, p := viewProgram(t, dir, perf, strings.Fields(view)...), perfAlone(t, dir, perf, strings.Fields(view)...)
				v.Run()
				p.Run()
				if got, want := v.ProcessState.ExitCode(), p.ProcessState.ExitCode(); got != want || got == 0 {
					t.Errorf("perf %s %s: got exit code %d; want %d", version, view, got, want)
				}
				continue
			}
			sameView(t, dir, version, perf, "perf.jit.data", view)
		}
		out, err := viewProgram(t, dir, perf, "report", "--stdio").Output()
		if err != nil || !bytes.Contains(out, []byte("jitted-")) {
			t.Errorf("perf %s: got %v, %.300q; want jitted functions of perf.jit.data", version, err, out)
		}
	}
}

// Functions have the objects of their own run.
func TestDiff_ByFunction(t *testing.T) {
	dir := placeResult(t, "php")
	if err := os.Rename(filepath.Join(dir, "perf.jit.data"), filepath.Join(dir, "perf.jit.data.old")); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := command(t, dir, "--objects", "others"); code != exitOK {
		t.Fatalf("got exit code %d; want %d\n%s", code, exitOK, stderr)
	}
	// A function that is in one run only has an empty column.
	both := regexp.MustCompile(`(?m)^ +[0-9.]+% +[+-][0-9.]+% .*\w`)
	for version, perf := range testrec.Perfs(t) {
		alone, err := perfAlone(t, dir, perf, "diff", "-s", "sym", "perf.jit.data.old", "perf.jit.data").Output()
		if err != nil || !both.Match(alone) {
			t.Fatalf("perf %s: got %v, %.500q; want functions in both", version, err, alone)
		}
		out, err := viewProgram(t, dir, perf, "diff").Output()
		if !bytes.Equal(out, alone) {
			t.Errorf("perf %s: got %v, %.500q; want %.500q", version, err, out, alone)
		}
	}
}

func TestReport_NoResult(t *testing.T) {
	testrec.Tool(t, "perf")
	for _, name := range []string{"report", "annotate", "script", "diff"} {
		code, _, stderr := command(t, t.TempDir(), name)
		if code != exitFailed || !strings.Contains(stderr, "there is no perf.jit.data") || !strings.Contains(stderr, "jitinject record") {
			t.Errorf("%s: got exit code %d, %q; want %d, how to make one", name, code, stderr, exitFailed)
		}
	}
}

// A result is named without -i, too, and its objects may be gone, which perf does not say.
func TestReport_NamedAndWithoutObjects(t *testing.T) {
	dir := placeResult(t, "toyjit-dwarf")
	if err := os.Rename(filepath.Join(dir, "perf.jit.data"), filepath.Join(dir, "my.data")); err != nil {
		t.Fatal(err)
	}
	objects, _ := filepath.Glob(filepath.Join(dir, "jitted-*.so"))
	for _, there := range []bool{true, false} {
		for version, perf := range testrec.Perfs(t) {
			for _, view := range []string{"report --stdio my.data", "report --stdio -i my.data"} {
				cmd := viewProgram(t, dir, perf, strings.Fields(view)...)
				var stderr strings.Builder
				cmd.Stderr = &stderr
				out, err := cmd.Output()
				missing := strings.Contains(stderr.String(), fmt.Sprintf("note: objects that are not there: %d of %[1]d;", len(objects)))
				if err != nil || there && !bytes.Contains(out, []byte("jitted-")) || missing == there {
					t.Errorf("perf %s, objects there %v: %s: got %v, %.300q, %s", version, there, view, err, out, &stderr)
				}
			}
		}
		for _, object := range objects {
			os.Remove(object)
		}
	}
}

// perf finds objects by their build ids in its cache, too, whatever path they had there and whoever may write there.
func TestWriteMissing_CachedAndOptions(t *testing.T) {
	dir := testrec.Place(t, "php") // without --bundle: several objects
	if code, _, stderr := command(t, dir, "-q"); code != exitOK {
		t.Fatalf("got exit code %d\n%s", code, stderr)
	}
	result := filepath.Join(dir, "perf.jit.data")
	objects, _ := filepath.Glob(filepath.Join(dir, "jitted-*.so"))
	if len(objects) < 2 {
		t.Fatalf("got %d objects; want some", len(objects))
	}
	cache, moved := filepath.Join(dir, "cache"), filepath.Join(dir, "moved")
	t.Setenv("PERF_BUILDID_DIR", cache)
	if err := os.Mkdir(moved, 0o755); err != nil {
		t.Fatal(err)
	}
	note := func() string {
		var text strings.Builder
		writeMissing(result, &text)
		return text.String()
	}
	testrec.Run(t, dir, "perf", "--buildid-dir", cache, "buildid-cache", "--add", objects[0]) // it is there, too
	if err := os.Remove(objects[1]); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("not there: 1 of %d;", len(objects)); !strings.Contains(note(), want) {
		t.Errorf("one is gone, another is cached: got %q; want %q", note(), want)
	}
	for _, object := range slices.Delete(slices.Clone(objects), 1, 2) {
		at := filepath.Join(moved, filepath.Base(object))
		if err := os.Rename(object, at); err != nil {
			t.Fatal(err)
		}
		testrec.Run(t, dir, "perf", "--buildid-dir", cache, "buildid-cache", "--add", at)
	}
	if want := fmt.Sprintf("not there: 1 of %d;", len(objects)); !strings.Contains(note(), want) {
		t.Errorf("all others are cached from another place: got %q; want %q", note(), want)
	}
}

func TestView_OutputCannotBeWritten(t *testing.T) {
	testrec.Tool(t, "perf")
	dir := placeResult(t, "php")
	for output, want := range map[string]string{
		".":           "jitinject: .: cannot write there: is a directory; name another output with -o\n",
		"nowhere/out": "jitinject: nowhere/out: cannot write there: no such file or directory; name another output with -o\n",
		"/dev/full":   "jitinject: /dev/full: cannot write there: no space left on device; make room, or name another output with -o\n",
	} {
		for _, name := range []string{"view", "export"} {
			if code, _, stderr := command(t, dir, name, "-o", output); code != exitFailed || stderr != want {
				t.Errorf("%s: got exit code %d, %q; want %d, %q", name, code, stderr, exitFailed, want)
			}
		}
	}
}

// perf runs the program as one of its commands.
func TestReport_OfPerfJitinject(t *testing.T) {
	dir := placeResult(t, "php")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(program, filepath.Join(bin, "perf-jitinject")); err != nil {
		t.Fatal(err)
	}
	for version, perf := range testrec.Perfs(t) {
		cmd := perfAlone(t, dir, perf, "jitinject", "report", "--stdio", "-g", "none")
		cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), beProgram+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("jitted-")) {
			t.Errorf("perf %s: got %v, %.300q; want jitted functions", version, err, out)
		}
	}
}

// On a terminal, perf draws its own views, and q ends them.
func TestReport_OnTerminal(t *testing.T) {
	dir := placeResult(t, "php")
	for version, perf := range testrec.Perfs(t) {
		if help := testrec.Run(t, dir, perf, "version", "--build-options"); !regexp.MustCompile(`libslang: \[ on`).MatchString(help) {
			testrec.Skip(t, "perf %s has no views for terminals", version)
		}
		tty := openTerminal(t)
		cmd := viewProgram(t, dir, perf, "report")
		cmd.Env = append(cmd.Env, "TERM=xterm", "TERMINFO=")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = tty.slave, tty.slave, tty.slave
		cmd.SysProcAttr = &unix.SysProcAttr{Setsid: true, Setctty: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		tty.wait(t, "perf's title", func(raw string) bool { return strings.Contains(raw, "Samples: ") })
		if temporary, _ := filepath.Glob(filepath.Join(os.TempDir(), "jitinject-addr2line-*")); len(temporary) == 0 {
			t.Error("got no directory for the filter; want one while perf runs")
		}
		fmt.Fprint(tty.master, "q")
		for end := time.After(20 * time.Second); ; {
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("perf %s: got %v; want no error\n%q", version, err, tty.raw())
				}
			case <-time.After(2 * time.Second):
				fmt.Fprint(tty.master, "q") // the first one has closed a question
				continue
			case <-end:
				cmd.Process.Kill()
				t.Errorf("perf %s: got no end after q; want one\n%q", version, tty.raw())
			}
			break
		}
		tty.close()
	}
}

// viewedRecordings are recordings of runtimes with many objects, with inlined calls, or without
// lines. node takes perf a minute for each view.
var viewedRecordings = []struct {
	name, view string
	slow       bool
}{
	{"java27", "report --stdio", false},
	{"java27", "script", false},
	{"java27", "annotate --stdio -l", true},
	{"erlang", "report --stdio", false},
	{"erlang", "script -F +srcline", true},
	{"php-dwarf", "report --stdio", false},
	{"php-dwarf", "script", true},
	{"node25-dwarf", "report --stdio", true},
	{"node22-dwarf", "script", true},
}

func TestPerfViews_RecordingsShowWhatPerfShows(t *testing.T) {
	testrec.Tool(t, "addr2line")
	all := os.Getenv("JITINJECT_ALL") != ""
	perfs := testrec.Perfs(t)
	dirs := make(map[string]string)
	for _, r := range viewedRecordings {
		if r.slow && !all {
			continue
		}
		if dirs[r.name] == "" {
			dirs[r.name] = placeResult(t, r.name)
		}
		for version, perf := range perfs {
			alone, fast := sameView(t, dirs[r.name], version, perf, "perf.jit.data", r.view)
			t.Logf("perf %s %s, %s: %v alone, %v as a command of jitinject", version, r.view, r.name, alone, fast)
		}
	}
}

// A recording without jitted code is shown like others.
func TestPerfViews_ProgramOfCXX(t *testing.T) {
	testrec.Tool(t, "addr2line")
	testrec.CanRecord(t)
	dir := t.TempDir()
	testrec.Run(t, dir, testrec.Tool(t, "g++"), "-g", "-O2", "-o", "sort", testrec.Path("views", "sort.cc"))
	testrec.Run(t, dir, testrec.Tool(t, "perf"), "record", "-q", "-e", "cpu-clock:u", "--call-graph", "dwarf,4096", "-F", "499", "-o", "perf.data", "./sort")
	for version, perf := range testrec.Perfs(t) {
		for _, view := range []string{"report --stdio", "script"} {
			alone, fast := sameView(t, dir, version, perf, "perf.data", view)
			t.Logf("perf %s %s: %v alone, %v as a command of jitinject", version, view, alone, fast)
		}
	}
}

// perf at the usual limit of open files drops inlined calls; the command raises the limit.
func TestReport_KeepsInlinedCallsOfManyObjects(t *testing.T) {
	testrec.Tool(t, "addr2line")
	dir := testrec.Place(t, "java27")
	if code, _, stderr := command(t, dir); code != exitOK {
		t.Fatalf("got exit code %d; want %d\n%s", code, exitOK, stderr)
	}
	const inlined = "(inlined)"
	limited := func(cmd *exec.Cmd) int {
		cmd.Args = append([]string{"sh", "-c", `ulimit -Sn 64; exec "$0" "$@"`, cmd.Path}, cmd.Args[1:]...)
		cmd.Path = testrec.Tool(t, "sh")
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("got %v of %v; want no error", err, cmd.Args)
		}
		return bytes.Count(out, []byte(inlined))
	}
	for version, perf := range testrec.Perfs(t) {
		all, err := perfAlone(t, dir, perf, "script", "-i", "perf.jit.data").Output()
		if err != nil {
			t.Fatal(err)
		}
		want := bytes.Count(all, []byte(inlined))
		alone := limited(perfAlone(t, dir, perf, "script", "-i", "perf.jit.data"))
		got := limited(viewProgram(t, dir, perf, "script"))
		if got != want || alone >= want {
			t.Errorf("perf %s: got %d inlined calls, and %d with perf alone; want %d, and fewer", version, got, alone, want)
		}
	}
}
