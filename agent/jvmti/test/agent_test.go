// Package jvmti_test runs Java programs with the agent. It is not beside the C
// sources because go does not take those without cgo.
package jvmti_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/arch/x86/x86asm"

	"github.com/jitinject/jitinject/internal/testrec"
)

// jdkHome returns the directory of the JDK whose javac is installed.
func jdkHome(t *testing.T) string {
	t.Helper()
	path, err := filepath.EvalSymlinks(testrec.Tool(t, "javac"))
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(filepath.Dir(path))
}

var build = sync.OnceValues(func() ([]byte, error) {
	return exec.Command("make", "-C", "../../..", "agent").CombinedOutput()
})

// agent builds the agent by the Makefile and returns its path.
func agent(t *testing.T) string {
	t.Helper()
	testrec.Tool(t, "gcc", "cc")
	jdkHome(t)
	if out, err := build(); err != nil {
		t.Fatalf("make agent: %v\n%s", err, out)
	}
	path, err := filepath.Abs("../../../bin/libjitinject-jvmti.so")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// classes compiles a program of testdata and returns the directory of its classes.
func classes(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command(testrec.Tool(t, "javac"), "-d", dir, "testdata/"+source).CombinedOutput(); err != nil {
		t.Fatalf("javac: %v\n%s", err, out)
	}
	return dir
}

// A run is a Java program that ended.
type run struct {
	dumps          []string
	stdout, stderr string
	err            error
}

// java runs a program in a directory of its own, where the dump goes.
func java(t *testing.T, args ...string) run {
	t.Helper()
	return runIn(t, t.TempDir(), exec.Command(testrec.Tool(t, "java"), args...))
}

func runIn(t *testing.T, dir string, cmd *exec.Cmd) run {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &stdout, &stderr
	err := cmd.Run()
	return run{dumps(t, dir), stdout.String(), stderr.String(), err}
}

func dumps(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "jit-*.dump"))
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

// good fails the test unless the program did what it does without the agent.
func (r run) good(t *testing.T) {
	t.Helper()
	if r.err != nil || !strings.HasPrefix(r.stdout, "done true") {
		t.Fatalf("%v\n%s\n%s", r.err, r.stdout, r.stderr)
	}
}

// one returns the functions of the only dump.
func (r run) one(t *testing.T) []*dumped {
	t.Helper()
	if len(r.dumps) != 1 {
		t.Fatalf("the dumps are %v\n%s", r.dumps, r.stderr)
	}
	return readDump(t, r.dumps[0])
}

// named returns the functions whose name the expression matches.
func named(all []*dumped, expr string) []*dumped {
	re := regexp.MustCompile(expr)
	var found []*dumped
	for _, d := range all {
		if re.Match(d.Name) {
			found = append(found, d)
		}
	}
	return found
}

func TestDump(t *testing.T) {
	r := java(t, "-agentpath:"+agent(t), "-cp", classes(t, "Scopes.java"), "scopes.Scopes", "800")
	r.good(t)
	if r.stderr != "" {
		t.Errorf("stderr: %s", r.stderr)
	}
	all := r.one(t)
	for _, expr := range []string{
		`^Interpreter$`, `^call_stub$`,
		`^scopes\.Scopes\.main\(\[Ljava/lang/String;\)V$`, `^scopes\.Scopes\.step\(II\)I$`,
		`^java\.lang\.String\.hashCode\(\)I$`,
	} {
		found := named(all, expr)
		if len(found) == 0 {
			t.Errorf("no function %s", expr)
			continue
		}
		d := found[len(found)-1]
		switch {
		case bytes.HasPrefix(d.Name, []byte("scopes.")):
			if !d.debug || d.functions[0].file != "scopes/Scopes.java" || d.functions[0].flags != 1 {
				t.Errorf("%s: %+v", d.Name, d.functions)
			}
		case bytes.HasPrefix(d.Name, []byte("java.")):
			if !d.debug || d.functions[0].file != "java/lang/String.java" || d.functions[0].flags != 0 {
				t.Errorf("%s: %+v", d.Name, d.functions)
			}
		case d.debug:
			t.Errorf("%s has debug information", d.Name)
		}
	}
}

// TestPlacesEndAtTheirPC shows which code a place of HotSpot's records stands
// for. Methods are inlined that have a constant of which no other method can be
// the source. The instructions with it say where the code of a place lies: in
// front of its pc, not behind it.
func TestPlacesEndAtTheirPC(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: reads instructions of x86-64")
	}
	so, cp := agent(t), classes(t, "Scopes.java")
	owners := map[int64]frame{
		0x10203040: {"scopes.Scopes.first(I)V", "scopes/Scopes.java", 8},
		0x51525354: {"scopes.Scopes.second(I)V", "scopes/Scopes.java", 12},
		0x61728395: {"scopes.Scopes.third(I)V", "scopes/Scopes.java", 16},
		0x22334455: {"scopes.Scopes.last(I)V", "scopes/Scopes.java", 21},
	}
	for _, compiler := range []string{"C1", "C2"} {
		t.Run(compiler, func(t *testing.T) {
			flag := map[string]string{"C1": "-XX:TieredStopAtLevel=1", "C2": "-XX:-TieredCompilation"}[compiler]
			r := java(t, "-agentpath:"+so, flag, "-XX:-UseSuperWord", "-cp", cp, "scopes.Scopes", "1500")
			r.good(t)
			seen := make(map[int64]int)
			right, wrong, ifStart := 0, 0, 0
			for _, d := range named(r.one(t), `^scopes\.`) {
				for _, insn := range instructions(d.Code) {
					owner, ok := owners[insn.constant]
					if !ok {
						continue
					}
					seen[insn.constant]++
					for _, at := range []uint32{insn.start, insn.end - 1} { // a sample, and a return address - 1
						stack := d.stack(at)
						if stack[len(stack)-1] == owner {
							right++
						} else {
							wrong++
							t.Logf("%s +%#x %#x: %v", d.Name, at, insn.constant, stack)
						}
					}
					// Were pc the start, code would have the scope of the place before.
					if before := d.stackBefore(insn.start); before[len(before)-1] == owner {
						ifStart++
					}
				}
			}
			t.Logf("instructions %v: %d right, %d wrong; were pc a place's start, %d right", seen, right/2, wrong/2, ifStart)
			if len(seen) != len(owners) || right < 8 || wrong*20 > right {
				t.Errorf("%v: %d right, %d wrong", seen, right, wrong)
			}
			if ifStart*4 > right/2 {
				t.Errorf("%d instructions would be right also if pc were a place's start: the test shows nothing", ifStart)
			}
		})
	}
}

// stackBefore returns the stack in front of the place that offset is in.
func (d *dumped) stackBefore(offset uint32) []frame {
	here := fmt.Sprint(d.stack(offset))
	for offset > 0 && fmt.Sprint(d.stack(offset)) == here {
		offset--
	}
	return d.stack(offset)
}

// An instruction has the constant that is part of it, if any.
type instruction struct {
	start, end uint32
	constant   int64
}

func instructions(code []byte) []instruction {
	var all []instruction
	for at := 0; at < len(code); {
		insn, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			at++ // of a vector unit, or data
			continue
		}
		in := instruction{start: uint32(at), end: uint32(at + insn.Len)}
		for _, arg := range insn.Args {
			switch arg := arg.(type) {
			case x86asm.Imm:
				in.constant = int64(arg)
			case x86asm.Mem: // lea
				if insn.Op == x86asm.LEA {
					in.constant = arg.Disp
				}
			}
		}
		all = append(all, in)
		at += insn.Len
	}
	return all
}

// TestPrintInlining compares the calls that a compiled method says were inlined
// with what the compiler says of it.
func TestPrintInlining(t *testing.T) {
	r := java(t, "-agentpath:"+agent(t), "-XX:-TieredCompilation", "-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintInlining",
		"-XX:+PrintCompilation", "-cp", classes(t, "Scopes.java"), "scopes.Scopes", "1500")
	if r.err != nil {
		t.Fatal(r.err)
	}
	told := make(map[string]bool)
	for _, m := range regexp.MustCompile(`@ \d+ +(\S+)::(\S+) \(\d+ bytes\) +(?:force )?inline`).FindAllStringSubmatch(r.stdout, -1) {
		told[m[1]+"."+m[2]] = true
	}
	all := r.one(t)
	seen := make(map[string]bool)
	for _, d := range all {
		for _, c := range d.calls {
			name, _, _ := strings.Cut(c.function.name, "(")
			seen[name] = true
			if !told[name] {
				t.Errorf("%s: %s was not inlined, the compiler says", d.Name, name)
			}
		}
	}
	for _, name := range []string{"step", "first", "second", "third", "last"} {
		if !seen["scopes.Scopes."+name] || !told["scopes.Scopes."+name] {
			t.Errorf("%s: in the dump %v, by the compiler %v", name, seen["scopes.Scopes."+name], told["scopes.Scopes."+name])
		}
	}
}

func TestOptions(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	t.Run("dir", func(t *testing.T) {
		dir := t.TempDir()
		r := java(t, "-agentpath:"+so+"=names=short,dir="+dir, "-cp", cp, "scopes.Scopes", "300")
		r.good(t)
		if len(r.dumps) != 0 {
			t.Errorf("dumps in the current directory: %v", r.dumps)
		}
		r.dumps = dumps(t, dir)
		if len(named(r.one(t), `^scopes\.Scopes\.step$`)) == 0 {
			t.Error("no function scopes.Scopes.step")
		}
	})
	t.Run("JITDUMPDIR", func(t *testing.T) {
		dir := t.TempDir()
		t.Setenv("JITDUMPDIR", dir)
		r := java(t, "-agentpath:"+so, "-cp", cp, "scopes.Scopes", "300")
		r.good(t)
		r.dumps = dumps(t, dir)
		r.one(t)
	})
	for _, bad := range []string{"dri=/tmp", "names=long", "dir=", "dir"} {
		t.Run(bad, func(t *testing.T) {
			r := java(t, "-agentpath:"+so+"="+bad, "-cp", cp, "scopes.Scopes", "300")
			if r.err == nil || !strings.Contains(r.stderr, "jitinject-jvmti: ") || len(r.dumps) != 0 {
				t.Errorf("%v, %v\n%s", r.err, r.dumps, r.stderr)
			}
		})
	}
}

// TestStubsOnly runs without compilers.
func TestStubsOnly(t *testing.T) {
	r := java(t, "-agentpath:"+agent(t), "-Xint", "-cp", classes(t, "Scopes.java"), "scopes.Scopes", "100")
	r.good(t)
	all := r.one(t)
	if len(named(all, `^Interpreter$`)) == 0 || len(named(all, `^scopes`)) != 0 {
		t.Errorf("%d functions", len(all))
	}
}

// TestNoPlace has no directory, no permission, or no executable mappings: the
// program runs, and one line says what is wrong.
func TestNoPlace(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	check := func(t *testing.T, cmd *exec.Cmd, dir string) {
		t.Helper()
		r := runIn(t, t.TempDir(), cmd)
		r.good(t)
		if strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "no jitdump is written") || !strings.Contains(r.stderr, dir) {
			t.Errorf("stderr: %s", r.stderr)
		}
		if left := append(dumps(t, dir), r.dumps...); len(left) != 0 {
			t.Errorf("there are %v", left)
		}
	}
	command := func(dir string) *exec.Cmd {
		return exec.Command(testrec.Tool(t, "java"), "-agentpath:"+so+"=dir="+dir, "-cp", cp, "scopes.Scopes", "100")
	}
	t.Run("missing", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "missing")
		check(t, command(dir), dir)
	})
	t.Run("permission", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.Chmod(dir, 0o555); err != nil {
			t.Fatal(err)
		}
		cmd := command(dir)
		if os.Getuid() == 0 {
			// The classes and the library are not for others to read here.
			shared := public(t)
			for _, path := range []string{so, filepath.Join(cp, "scopes", "Scopes.class")} {
				to := filepath.Join(shared, filepath.Base(path))
				if filepath.Ext(path) == ".class" {
					to = filepath.Join(shared, "scopes", filepath.Base(path))
				}
				copyFile(t, path, to)
			}
			dir = filepath.Join(shared, "closed")
			if err := os.Mkdir(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			cmd = exec.Command(testrec.Tool(t, "java"), "-agentpath:"+filepath.Join(shared, filepath.Base(so))+"=dir="+dir,
				"-cp", shared, "scopes.Scopes", "100")
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			r := runIn(t, shared, cmd)
			r.good(t)
			if strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, "Permission denied; no jitdump is written") {
				t.Errorf("stderr: %s", r.stderr)
			}
			return
		}
		check(t, cmd, dir)
	})
	t.Run("noexec", func(t *testing.T) {
		dir := tmpfs(t, "noexec")
		check(t, command(dir), dir)
	})
}

// public makes a directory that every user can read.
func public(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "jvmti")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o755)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// tmpfs mounts a file system for the test.
func tmpfs(t *testing.T, options string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "none", dir).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: mounting is not allowed here: %v %s", err, out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", dir).CombinedOutput(); err != nil {
			t.Errorf("umount: %v %s", err, out)
		}
	})
	return dir
}

// TestFull lets the dump's space run out: what was written until then is whole.
func TestFull(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	check := func(t *testing.T, r run, limit int64) {
		t.Helper()
		r.good(t)
		if strings.Count(r.stderr, "jitinject-jvmti: ") != 1 || !strings.Contains(r.stderr, "the jitdump ends here") {
			t.Errorf("stderr: %s", r.stderr)
		}
		if len(r.one(t)) < 10 {
			t.Error("hardly a function was written")
		}
		info, err := os.Stat(r.dumps[0])
		if err != nil {
			t.Fatal(err)
		}
		if info.Size() > limit {
			t.Errorf("%d bytes", info.Size())
		}
	}
	t.Run("limit", func(t *testing.T) {
		script := fmt.Sprintf("ulimit -f 200; exec java -XX:-UsePerfData -agentpath:%s -cp %s scopes.Scopes 500", so, cp)
		// The unit is 512 bytes for dash, 1024 for bash.
		check(t, runIn(t, t.TempDir(), exec.Command("sh", "-c", script)), 200<<10)
	})
	t.Run("tmpfs", func(t *testing.T) {
		dir := tmpfs(t, "size=204800")
		r := java(t, "-agentpath:"+so+"=dir="+dir, "-cp", cp, "scopes.Scopes", "500")
		r.dumps = dumps(t, dir)
		check(t, r, 200<<10)
	})
}

// TestUnloading unloads classes while several compilers work on their methods.
func TestUnloading(t *testing.T) {
	r := java(t, "-agentpath:"+agent(t), "-XX:+UseParallelGC", "-XX:CICompilerCount=6", "-Xlog:class+unload:file=unload.log",
		"-cp", classes(t, "Unload.java"), "Unload", "6000")
	r.good(t)
	all := r.one(t)
	work := named(all, `^Unload\$Work\.applyAsInt\(I\)I$`)
	log, err := os.ReadFile(filepath.Join(filepath.Dir(r.dumps[0]), "unload.log"))
	if err != nil {
		t.Fatal(err)
	}
	unloaded := bytes.Count(log, []byte("unloading class Unload$Work"))
	t.Logf("%d functions, %d of classes that come and go, %d classes unloaded", len(all), len(work), unloaded)
	if unloaded < 10 || len(work) < 10 {
		t.Errorf("%d classes were unloaded, %d functions", unloaded, len(work))
	}
}

// TestExit ends the program in the middle of compilations.
func TestExit(t *testing.T) {
	so, cp := agent(t), classes(t, "Exit.java")
	for i := range 5 {
		r := java(t, "-agentpath:"+so, "-cp", cp, "Exit", fmt.Sprint(200*i+100))
		r.good(t)
		if r.stderr != "" || len(r.one(t)) < 100 {
			t.Errorf("stderr: %s", r.stderr)
		}
	}
}

// TestStaleFile finds something at the dump's place: it must not be written to,
// nor followed.
func TestStaleFile(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	dir := t.TempDir()
	victim := filepath.Join(dir, "victim")
	if err := os.WriteFile(victim, []byte("keep me"), 0o644); err != nil {
		t.Fatal(err)
	}
	// exec keeps the shell's pid.
	script := fmt.Sprintf("ln -s victim jit-$$.dump; exec java -agentpath:%s -cp %s scopes.Scopes 100", so, cp)
	r := runIn(t, dir, exec.Command("sh", "-c", script))
	r.good(t)
	r.one(t)
	if b, err := os.ReadFile(victim); err != nil || string(b) != "keep me" {
		t.Errorf("%q, %v", b, err)
	}
}

// TestAttach loads the agent into a program that runs, three times: the second
// and third, from a copy, must not make another dump.
func TestAttach(t *testing.T) {
	so, cp := agent(t), classes(t, "Scopes.java")
	jcmd := testrec.Tool(t, "jcmd")
	dir := t.TempDir()
	again := filepath.Join(dir, "copy.so")
	copyFile(t, so, again)
	cmd := exec.Command(testrec.Tool(t, "java"), "-cp", cp, "scopes.Scopes", "1500", "wait")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	// It says so when it has run long enough to be compiled.
	if _, err := io.ReadFull(stdout, make([]byte, len("done true"))); err != nil {
		t.Fatal(err)
	}
	to := t.TempDir()
	for _, path := range []string{so, so, again} {
		out, err := exec.Command(jcmd, fmt.Sprint(cmd.Process.Pid), "JVMTI.agent_load", path, `"dir=`+to+`"`).CombinedOutput()
		if err != nil || !bytes.Contains(out, []byte("return code: 0")) {
			t.Fatalf("jcmd: %v\n%s", err, out)
		}
	}
	stdin.Close()
	io.Copy(io.Discard, stdout)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	select {
	case err = <-done:
	case <-time.After(time.Minute):
		err = errors.New("the program does not end")
	}
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	if got := stderr.String(); strings.Count(got, "jitinject-jvmti: ") != 2 ||
		!strings.Contains(got, "loaded already") || !strings.Contains(got, "no second dump") {
		t.Errorf("stderr: %s", got)
	}
	all := run{dumps: append(dumps(t, to), dumps(t, dir)...)}.one(t)
	for _, expr := range []string{`^Interpreter$`, `^scopes\.Scopes\.step\(II\)I$`, `^java\.lang\.String\.hashCode\(\)I$`} {
		if len(named(all, expr)) == 0 {
			t.Errorf("no function %s among %d", expr, len(all))
		}
	}
}

// TestPerf records a program and lets perf's own inject read the dump.
func TestPerf(t *testing.T) {
	testrec.CanRecord(t)
	dir := t.TempDir()
	for _, args := range [][]string{
		{"record", "-q", "-e", "cpu-clock", "-k", "mono", "-o", "perf.data", "java", "-agentpath:" + agent(t), "-cp", classes(t, "Scopes.java"), "scopes.Scopes", "1000"},
		{"inject", "--jit", "-i", "perf.data", "-o", "perf.jit.data"},
	} {
		if out, err := testrec.Command(t, dir, testrec.Tool(t, "perf"), args...).CombinedOutput(); err != nil {
			t.Fatalf("perf %s: %v\n%s", args[0], err, out)
		}
	}
	out, err := testrec.Command(t, dir, "perf", "report", "-i", "perf.jit.data", "--stdio", "--sort", "sym").Output()
	if err != nil || !bytes.Contains(out, []byte("scopes.Scopes.main([Ljava/lang/String;)V")) {
		t.Errorf("%v\n%s", err, out)
	}
}
