package inject_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/testrec"
)

// What perf record's options put into recordings: made here and now, as they are
// and swapped, they go through unchanged, since nothing is to be injected.
func TestFreshRecordings(t *testing.T) {
	testrec.CanRecord(t)
	perf := testrec.Tool(t, "perf")
	for _, options := range []string{
		"-e cpu-clock,task-clock -a -g",
		"-e {cpu-clock,page-faults}:S -s",
		"-e cpu-clock -d -W --phys-data --data-page-size --code-page-size --sample-cpu",
		"-e cpu-clock --switch-events --namespaces --all-cgroups",
		"-e page-faults -c 1 --sample-identifier --user-regs=ip,sp -T -P -R",
		"-e sched:sched_switch -a",
		"-e cpu-clock,dummy --buildid-mmap",
		"-e cpu-clock -N -B --timestamp-boundary --call-graph dwarf,4096",
	} {
		t.Run(options, func(t *testing.T) {
			dir := t.TempDir()
			args := append([]string{"record", "-q", "-k", "mono", "-o", "perf.data"}, strings.Fields(options)...)
			args = append(args, "--", "sh", "-c", "for i in 1 2 3 4 5 6; do ls / >/dev/null; done")
			if out, err := testrec.Command(t, dir, perf, args...).CombinedOutput(); err != nil {
				t.Skipf("SKIPPED: perf record does not do that here: %v\n%s", err, out)
			}
			little := read(t, filepath.Join(dir, "perf.data"))
			var shown [2]string
			for i, content := range [][]byte{little, swap(t, little)} {
				in, out := filepath.Join(dir, "perf.data"), filepath.Join(dir, "out.data")
				put(t, in, content)
				os.Remove(out)
				sum, err := inject.Run(context.Background(), inject.Options{Input: in, Output: out})
				if err != nil || !sum.Complete() {
					t.Fatalf("%+v, %v", sum, err)
				}
				if !bytes.Equal(read(t, out), content) {
					t.Error("it changed on the way")
				}
				shown[i] = testrec.Shown(testrec.Run(t, dir, perf, "script", "--no-inline", "-D", "-i", "out.data"))
			}
			if a, b := firstDifference(shown[0], shown[1]); a != b || len(shown[0]) < 1000 {
				t.Errorf("perf script -D\nas recorded: %s\nswapped:     %s", a, b)
			}
		})
	}
}
