package stepped

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/testrec"
)

// all are the registers that every function with C's calling convention keeps.
var all = calleeSaved[:]

// absolute returns the path of a file in testdata.
func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Rows of PHP's traces, which run in the frame of its interpreter, execute_ex. Its own
// tables lack the caller's r14 and r15, which hold global variables (ZEND_VM_FP_GLOBAL_REG
// and ZEND_VM_IP_GLOBAL_REG of zend_execute.c).
func TestUnwindRows_PHP(t *testing.T) {
	php := testrec.Tool(t, "php")
	p := program{dir: t.TempDir(), args: []string{php, "-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0",
		"-d", "opcache.jit_buffer_size=64M", "-d", "opcache.jit=tracing", "-d", "opcache.jit_debug=0x20", absolute(t, "program.php"), "stop"}}
	how := usual()
	how.burst = 20000 // traces are judged after their interpreter was called
	w, pid := p.watch(t, how)
	path := fmt.Sprintf("/tmp/jit-%d.dump", pid) // fixed in zend_jit_perf_dump.c
	t.Cleanup(func() { os.Remove(path) })
	d := openDump(t, path, nil, func(tracer source.Tracer) *jitcode.FrameRow { return hostOf(t, php, tracer) })
	judge(d, w, 3, rbp, 12, 13).report(t, atLeast{right: 3000, functions: 3, percent: 95})
}

// Rows of LLVM's code, at two levels of optimization.
func TestUnwindRows_LLI(t *testing.T) {
	lli, clang := testrec.Tool(t, "lli-14", "lli"), testrec.Tool(t, "clang++-14", "clang++")
	for _, level := range []string{"-O0", "-O2"} {
		t.Run(level, func(t *testing.T) {
			dir := t.TempDir()
			testrec.Run(t, dir, clang, level, "-g", "-emit-llvm", "-c", "-o", "program.bc", absolute(t, "program.cc"))
			p := program{dir: dir, args: []string{lli, "-jit-kind=mcjit", "program.bc", "stop"}, env: []string{"JITDUMPDIR=" + dir}}
			w, _ := p.watch(t, usual())
			judge(openDump(t, dumpIn(t, dir), nil, nil), w, all...).report(t, atLeast{right: 8000, functions: 10, percent: 99})
		})
	}
}

// Rows of HotSpot's code, with and without frame pointers, and of its interpreter.
func TestUnwindRows_Java(t *testing.T) {
	java, javac := testrec.Tool(t, "java"), testrec.Tool(t, "javac")
	testrec.Tool(t, "gcc", "cc")
	bin := t.TempDir()
	testrec.Run(t, filepath.Join("..", ".."), testrec.Tool(t, "make"), "agent", "BIN="+bin)
	testrec.Run(t, bin, javac, "-g", "-d", bin, absolute(t, "Program.java"))
	for name, options := range map[string][]string{
		"frame pointers":    {"-XX:+PreserveFramePointer"},
		"no frame pointers": {"-XX:-PreserveFramePointer"},
		// Compiled code calls interpreted methods, and these call compiled ones.
		"interpreted": {"-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,Program.fib", "-XX:CompileCommand=exclude,Program.spilled"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := program{dir: dir, thread: "stepped", args: []string{java, "-agentpath:" + filepath.Join(bin, "libjitinject-jvmti.so") + "=dir=" + dir,
				"-cp", bin, "Program", "stop"}}
			p.args = slices.Insert(p.args, 2, options...)
			how := usual()
			how.pushesReturns = true
			how.warm, how.pause, how.burst = 1500*time.Millisecond, 20*time.Millisecond, 4000
			how.least = 12
			w, _ := p.watch(t, how)
			v := judge(openDump(t, dumpIn(t, dir), nil, nil), w, rbp)
			if name != "interpreted" {
				v.report(t, atLeast{right: 3000, functions: 8, percent: 85})
				return
			}
			// The other subtests judge the compiled code.
			if i := v.functions["Interpreter"]; i == nil || i.wrong > 0 || i.right < 300 {
				t.Errorf("for %v, the interpreter: got %+v, want 300 right rows at least and no wrong ones", v, i)
			} else {
				t.Logf("the interpreter: %v", i.count)
			}
		})
	}
}
