package gdbjit

import (
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
)

// reportLost adds a finding about functions that are not used.
func (d *Objects) reportLost(path string, found *report.Findings) {
	var reasons string
	for _, r := range []struct {
		n    int
		text string
	}{
		{d.Lost.NotExecutable, "were not in executable memory"}, {d.Lost.Overlapping, "overlap others, and their order is unknown"},
		{d.Lost.InFiles, "are where the recording has a file"},
	} {
		if r.n > 0 {
			reasons += fmt.Sprintf(", %d %s", r.n, r.text)
		}
	}
	text := fmt.Sprintf("of the functions that it has registered for debuggers, %d are left out: %s", d.Lost.Total(), reasons[2:])
	if len(d.functions) == 0 {
		found.Problem(report.Problem{Code: report.ProblemUnused, File: path, Offset: -1, Text: text, Advice: adviceVerify(path)})
		return
	}
	found.Note(quote.Printable(path) + ": " + text)
}

// adviceVerify advises how to find the cause of faults. verify reads core dumps and no running process.
func adviceVerify(path string) string {
	if strings.HasPrefix(path, "/proc/") {
		return "for the likely cause: make a core dump (gcore PID), and jitinject verify core.PID"
	}
	return report.AdviceVerify(path)
}

// adviceCycle is adviceVerify for a list that leads back to itself. gdb follows such a list for ever, and
// its gcore with it.
func adviceCycle(path string) string {
	if strings.HasPrefix(path, "/proc/") {
		return "for the likely cause: make a core dump without gdb, which follows such a list for ever (kill -ABRT PID ends the process and makes one: coredumpctl dump PID), and jitinject verify it"
	}
	return adviceVerify(path)
}
