package testrec_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// What is built by hand must be what perf takes for a recording.
func TestBuiltRecording_ReadByPerf(t *testing.T) {
	dir := t.TempDir()
	rec := testrec.NewRecording()
	rec.Comm(100, 1_000_000_000, "prog", true)
	rec.Mmap2(100, 2_000_000_000, 0x400000, 0x1000, 0, "/no/such/file")
	rec.Sample(100, 3_000_000_000, 0x400123)
	rec.Round()
	rec.Write(t, filepath.Join(dir, "perf.data"))
	for version, perf := range testrec.Perfs(t) {
		out, errs := testrec.RunBoth(t, dir, perf, "script", "-i", "perf.data", "-F", "comm,tid,time,ip,dso", "--show-mmap-events")
		for _, want := range []string{"prog", "3.000000", "400123", "/no/such/file"} {
			if !strings.Contains(out, want) {
				t.Errorf("perf %s does not show %q:\n%s%s", version, want, out, errs)
			}
		}
	}
}

// A recording whose dumps were moved works with perf inject.
func TestRelocate_PerfInjectWorks(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	dir := testrec.Place(t, "php")
	testrec.Run(t, dir, perf, "--buildid-dir", "/dev/null", "inject", "--jit", "-i", "perf.data", "-o", "out.data")
	if made, _ := filepath.Glob(filepath.Join(dir, "jitted-*.so")); len(made) != 44 {
		t.Errorf("perf inject made %d objects, want 44", len(made))
	}
	in := testrec.Run(t, dir, perf, "report", "-i", "perf.data", "--header-only")
	if !strings.Contains(in, "os release") {
		t.Errorf("features are lost:\n%s", in)
	}
}

// A command that a closed pipe kills runs again, and is not killed.
func TestRun_GoesOnWithoutAReader(t *testing.T) {
	// Like perf, it writes to a process that has ended.
	const script = `exec 3> >(exit); sleep 0.1; echo question >&3 2>/dev/null; echo went on`
	if got := testrec.Run(t, t.TempDir(), "bash", "-c", script); got != "went on\n" {
		t.Errorf("got %q", got)
	}
}
