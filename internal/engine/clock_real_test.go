package engine_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/engine"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/testrec"
)

// Two perf records watched one process, without and with -k mono: perf.data and
// mono.data. So the offset that is estimated for the one is known, by the times
// that both give to the mapping of the dump.

func TestClock_RecordedWithoutMono(t *testing.T) {
	checkEstimate(t, testrec.Place(t, "node-noclock"))
}

func TestClock_FreshWithoutMono(t *testing.T) {
	testrec.Fresh(t)
	node := testrec.Tool(t, "node", "nodejs")
	prog, err := os.ReadFile(filepath.Join(testrec.Unpack(t, "node-noclock"), "prog.js"))
	if err != nil {
		t.Fatal(err)
	}
	perf := testrec.Tool(t, "perf")
	for _, clock := range []string{"", "realtime"} {
		t.Run(clock, func(t *testing.T) {
			dir := t.TempDir()
			program(t, dir, "prog.js", string(prog))
			args := []string{"record", "-q", "-e", "cpu-clock", "-F", "999", "-k", "mono", "-g", "-o", "mono.data",
				perf, "record", "-q", "-e", "cpu-clock", "-F", "999", "-g", "-o", "perf.data"}
			if clock != "" {
				args = append(args, "-k", clock)
			}
			testrec.Run(t, dir, perf, append(args, node, "--perf-prof", "prog.js")...)
			checkEstimate(t, dir)
		})
	}
}

// checkEstimate injects both recordings of a directory. The estimate must be
// right, lose nothing, and make no difference to the truth.
func checkEstimate(t *testing.T, dir string) {
	t.Helper()
	sum := injectFile(t, dir, "perf.data", "estimated.data", "")
	c := sum.Dumps[0].Clock
	truth := markerTime(t, filepath.Join(dir, "perf.data")) - markerTime(t, filepath.Join(dir, "mono.data"))
	t.Logf("the offset is %d ns; %d is estimated, too small by up to %d (%s)", truth, c.Offset, c.Error, c.Kind)
	const between = 100_000 // the kernel reads one clock after the other
	if c.Offset > truth+between || truth > c.Offset+c.Error+between || c.Error < 0 {
		t.Errorf("the offset is %d ns; the clock is %+v", truth, c)
	}
	injectFile(t, dir, "perf.data", "true.data", fmt.Sprint(truth))
	injectFile(t, dir, "mono.data", "mono.out.data", "")
	for version, perf := range testrec.Perfs(t) {
		script := func(file string) string {
			return testrec.Run(t, dir, perf, "script", "-G", "-F", "tid,time,ip,sym,symoff,dso", "-i", file)
		}
		estimated := script("estimated.data")
		if estimated != script("true.data") {
			t.Errorf("perf %s: samples differ from those with the true offset", version)
		}
		without, with := jitShare(t, estimated), jitShare(t, script("mono.out.data"))
		if without < with-0.02 || with < 0.98 {
			t.Errorf("perf %s resolves %.3f of the samples in jitted code without -k mono, %.3f with", version, without, with)
		}
	}
}

// injectFile injects one of several recordings of a directory.
func injectFile(t *testing.T, dir, in, out, clock string) *report.Summary {
	t.Helper()
	sum, err := engine.Run(context.Background(), config.Options{
		Input: filepath.Join(dir, in), Output: filepath.Join(dir, out), Objects: filepath.Join(dir, "objects"), Clock: clock,
	})
	if err != nil || !sum.Complete() || len(sum.Dumps) != 1 {
		t.Fatalf("%s: got %s, %v; want no error, nothing missing, 1 dump", in, asJSON(sum), err)
	}
	return sum
}

// markerTime returns the time at which the one dump of a recording was mapped.
func markerTime(t *testing.T, path string) int64 {
	t.Helper()
	for _, m := range readMappings(t, path).all {
		if strings.HasSuffix(string(m.Filename), ".dump") {
			return int64(m.time)
		}
	}
	t.Fatalf("%s: no dump was mapped", path)
	return 0
}

// jitShare returns which part of the samples in jitted code that perf script shows has names: in
// objects of ours, or in memory that belongs to no file.
func jitShare(t *testing.T, script string) float64 {
	t.Helper()
	named, all := 0, 0
	for line := range strings.Lines(script) {
		switch {
		case strings.Contains(line, "/jitted-") && !strings.Contains(line, "[unknown]"):
			named++
			all++
		case strings.Contains(line, "/jitted-"), strings.Contains(line, "//anon"), strings.Contains(line, "([unknown])"):
			all++
		}
	}
	if all < 50 {
		t.Fatalf("got %d samples in jitted code; want 50 or more:\n%s", all, script)
	}
	return float64(named) / float64(all)
}
