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
	{"default", "", atLeast{right: 8000, functions: 30, percent: 85}},
	{"sparkplug", "--always-sparkplug --no-opt --no-maglev", atLeast{right: 8000, functions: 30, percent: 80}},
	{"interpreter", "--no-opt --no-sparkplug", atLeast{right: 8000, functions: 30, percent: 85}},
	{"native-stack", "--no-opt --no-sparkplug --interpreted-frames-native-stack", atLeast{right: 8000, functions: 30, percent: 85}},
	{"sent", "--perf-prof-unwinding-info", atLeast{right: 8000, functions: 30, sent: 200, percent: 85}},
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
			t.Run(version+"-"+mode.name, func(t *testing.T) {
				args := []string{node, "--perf-prof"}
				for _, arg := range strings.Fields(mode.args) {
					if strings.Contains(options, strings.TrimPrefix(strings.TrimPrefix(arg, "--"), "no-")) { // node 18 has no Maglev
						args = append(args, arg)
					}
				}
				p := program{dir: t.TempDir(), args: append(args, script, "stop")}
				w, _ := p.watch(t, usual())
				d := openDump(t, dumpIn(t, p.dir), copiesOf(w.regions), nil)
				judge(d, w, rbp).report(t, mode.want)
			})
		}
	}
}
