package perfdata_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/testrec"
)

// What perf record's options put into recordings: made here and now, as they are
// and swapped, they go through unchanged, and perf shows the same of both.
func TestRewrite_FreshRecordings(t *testing.T) {
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
				testrec.Skip(t, "perf record does not do that here: %v\n%s", err, out)
			}
			little, err := os.ReadFile(filepath.Join(dir, "perf.data"))
			if err != nil {
				t.Fatal(err)
			}
			big, err := testrec.Swap(little)
			if err != nil {
				t.Fatal(err)
			}
			var shown [2][]string
			for i, content := range [][]byte{little, big} {
				out := rewrite(t, open(t, content))
				if !bytes.Equal(out, content) {
					t.Error("written again, it differs")
				}
				if err := os.WriteFile(filepath.Join(dir, "out.data"), out, 0o600); err != nil {
					t.Fatal(err)
				}
				text := testrec.Run(t, dir, perf, "script", "--no-inline", "-F", "-sym,-symoff", "-D", "-i", "out.data") // names may change: other programs end meanwhile
				shown[i] = strings.Split(testrec.Shown(text), "\n")
			}
			if len(shown[0]) < 50 || len(shown[0]) != len(shown[1]) {
				t.Errorf("perf script -D shows %d lines, swapped %d", len(shown[0]), len(shown[1]))
			}
			for i := range min(len(shown[0]), len(shown[1])) {
				if shown[0][i] != shown[1][i] {
					t.Errorf("perf script -D\nas recorded: %s\nswapped:     %s", shown[0][i], shown[1][i])
					break
				}
			}
		})
	}
}
