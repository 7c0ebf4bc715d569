package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/internal/truth"
)

// exceptions are functions whose lines are known to be wrong, with the reason.
var exceptions = map[string]map[string]string{
	"node": {"inlining": "V8 takes the outer function's script for code that is inlined from another file"},
}

// build builds jitinject.
func build(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	// As make builds it, so that little is compiled again.
	cmd := exec.Command("go", "build", "-trimpath", "-o", filepath.Join(bin, "jitinject"), "../../cmd/jitinject")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return bin
}

// The runtimes of this machine run the programs of testdata/truth. Every function has its
// name, and every tool shows its line, if the runtime records lines.
func TestTruth_RuntimesOfThisMachine(t *testing.T) {
	testrec.CanRecord(t)
	bin := build(t)
	program := testrec.Tool(t, "perf")
	for _, c := range []struct {
		family, version string
		tools           []string
	}{
		{"node", "", []string{"node"}},
		{"php", "[0-9].[0-9]", []string{"php"}},
		{"erlang", "", []string{"erl"}},
		{"java", "*", []string{"java", "javac", "gcc"}},
		{"lli", "*", []string{"lli", "clang"}},
		{"mono", "", []string{"mono", "mcs"}},
	} {
		t.Run(c.family, func(t *testing.T) {
			for _, tool := range c.tools {
				testrec.Tool(t, tool)
			}
			begin := time.Now()
			f := &families[slices.IndexFunc(families, func(f family) bool { return f.name == c.family })]
			s := &site{top: "../..", bin: bin, work: t.TempDir(), version: c.version, release: &release{suite: thisSuite(), dir: "/"}}
			s.milliseconds = framePointers.milliseconds
			if err := os.CopyFS(s.work, os.DirFS(testrec.Path("truth"))); err != nil {
				t.Fatal(err)
			}
			if c.family == "node" {
				s.npm = filepath.Dir(testrec.Tool(t, "node"))
			}
			if c.family == "java" {
				testrec.Run(t, "../..", testrec.Tool(t, "make"), "agent", "BIN="+bin)
			}
			verdicts, perfs := s.judged(t, f, program)
			total := truth.Sum(verdicts, least)
			// A function runs for a fixed time: on a busy machine that may be too short to
			// compile it, or to compile it with others inlined.
			for _, more := range []string{"200", "1000"} {
				if f.inlines && total.Bare > 0 || total.Seen == total.Functions && (!f.inlines || inlined(total)) {
					break
				}
				t.Logf("%+v; again, with %s ms for each function", total, more)
				s.milliseconds = more
				verdicts, perfs = s.judged(t, f, program)
				total = truth.Sum(verdicts, least)
			}
			t.Logf("%+v, in %v", total, time.Since(begin))
			if total.Seen < total.Functions {
				t.Errorf("%d of %d functions have a name", total.Seen, total.Functions)
			}
			for i := range verdicts {
				v := &verdicts[i]
				if v.Samples < least {
					t.Errorf("got %v; want v.Samples >= least", truth.Failures(verdicts[i:i+1], least, false))
					continue
				}
				if !f.lines || exceptions[c.family][v.Mark.String()] != "" {
					continue
				}
				if want := len(truth.Tools) + perfs; len(v.Answers) < want {
					t.Errorf("for %v: %d tools have answered, want %d", v.Mark, len(v.Answers), want)
				}
				for _, complaint := range truth.Failures(verdicts[i:i+1], least, true) {
					t.Error(complaint)
				}
			}
			if f.inlines && !inlined(total) {
				t.Errorf("%d of %d answers have a frame for the inlined call; want 9 of 10, and some for each tool", total.Inner, total.InnerAll)
			}
			if f.inlines && total.Bare > 0 {
				t.Errorf("%d answers have the line of an inlined call, and no frame for the call", total.Bare)
			}
		})
	}
}

// inlined reports whether answers about inlined calls are many enough to judge, and nine in
// ten have a frame for the call. The others are at addresses beside the call, or in code
// that the runtime compiled before it inlined.
func inlined(total truth.Total) bool {
	return total.InnerAll >= 10*len(truth.Tools) && total.Inner*10 >= total.InnerAll*9
}

// judged records the site's program and judges names and lines. It returns the number of
// perfs that were asked for lines. perf annotate takes half a second for a function, so
// only three are checked with it.
func (s *site) judged(t *testing.T, f *family, program string) (verdicts []truth.Verdict, perfs int) {
	t.Helper()
	command, err := f.prepare(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.record(t.Context(), program, framePointers, command); err != nil {
		t.Fatal(err)
	}
	file, said, err := s.inject(t.Context(), command)
	if err != nil {
		t.Fatal(err)
	}
	t.Log(said)
	samples, err := judge.Script(t.Context(), program, file, "-G")
	if err != nil {
		t.Fatal(err)
	}
	removeDumps(t, samples)
	var sources []string
	for _, name := range f.programs {
		sources = append(sources, filepath.Join(s.work, name))
	}
	marks, err := truth.Marks(sources...)
	if err != nil {
		t.Fatal(err)
	}
	mappings, err := judge.Mappings(t.Context(), program, file)
	if err != nil {
		t.Fatal(err)
	}
	if !f.lines {
		verdicts, err = truth.Check(t.Context(), marks, samples, mappings, nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Log("the dump has no lines: only names are judged")
		return verdicts, 0
	}
	for _, tool := range truth.Tools {
		testrec.Tool(t, tool.Args[0])
	}
	if verdicts, err = truth.Check(t.Context(), marks, samples, mappings, truth.Tools); err != nil {
		t.Fatal(err)
	}
	lines, err := judge.Lines(t.Context(), program, file, truth.Symbols(marks, samples))
	if err != nil {
		t.Fatal(err)
	}
	truth.CheckLines(verdicts, marks, lines, "perf script")
	if err := truth.CheckAnnotate(t.Context(), verdicts[:3], marks, samples, program, file); err != nil {
		t.Fatal(err)
	}
	return verdicts, 1
}

// removeDumps removes the dumps of the recorded processes from /tmp.
func removeDumps(t *testing.T, samples []judge.Sample) {
	t.Helper()
	pids := make(map[int]bool)
	for i := range samples {
		pids[samples[i].PID] = true
	}
	for pid := range pids {
		n := strconv.Itoa(pid)
		for _, path := range []string{"/tmp/jit-" + n + ".dump", "/tmp/perf-" + n + ".map"} {
			if err := os.Remove(path); err != nil && !os.IsNotExist(err) {
				t.Log(err)
			}
		}
	}
}

func TestExceptions_AreMarks(t *testing.T) {
	for name, functions := range exceptions {
		f := &families[slices.IndexFunc(families, func(f family) bool { return f.name == name })]
		var sources []string
		for _, p := range f.programs {
			sources = append(sources, testrec.Path("truth", p))
		}
		marks, err := truth.Marks(sources...)
		if err != nil {
			t.Fatal(err)
		}
		for function, why := range functions {
			if !slices.ContainsFunc(marks, func(m truth.Mark) bool { return m.String() == function }) || strings.TrimSpace(why) == "" {
				t.Errorf("%s: no line is marked for %s, or no reason is given", name, function)
			}
		}
	}
}
