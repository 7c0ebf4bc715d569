package jvmti_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
	"github.com/jitinject/jitinject/jitdump"
)

// A busy is a run of Busy.java: how it ends, for how long it works, and how many classes it
// unloads at least.
type busy struct {
	vm                    vm
	end                   string
	milliseconds, classes int
	flags                 []string // of the VM
}

// endings are Busy's, and the exit codes.
var endings = map[string]int{"return": 0, "exit": 0, "halt": 0, "attach": 0, "signal": 128 + int(syscall.SIGTERM)}

// run runs Busy with the agent, and returns its dump and standard error. It fails the test unless
// the program ends as it does without the agent.
func (b busy) run(t *testing.T, s *sanitizer, so, classes string) (dump, stderr string) {
	t.Helper()
	dir := t.TempDir()
	end := map[string]string{"signal": "sleep", "attach": "wait"}[b.end]
	if end == "" {
		end = b.end
	}
	args := slices.Clone(b.flags)
	if b.end != "attach" {
		args = append(args, "-agentpath:"+so)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	cmd := s.command(t, ctx, b.vm, append(args, "-cp", classes, "Busy", fmt.Sprint(b.milliseconds), fmt.Sprint(b.classes), end)...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stderr = dir, &errs
	stdin, stdout := testrec.Start(t, cmd)
	// It says this when it has worked long enough.
	const done = "done true"
	if _, err := io.CopyN(&out, stdout, int64(len(done))); err == nil {
		b.act(t, cmd.Process, so, dir)
	}
	stdin.Close()
	io.Copy(&out, stdout)
	cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); !strings.HasPrefix(out.String(), done) || code != endings[b.end] {
		t.Errorf("got exit code %d, %q; want %d, %q\n%s", code, out.String(), endings[b.end], done, errs.String())
		return "", errs.String()
	}
	if all := dumps(t, dir); len(all) == 1 {
		return all[0], errs.String()
	}
	t.Errorf("got %v; want one dump\n%s", dumps(t, dir), errs.String())
	return "", errs.String()
}

// act does to the running program what its end asks for.
func (b busy) act(t *testing.T, p *os.Process, so, dir string) {
	t.Helper()
	switch b.end {
	case "signal":
		if err := p.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	case "attach":
		jcmd := filepath.Join(filepath.Dir(b.vm.java), "jcmd")
		out, err := exec.Command(jcmd, fmt.Sprint(p.Pid), "JVMTI.agent_load", so, `"dir=`+dir+`"`).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("return code: 0")) {
			t.Errorf("%s: %v\n%s", jcmd, err, out)
		}
	}
}

// busyClasses compiles Busy for all the VMs.
func busyClasses(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command(testrec.Tool(t, "javac"), "--release", "17", "-d", dir, "testdata/Busy.java").CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return dir
}

// runs returns the runs for a VM: with JITINJECT_ALL=1 every end with HotSpot's record of inlined
// calls, and two with OpenJ9's table of methods. Otherwise there is one of each; TSan, under
// which fakej9 tries the table, has the first only.
func runs(v vm, s *sanitizer) (all []busy) {
	tables := []string{"-Djava.vm.name=HotSpot playing OpenJ9"}
	if os.Getenv("JITINJECT_ALL") == "" {
		all = []busy{{v, "attach", 200, 10, nil}, {v, "exit", 400, 10, tables}}
		if s.flag == "thread" {
			return all[:1]
		}
		return all
	}
	for _, end := range []string{"return", "exit", "halt", "signal", "attach"} {
		all = append(all, busy{v, end, 1000, 200, nil})
	}
	// The table needs ids that point to the method: tried with these. From 1024 classes on, it
	// looks for those that are gone.
	if !v.openJ9 && slices.Contains([]string{"17", "21", "25"}, v.version) {
		all = append(all, busy{v, "exit", 1000, 800, tables}, busy{v, "attach", 1000, 400, tables})
	}
	return all
}

// TestAgent_SanitizedInJavaVMs runs a program that compiles and inlines, loads and unloads classes
// in many threads, in real VMs, with the agent under the compiler's sanitizers.
func TestAgent_SanitizedInJavaVMs(t *testing.T) {
	classes, all := busyClasses(t), vms(t)
	for _, s := range sanitizers {
		so := s.compile(t)
		var tried []busy
		for _, v := range all {
			tried = append(tried, runs(v, &s)...)
		}
		for _, b := range testrec.Chosen(t, tried, len(tried), 12) {
			name := fmt.Sprintf("%s/%s/%s", s.name, b.vm.name, b.end)
			if b.flags != nil {
				name += "-tables"
			}
			t.Run(name, func(t *testing.T) {
				dump, stderr := b.run(t, &s, so, classes)
				for _, f := range findings(stderr) {
					t.Error(f)
				}
				if dump == "" {
					return
				}
				noErrors(t, dump)
				functions := readNames(t, dump)
				if n := len(named(functions, `^Busy\$Work\.applyAsInt\(I\)I$`)); n < 2 || len(functions) < 100 {
					t.Errorf("got %d functions, %d of classes that come and go; want 100, 2 or more", len(functions), n)
				}
			})
		}
	}
	if os.Getenv("JITINJECT_ALL") != "" {
		skipMissing(t, all)
	}
}

// TestSanitizers_PlantedFaultsFound proves that the test above can fail: in an agent with a fault
// of each kind, the fault is found and named.
func TestSanitizers_PlantedFaultsFound(t *testing.T) {
	classes, all := busyClasses(t), vms(t)
	for i, planted := range []map[string]string{
		{"freed": "heap-use-after-free", "overflow": "signed integer overflow", "leak": "leak of"},
		{"race": "data race"},
	} {
		s := &sanitizers[i]
		so := s.compile(t, "-Wno-use-after-free", "-I..", "-Wl,--wrap=jitdump_code_load", "testdata/planted.c")
		for fault, want := range planted {
			for _, v := range all {
				t.Run(s.name+"/"+fault+"/"+v.name, func(t *testing.T) {
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
					defer cancel()
					cmd := s.command(t, ctx, v, "-agentpath:"+so, "-cp", classes, "Busy", "300", "0", "return")
					cmd.Env = append(cmd.Env, "PLANTED="+fault)
					var stderr bytes.Buffer
					cmd.Dir, cmd.Stderr = t.TempDir(), &stderr
					cmd.Run() // a fault may end the program
					found := findings(stderr.String())
					if !slices.ContainsFunc(found, func(f string) bool {
						return strings.Contains(f, want) && strings.Contains(f, "planted_fault")
					}) {
						t.Errorf("got %q; want %q in planted_fault\n%s", found, want, stderr.String())
					}
				})
			}
		}
	}
}

// readNames reads the functions of a dump of any VM, without what describes them.
func readNames(t *testing.T, path string) []*dumped {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := jitdump.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var all []*dumped
	for r.Offset() < int64(len(b)) {
		raw, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if raw.ID != jitdump.IDLoad {
			continue
		}
		load, err := raw.Load()
		if err != nil {
			t.Fatal(err)
		}
		load.Name, load.Code = bytes.Clone(load.Name), nil
		all = append(all, &dumped{Load: load})
	}
	return all
}
