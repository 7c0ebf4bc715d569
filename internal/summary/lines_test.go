package summary

import (
	"testing"

	"github.com/jitinject/jitinject/internal/report"
)

// linesText describes each decision with -v, and only guesses without.
func TestLinesText_ForEachDecision(t *testing.T) {
	evidence := report.LineAddresses{
		Skew: 64, Tables: 1, Rows: 1, AsWritten: report.AddressFit{Known: 1000, AtStarts: 250, Outside: 3}, MovedBack: report.AddressFit{Tables: 1, Known: 100000, AtStarts: 99999},
	}
	const fit = "; at starts of instructions: 25.0 % of 1,000 as written, 99.9 % of 100,000 if moved back by 64 bytes; outside the code: 3 and 0"
	for _, c := range []struct{ decision, basis, short, long string }{
		{"moved-back", "instructions", "", "source lines moved back by 64 bytes: 1 line table with 1 entry" + fit},
		{"as-written", "extent", "", "source lines used as written: 1 line table with 1 entry" + fit},
		{"contradictory", "instructions", "", "source lines contradict each other: 1 line table with 1 entry" + fit},
		{"undecided", "none", "unknown whether its source lines are at the right addresses (1 line table with 1 entry); used as written", "unknown whether its source lines are at the right addresses (1 line table with 1 entry); used as written" + fit},
		{"moved-back", "producer", "its source lines were moved back by 64 bytes, because V8 wrote them; there is no other evidence (1 line table with 1 entry)", "its source lines were moved back by 64 bytes, because V8 wrote them; there is no other evidence (1 line table with 1 entry)" + fit},
	} {
		a := evidence
		a.Decision, a.Basis = c.decision, c.basis
		if got := linesText(&a, false); got != c.short {
			t.Errorf("%s by %s: %q, want %q", c.decision, c.basis, got, c.short)
		}
		if got := linesText(&a, true); got != c.long {
			t.Errorf("%s by %s with -v: %q, want %q", c.decision, c.basis, got, c.long)
		}
	}
	if got := linesText(nil, true) + linesText(&report.LineAddresses{Decision: "undecided"}, true); got != "" {
		t.Errorf("without tables: %q", got)
	}
}
