package summary

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// linesText describes the decision about the addresses of a dump's lines. Without all, it
// is "" unless the decision is a guess.
func linesText(a *report.LineAddresses, all bool) string {
	if a == nil || a.Tables == 0 {
		return ""
	}
	tables := words.Count(int64(a.Tables), "line table") + " with " + words.Plural(a.Rows, "entry", "entries")
	evidence := ""
	if all {
		evidence = fmt.Sprintf("; at starts of instructions: %s as written, %s if moved back by %d bytes; outside the code: %s and %s",
			startsText(a.AsWritten), startsText(a.MovedBack), a.Skew, words.Number(int64(a.AsWritten.Outside)), words.Number(int64(a.MovedBack.Outside)))
	}
	switch {
	case a.Decision == "undecided":
		return fmt.Sprintf("unknown whether its source lines are at the right addresses (%s); used as written%s", tables, evidence)
	case a.Basis == "producer":
		return fmt.Sprintf("its source lines were moved back by %d bytes, because V8 wrote them; there is no other evidence (%s)%s", a.Skew, tables, evidence)
	case all && a.Decision == "moved-back":
		return fmt.Sprintf("source lines moved back by %d bytes: %s%s", a.Skew, tables, evidence)
	case all && a.Decision == "as-written":
		return fmt.Sprintf("source lines used as written: %s%s", tables, evidence)
	case all:
		return fmt.Sprintf("source lines contradict each other: %s%s", tables, evidence)
	}
	return ""
}

// startsText returns how many entries are at starts of instructions.
func startsText(f report.AddressFit) string {
	switch share := 100 * float64(f.AtStarts) / float64(max(f.Known, 1)); f.AtStarts {
	case 0:
		return "none"
	case f.Known:
		return "all " + words.Number(int64(f.Known))
	default: // never 100 %: not all are
		return fmt.Sprintf("%.1f %% of %s", min(99.9, share), words.Number(int64(f.Known)))
	}
}
