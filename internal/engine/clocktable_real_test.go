package engine_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/testrec"
)

// TestClockTable_RealRecordings has the toy JIT write times of every clock and of several units, with each
// flag, and perf record with every clock. All samples in its functions have their names.
func TestClockTable_RealRecordings(t *testing.T) {
	testrec.CanRecord(t)
	perf := testrec.Tool(t, "perf")
	program := filepath.Join(t.TempDir(), "jit")
	testrec.Run(t, t.TempDir(), testrec.Tool(t, "gcc", "cc"), "-O1", "-o", program, testrec.Path("jit.c"))
	var runs []string
	for _, flags := range []int{0, 1} {
		for _, id := range []int{0, 1, 4, 7, 11} {
			runs = append(runs, fmt.Sprintf("JIT_CLOCK=%d JIT_FLAGS=%d %s . 1 &", id, flags, program))
		}
		for _, unit := range []int{0, 100, 1000, 1000000} {
			runs = append(runs, fmt.Sprintf("JIT_UNIT=%d JIT_FLAGS=%d %s . 1 &", unit, flags, program))
		}
	}
	for _, k := range []string{"", "mono", "raw", "boottime", "tai", "real"} {
		t.Run("k"+k, func(t *testing.T) {
			dir := t.TempDir()
			args := []string{"record", "-q", "-e", "cpu-clock", "-F", "999", "-o", "perf.data"}
			if k != "" {
				args = append(args, "-k", k)
			}
			testrec.Run(t, dir, perf, append(args, "sh", "-c", strings.Join(runs, " ")+" wait")...)
			sum, err := engine.Run(t.Context(), config.Options{Input: filepath.Join(dir, "perf.data"), Output: filepath.Join(dir, "out.data")})
			if err != nil || len(sum.Dumps) != len(runs) {
				t.Fatalf("got %s, %v; want %d dumps", asJSON(sum), err, len(runs))
			}
			for _, d := range sum.Dumps {
				if d.Samples.InJIT == 0 || d.Samples.Resolved < d.Samples.InJIT {
					t.Errorf("got %d of %d samples in functions, with clock %+v; want all", d.Samples.Resolved, d.Samples.InJIT, d.Clock)
				}
			}
			shown := int64(0)
			for _, s := range shownByPerf(t, dir, perf, "out.data") {
				shown += s.Resolved
			}
			if shown != sum.Samples.Resolved {
				t.Errorf("got %d samples in functions; want %d, as perf shows", sum.Samples.Resolved, shown)
			}
		})
	}
}
