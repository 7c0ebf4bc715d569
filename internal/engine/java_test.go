package engine_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Java for real: OpenJDK with the agent, under perf.

// javaAgent builds the agent and returns its path.
func javaAgent(t *testing.T) string {
	t.Helper()
	testrec.Tool(t, "gcc", "cc")
	testrec.Tool(t, "javac")
	if out, err := exec.Command("make", "-C", "../..", "agent").CombinedOutput(); err != nil {
		t.Fatalf("make agent: %v\n%s", err, out)
	}
	path, err := filepath.Abs("../../bin/libjitinject-jvmti.so")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// recordJava records a program of the agent's testdata, whose code is all of C2,
// and returns the directory of the recording and what the compiler said of inlining.
func recordJava(t *testing.T, class string) (dir string, inlining []byte) {
	t.Helper()
	perf, agent := testrec.Tool(t, "perf"), javaAgent(t)
	dir = t.TempDir()
	testrec.Run(t, dir, testrec.Tool(t, "javac"), "-g", "-d", dir, testrec.Path("..", "agent", "jvmti", "test", "testdata", class+".java"))
	cmd := exec.Command(perf, "record", "-q", "-o", filepath.Join(dir, "perf.data"), "-F", "499", "-k", "mono", "--call-graph", "dwarf,16384",
		testrec.Tool(t, "java"), "-agentpath:"+agent+"=dir="+dir, "-XX:+PreserveFramePointer", "-XX:-TieredCompilation",
		"-XX:+UnlockDiagnosticVMOptions", "-XX:+PrintInlining", "-XX:+PrintCompilation", "-cp", dir, class)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	return dir, out
}

// javaMethod is a method as the agent writes it, without its descriptor.
var javaMethod = regexp.MustCompile(`^([\w.$]+)\.([\w$<>]+)\([^ ]*\)\S+$`)

// inlinedMethod is a line of -XX:+PrintInlining about a call that was inlined.
var inlinedMethod = regexp.MustCompile(`@ \d+\s+(\S+)::(\S+) \(\d+ bytes\).*(inline|accessor|intrinsic)`)

// perf shows the calls that the compiler says it has inlined, and no others, with
// lines of Java; perf inject shows none.
func TestInlines_HotSpot(t *testing.T) {
	testrec.Fresh(t)
	dir, out := recordJava(t, "Hot")
	inlined := make(map[string]bool)
	for _, m := range inlinedMethod.FindAllStringSubmatch(string(out), -1) {
		inlined[strings.ReplaceAll(m[1], "/", ".")+"."+m[2]] = true // a hidden class has a slash in its name
	}
	sum, err := engine.Run(context.Background(), config.Options{
		Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data"), Objects: filepath.Join(dir, "objects"),
	})
	if err != nil || !sum.Complete() || sum.Dumps[0].Inlining < 5 || len(sum.Dumps[0].Fixes) > 0 {
		t.Fatalf("got %s, %v; want no error, nothing missing, Dumps[0].Inlining >= 5, no repairs", asJSON(sum), err)
	}
	for version, perf := range testrec.Perfs(t) {
		shown := make(map[string]int)
		code, placed := 0, 0
		for _, chain := range perfChains(t, dir, perf, "out.data", "--inline") {
			for i, e := range chain {
				m := javaMethod.FindStringSubmatch(e.frame.Function)
				if m == nil {
					continue
				}
				name := m[1] + "." + m[2]
				if e.inlined {
					if shown[name]++; shown[name] == 1 && !inlined[name] {
						t.Errorf("%s: %s is shown as inlined, and the compiler does not say so", version, name)
					}
				}
				if i == 0 {
					code++
					if strings.HasSuffix(e.frame.File, ".java") && e.frame.Line > 0 {
						placed++
					}
				}
			}
		}
		t.Logf("%s: %d samples in Java code, %d with a line; inlined calls shown: %v", version, code, placed, shown)
		if code < 50 || placed*100 < 95*code {
			t.Errorf("%s: of %d samples in Java code, %d have a line", version, code, placed)
		}
		for _, want := range []string{"Hot.leaf", "Hot.mid", "java.util.ArrayList$Itr.next"} {
			if shown[want] == 0 {
				t.Errorf("%s does not show %s as inlined", version, want)
			}
		}
	}
	// Beside it, perf inject.
	perf := testrec.Tool(t, "perf")
	cmd := exec.Command(perf, "inject", "--jit", "-i", "perf.data", "-o", "theirs.data")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "PERF_BUILDID_DIR="+filepath.Join(dir, "debug"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("perf inject: %v\n%s", err, out)
	}
	for _, chain := range perfChains(t, dir, perf, "theirs.data", "--inline") {
		for _, e := range chain {
			if e.inlined && javaMethod.MatchString(e.frame.Function) {
				t.Fatalf("perf inject shows %s as inlined", e.frame.Function)
			}
		}
	}
}
