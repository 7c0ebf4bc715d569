package stepped

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jitinject/jitinject/internal/testrec"
)

var stepCount = flag.Int("steps", 15000, "instructions of jitted code to watch in each process")

// usual returns the plan for most programs.
func usual() plan {
	return plan{steps: *stepCount, burst: 4000, pause: 5 * time.Millisecond, limit: 5*time.Second + time.Duration(*stepCount)*time.Millisecond}
}

// nodeModes are the compilers of V8 that take part, by its options.
var nodeModes = []struct {
	name string
	args string
	want atLeast
}{
	{"default", "", atLeast{}},
	{"sparkplug", "--always-sparkplug --no-opt --no-maglev", atLeast{}},
	{"interpreter", "--no-opt --no-sparkplug", atLeast{}},
	{"native-stack", "--no-opt --no-sparkplug --interpreted-frames-native-stack", atLeast{}},
	{"sent", "--perf-prof-unwinding-info", atLeast{}},
}

// Rows of V8's code, by all of its compilers.
func TestNode(t *testing.T) {
	nodes := []string{testrec.Tool(t, "node")}
	for _, path := range strings.Split(os.Getenv("JITINJECT_NODES"), ":") {
		if path != "" {
			nodes = append(nodes, path)
		}
	}
	script, err := filepath.Abs(filepath.Join("testdata", "program.js"))
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes {
		dir := t.TempDir()
		version := strings.TrimSpace(testrec.Run(t, dir, node, "--version"))
		options := testrec.Run(t, dir, node, "--v8-options")
		for _, mode := range nodeModes {
			t.Run(version+"/"+mode.name, func(t *testing.T) {
				args := []string{node, "--perf-prof"}
				for _, arg := range strings.Fields(mode.args) {
					if strings.Contains(options, strings.TrimPrefix(strings.TrimPrefix(arg, "--"), "no-")) { // node 18 has no Maglev
						args = append(args, arg)
					}
				}
				p := program{dir: t.TempDir(), args: append(args, script, "stop")}
				begin := time.Now()
				w, _ := p.watch(t, usual())
				t.Logf("%d instructions watched, %d of them in jitted code, in %v", w.all, len(w.steps), time.Since(begin))
				d := openDump(t, dumpIn(t, p.dir), copiesOf(w.regions), nil)
				judge(d, w, rbp).report(t, mode.want)
			})
		}
	}
}
