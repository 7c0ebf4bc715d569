package showperf_test

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/show"
	"github.com/jitinject/jitinject/internal/show/showtest"
	"github.com/jitinject/jitinject/internal/testrec"
)

// perf calls some types otherwise than its headers do.
var perfCalls = map[string]string{
	"ATTR": "HEADER_ATTR", "FEATURE": "HEADER_FEATURE", "BUILD_ID": "HEADER_BUILD_ID",
}

// There are as many records of each type as perf report -D says, in each form of
// recording, and samples are of the same threads at the same times.
func TestPerfReportD(t *testing.T) {
	perf := testrec.Tool(t, "perf")
	head := regexp.MustCompile(`\]: PERF_RECORD_([A-Z0-9_]+)`)
	sample := regexp.MustCompile(`\]: PERF_RECORD_SAMPLE\([^)]*\): (\d+)/(\d+): (0x[0-9a-f]+) period`)
	for _, name := range showtest.Recordings(t) {
		if slices.Contains(showtest.Often, name) && os.Getenv("JITINJECT_ALL") == "" {
			continue // perf takes its time
		}
		dir := testrec.Unpack(t, name)
		for _, path := range showtest.Files(t, dir) {
			if strings.HasSuffix(path, ".dump") {
				continue
			}
			text, _ := testrec.Command(t, dir, perf, "report", "-D", "-f", "--no-inline", "-i", path).Output()
			want, got := make(map[string]int), make(map[string]int)
			for _, m := range head.FindAllStringSubmatch(string(text), -1) {
				typ := m[1]
				if name, ok := perfCalls[typ]; ok {
					typ = name
				}
				want[typ]++
			}
			// What was compressed perf prints as well.
			delete(want, "COMPRESSED")
			var samples []string
			for _, m := range sample.FindAllStringSubmatch(string(text), -1) {
				samples = append(samples, m[1]+" "+m[2]+" "+m[3])
			}
			var ours []string
			for line := range strings.Lines(showtest.Shown(t, path, show.Options{JSON: true})) {
				var it struct {
					Type     string
					Size     int
					PID, TID json.Number
					IP       string
				}
				if err := json.Unmarshal([]byte(line), &it); err != nil {
					t.Fatal(err)
				}
				if strings.ToUpper(it.Type) == it.Type {
					got[it.Type]++
				}
				if it.Type == "SAMPLE" {
					ours = append(ours, it.PID.String()+" "+it.TID.String()+" "+it.IP)
				}
			}
			if !maps.Equal(got, want) || got["MMAP2"] == 0 {
				t.Errorf("%s: records %v, perf report -D has %v", filepath.Join(name, filepath.Base(path)), got, want)
			}
			counts := make(map[string]int)
			for _, s := range samples {
				counts[s]++
			}
			for _, s := range ours {
				counts[s]--
			}
			maps.DeleteFunc(counts, func(_ string, n int) bool { return n == 0 })
			if len(counts) > 0 || len(samples) == 0 {
				t.Errorf("%s: of %d samples, %d differ from perf's %d: %.300v", name, len(ours), len(counts), len(samples), counts)
			}
		}
	}
}
