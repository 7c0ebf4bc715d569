package engine_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Stacks through jitted code, unwound by every perf from what perf record has copied.

// bottom is the last function of a stack that is whole.
var bottom = regexp.MustCompile(`_start|__libc_start|clone3?\b|start_thread|thread_start`)

// A stackCount is how many stacks have a jitted function in them, how many of these
// are whole, and how many frames there are in all.
type stackCount struct{ jitted, whole, frames int }

func (c stackCount) String() string {
	return fmt.Sprintf("%d of %d stacks are whole, %d frames", c.whole, c.jitted, c.frames)
}

// stacks counts the stacks of a recording.
func stacks(t *testing.T, dir, perf, file string) (c stackCount) {
	t.Helper()
	out := testrec.Run(t, dir, perf, "script", "-f", "--no-inline", "-F", "ip,sym,dso", "-i", file)
	for sample := range strings.SplitSeq(out, "\n\n") {
		frames := strings.Split(strings.TrimSpace(sample), "\n")
		c.frames += len(frames)
		if strings.Contains(sample, "/jitted-") {
			c.jitted++
			if bottom.MatchString(frames[len(frames)-1]) {
				c.whole++
			}
		}
	}
	return c
}

// recordStacks records a command with copies of stacks, and injects.
func recordStacks(t *testing.T, env []string, args ...string) (dir string, sum *report.Summary) {
	t.Helper()
	testrec.CanRecord(t)
	dir = t.TempDir()
	cmd := exec.Command(testrec.Tool(t, "perf"), append([]string{"record", "-q", "-o", "perf.data", "-F", "199", "-k", "mono", "--call-graph", "dwarf,32768", "--"}, args...)...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("unexpected error: %v: %s", err, out[:min(len(out), 1000)])
	}
	// perf 7 takes functions that are close together for one another's, unless the
	// objects are called /tmp/jitted-*.
	objects, err := os.MkdirTemp("/tmp", "jitted-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(objects) })
	sum, err = engine.Run(t.Context(), config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: objects,
	})
	if err != nil || !sum.Complete() {
		t.Fatalf("got %s, %v; want no error, nothing missing", asJSON(sum), err)
	}
	bundles, err := engine.Run(t.Context(), config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "bundle.data"), Objects: filepath.Join(dir, "bundles"), Bundle: true,
	})
	if err != nil || !bundles.Complete() {
		t.Fatalf("got %+v, %v; want no error, nothing missing", bundles, err)
	}
	t.Logf("%d objects, %d in bundles", sum.Objects, bundles.Objects)
	for i := range sum.Dumps {
		if path := sum.Dumps[i].Path; strings.HasPrefix(path, "/tmp/jit-") {
			t.Cleanup(func() { os.Remove(path) })
		}
	}
	return dir, sum
}

const nodeProgram = `
function inner(x) { let s = 0; for (let i = 0; i < 300; i++) s = (s * 31 + x + i) | 0; return s; }
function outer(n) { let s = 0; for (let i = 0; i < n; i++) s += inner(i); return s; }
const end = Date.now() + 2000;
let s = 0;
while (Date.now() < end) { s += outer(500); s += [3,1,2].map(x => inner(x)).sort((a, b) => a - b)[0]; }
console.log(s);
`

const phpProgram = `<?php
function collatz(int $n): int { $c=0; while($n!=1){ $n = $n%2==0 ? intdiv($n,2) : 3*$n+1; $c++; } return $c; }
$b=0; for($i=1;$i<300000;$i++){ $c=collatz($i); if($c>$b) $b=$c; } echo $b,"\n";
`

const loopProgram = `
int leaf(int x) { int s = 0; for (int i = 0; i < 100; i++) s = s * 31 + x + i; return s; }
int middle(int x) { return leaf(x) + leaf(x + 1) * 3; }
int main(void) { volatile int s = 0; for (int i = 0; i < 3000000; i++) s += middle(i); return s == 42; }
`

// Of stacks with jitted functions, nearly all are whole.
func TestStacks_FreshAreWhole(t *testing.T) {
	testrec.Fresh(t)
	write := func(t *testing.T, name, text string) string {
		t.Helper()
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bitcode := func(t *testing.T, flags ...string) string {
		t.Helper()
		source := write(t, "loop.c", loopProgram)
		out := strings.TrimSuffix(source, ".c") + ".bc"
		testrec.Run(t, filepath.Dir(source), testrec.Tool(t, "clang-14", "clang"), append(flags, "-O1", "-fno-inline", "-emit-llvm", "-c", "-o", out, source)...)
		return out
	}
	for _, r := range []struct {
		name    string
		percent int // that must be whole
		atLeast int // stacks
		command func(*testing.T) (env, args []string)
	}{
		{"node", 97, 30, func(t *testing.T) (env, args []string) {
			return nil, []string{testrec.Tool(t, "node"), "--perf-prof", "--perf-prof-unwinding-info", write(t, "prog.js", nodeProgram)}
		}},
		{"node without unwinding info", 97, 30, func(t *testing.T) (env, args []string) {
			return nil, []string{testrec.Tool(t, "node"), "--perf-prof", "--interpreted-frames-native-stack", write(t, "prog.js", nodeProgram)}
		}},
		{"php", 97, 20, func(t *testing.T) (env, args []string) {
			return nil, []string{testrec.Tool(t, "php"), "-d", "opcache.enable_cli=1", "-d", "opcache.file_update_protection=0", "-d", "opcache.jit_buffer_size=64M",
				"-d", "opcache.jit=tracing", "-d", "opcache.jit_debug=0x20", write(t, "prog.php", phpProgram)}
		}},
		{"lli", 97, 30, func(t *testing.T) (env, args []string) {
			return []string{"JITDUMPDIR=" + t.TempDir()}, []string{testrec.Tool(t, "lli-14", "lli"), "--jit-kind=mcjit", bitcode(t, "-fno-omit-frame-pointer")}
		}},
		{"lli without frame pointers", 97, 30, func(t *testing.T) (env, args []string) {
			return []string{"JITDUMPDIR=" + t.TempDir()}, []string{testrec.Tool(t, "lli-14", "lli"), "--jit-kind=mcjit", bitcode(t, "-fomit-frame-pointer")}
		}},
		{"java", 97, 30, func(t *testing.T) (env, args []string) {
			agent, dir := javaAgent(t), t.TempDir()
			testrec.Run(t, dir, testrec.Tool(t, "javac"), "-g", "-d", dir, testrec.Path("..", "agent", "jvmti", "test", "testdata", "Hot.java"))
			return nil, []string{testrec.Tool(t, "java"), "-agentpath:" + agent + "=dir=" + dir, "-XX:+PreserveFramePointer", "-cp", dir, "Hot"}
		}},
	} {
		t.Run(r.name, func(t *testing.T) {
			env, args := r.command(t)
			dir, _ := recordStacks(t, env, args...)
			for version, perf := range testrec.Perfs(t) {
				for _, file := range []string{"out.data", "bundle.data"} {
					c := stacks(t, dir, perf, file)
					t.Logf("perf %s, %s: %v", version, file, c)
					if c.jitted < r.atLeast || c.whole*100 < r.percent*c.jitted {
						t.Errorf("perf %s, %s: %v", version, file, c)
					}
				}
			}
		})
	}
}
