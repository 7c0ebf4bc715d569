package summary

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// dumps makes a summary of so many.
func dumps(n int) *report.Summary {
	s := &report.Summary{Input: "perf.data", Output: "out.data", Markers: n, Samples: new(report.SampleSummary), Elapsed: 61e9}
	for i := range n {
		s.Dumps = append(s.Dumps, report.DumpSummary{
			PID: uint32(1000 + i), Command: "node\x1b[2J", Path: fmt.Sprintf("/tmp/jit-%d.dump", 1000+i), Objects: fmt.Sprintf("/o/%d", i), Functions: 10 * i, Cut: -1,
			Samples: &report.JitSamples{InJIT: int64(100 * i), Resolved: int64(99 * i)},
		})
	}
	return s
}

// Many dumps are summed up behind the largest; the columns are straight, and what is in
// names does no harm.
func TestSummary_ManyDumps(t *testing.T) {
	for n, rows := range map[int]int{1: 1, 2: 3, 20: 21, 21: 17, 3000: 17} {
		for _, all := range []bool{false, true} {
			if all && n > 20 {
				rows = n + 1
			}
			var out bytes.Buffer
			Write(&out, dumps(n), Options{All: all})
			text := out.String()
			table, rest, ok := strings.Cut(text, "out.data: ")
			lines := strings.Split(strings.TrimSuffix(table, "\n"), "\n")
			lines = slices.DeleteFunc(lines, func(line string) bool { return strings.HasPrefix(line, "    unresolved: ") })
			if !ok || len(lines) != rows+1 || strings.Contains(text, "\x1b") || strings.Count(rest, "\n") != 2 || !strings.HasSuffix(rest, " in 1m1s\n") {
				t.Fatalf("%d, all %v: %d lines\n%s", n, all, len(lines), text)
			}
			column := strings.Index(lines[0], "  dump")
			for _, line := range lines[1:] {
				if len(line) != column && !strings.HasPrefix(line[column:], "  /tmp/jit-") && !strings.HasPrefix(line[column:], "  (all of them") {
					t.Errorf("%d: not straight:\n%s\n%s", n, lines[0], line)
				}
			}
			sum := n * (n - 1) / 2
			if last := lines[len(lines)-1]; n > 1 && (!strings.HasPrefix(last, "all ") || !strings.Contains(last, " "+words.Number(int64(10*sum))+" ") || !strings.Contains(last, " "+words.Number(int64(100*sum))+" ") || !strings.Contains(last, "99.0 %")) {
				t.Errorf("%d dumps: got %s; want a line of all with %d functions, %d samples, 99.0 %%", n, last, 10*sum, 100*sum)
			}
			if n > 20 && !all && (!strings.HasPrefix(lines[1], fmt.Sprint(999+n)) || !strings.HasPrefix(lines[16], fmt.Sprintf("%d more", n-15))) {
				t.Errorf("%d dumps: want the first line to be of process %d, the 16th of %d more; got\n%s", n, 999+n, n-15, text)
			}
		}
	}
}

func TestShare_Rounding(t *testing.T) {
	for want, s := range map[string]report.JitSamples{
		"": {}, "100 %": {InJIT: 3, Resolved: 3}, "0 %": {InJIT: 3}, "99.9 %": {InJIT: 1e9, Resolved: 1e9 - 1}, "0.1 %": {InJIT: 1e9, Resolved: 1}, "66.7 %": {InJIT: 3, Resolved: 2},
	} {
		if got := share(s); got != want {
			t.Errorf("for %+v: got %q, want %q", s, got, want)
		}
	}
}

// Every column is explained.
func TestColumns_InHelp(t *testing.T) {
	const page = "../../cmd/jitinject/help/summary.md"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range columns {
		if !bytes.Contains(text, []byte("**"+c.title+"**")) {
			t.Errorf("%s: got nothing of the column %s; want it explained", page, c.title)
		}
	}
}
