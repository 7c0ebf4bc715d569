// Package jvmti_test runs Java programs with the agent. It is not beside the C
// sources because go does not take those without cgo.
package jvmti_test

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"

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
		t.Fatalf("got %v; want no error, output that begins with \"done true\"\n%s\n%s", r.err, r.stdout, r.stderr)
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

func TestAgent_EveryRecordOfHotSpot(t *testing.T) {
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
				t.Errorf(`%s: got %+v; want d.debug, d.functions[0].file = "scopes/Scopes.java", d.functions[0].flags = 1`, d.Name, d.functions)
			}
		case bytes.HasPrefix(d.Name, []byte("java.")):
			if !d.debug || d.functions[0].file != "java/lang/String.java" || d.functions[0].flags != 0 {
				t.Errorf(`%s: got %+v; want d.debug, d.functions[0].file = "java/lang/String.java", d.functions[0].flags = 0`, d.Name, d.functions)
			}
		case d.debug:
			t.Errorf("%s has debug information", d.Name)
		}
	}
}

// TestAgent_PlacesEndAtTheirPC shows which code a place of HotSpot's records stands
// for. Methods are inlined that have a constant of which no other method can be
// the source. The instructions with it say where the code of a place lies: in
// front of its pc, not behind it.
func TestAgent_PlacesEndAtTheirPC(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		testrec.Skip(t, "reads instructions of x86-64")
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
				t.Errorf("got %v, %d right, %d wrong; want all owners, 8 right or more, at most one of 20 wrong", seen, right, wrong)
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

// TestAgent_InlinesLikePrintInlining compares the calls that a compiled method says were inlined
// with what the compiler says of it.
func TestAgent_InlinesLikePrintInlining(t *testing.T) {
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
