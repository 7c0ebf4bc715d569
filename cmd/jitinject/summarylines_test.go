package main

import (
	"testing"

	engine "github.com/jitinject/jitinject/inject"
)

// What is said about the addresses of lines: all of it with -v, and otherwise only that
// nothing shows whether they are right.
func TestLinesText_ForEachDecision(t *testing.T) {
	evidence := engine.LineAddresses{
		Skew: 64, Tables: 1, Rows: 1, AsWritten: engine.AddressFit{Known: 1000, AtStarts: 250, Outside: 3}, MovedBack: engine.AddressFit{Tables: 1, Known: 100000, AtStarts: 99999},
	}
	const fit = "; at starts of instructions are 25.0 % of 1,000 as written and 99.9 % of 100,000 if moved back by 64 bytes; outside of the code are 3 and 0"
	for _, c := range []struct{ decision, basis, short, long string }{
		{"moved-back", "instructions", "", "source lines moved back by 64 bytes: 1 line table with 1 entry" + fit},
		{"as-written", "extent", "", "source lines at the addresses that are written: 1 line table with 1 entry" + fit},
		{"contradictory", "instructions", "", "source lines contradict each other: 1 line table with 1 entry" + fit},
		{"undecided", "none", "nothing shows whether the addresses of its source lines are right (1 line table with 1 entry): they are used as written", "nothing shows whether the addresses of its source lines are right (1 line table with 1 entry): they are used as written" + fit},
		{"moved-back", "producer", "its source lines are moved back by 64 bytes because V8 wrote them; nothing else shows that (1 line table with 1 entry)", "its source lines are moved back by 64 bytes because V8 wrote them; nothing else shows that (1 line table with 1 entry)" + fit},
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
	if got := linesText(nil, true) + linesText(&engine.LineAddresses{Decision: "undecided"}, true); got != "" {
		t.Errorf("without tables: %q", got)
	}
}
