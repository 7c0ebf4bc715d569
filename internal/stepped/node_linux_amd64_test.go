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
	return plan{warm: 300 * time.Millisecond, steps: *stepCount, burst: 1500, pause: 3 * time.Millisecond, limit: 15*time.Second + 3*time.Duration(*stepCount)*time.Millisecond}
}

// maxStarts bounds the starts of node for a test. Once in some 40 starts, V8's code lies so
// close to the program that it does not map the builtins again.
const maxStarts = 4

// nodeModes select the compilers of V8, by its options.
var nodeModes = []struct {
	name string
	args string
	want atLeast
}{
	{"default", "", atLeast{right: 8000, functions: 20, percent: 80}},
	{"sparkplug", "--always-sparkplug --no-opt --no-maglev", atLeast{right: 8000, functions: 30, percent: 80}},
	{"interpreter", "--no-opt --no-sparkplug", atLeast{right: 8000, functions: 30, percent: 85}},
	{"native-stack", "--no-opt --no-sparkplug --interpreted-frames-native-stack", atLeast{right: 8000, functions: 30, percent: 85}},
	{"sent", "--perf-prof-unwinding-info", atLeast{right: 8000, functions: 20, sent: 200, percent: 80}},
}

// Rows of V8's code, by all of its compilers.
func TestUnwindRows_Node(t *testing.T) {
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
				// With that much memory, V8 maps its builtins twice. Otherwise their addresses
				// are unknown until the dump is complete.
				args := []string{node, "--perf-prof", "--max-old-space-size=4096"}
				for _, arg := range strings.Fields(mode.args) {
					if strings.Contains(options, strings.TrimPrefix(strings.TrimPrefix(arg, "--"), "no-")) { // node 18 has no Maglev
						args = append(args, arg)
					}
				}
				p := program{args: append(args, script, "stop"), mapsTwice: true}
				var w *watch
				for i := 0; w == nil && i < maxStarts; i++ {
					p.dir = t.TempDir()
					w, _ = p.watch(t, usual())
				}
				if w == nil {
					testrec.Skip(t, "V8 did not map its builtins twice in %d starts", maxStarts)
				}
				d := openDump(t, dumpIn(t, p.dir), copiesOf(w.regions), nil)
				judge(d, w, rbp).report(t, mode.want)
			})
		}
	}
}
