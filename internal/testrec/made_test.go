package testrec_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// A made-up recording is one that perf injects all functions of, and finds all
// samples in.
func TestMadeRecording_PerfInjects(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	for name, m := range map[string]testrec.Made{
		"real sizes": {Functions: 300},
		"large":      {Functions: 40, CodeSize: 3 << 20}, // several chunks of memory
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := m.Write(dir); err != nil {
				t.Fatal(err)
			}
			testrec.Run(t, dir, perf, "--buildid-dir", "/dev/null", "inject", "--jit", "-i", "perf.data", "-o", "out.data")
			if made, _ := filepath.Glob(filepath.Join(dir, "jitted-*.so")); len(made) != m.Functions {
				t.Errorf("perf inject made %d objects, want %d", len(made), m.Functions)
			}
			symbols := strings.Fields(testrec.Run(t, dir, perf, "script", "-i", "out.data", "-F", "ip,sym"))
			if len(symbols) < m.Functions/10 {
				t.Errorf("%d words of symbols, want more", len(symbols))
			}
			for _, s := range symbols {
				if s == "[unknown]" {
					t.Fatalf("a sample is in no function:\n%s", symbols)
				}
			}
		})
	}
}
