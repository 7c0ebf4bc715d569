package main

import (
	"fmt"

	engine "github.com/jitinject/jitinject/inject"
)

// linesText says what was decided about the addresses of a dump's lines: all of it, or
// only where the dump does not show it; "" for nothing.
func linesText(a *engine.LineAddresses, all bool) string {
	if a == nil || a.Tables == 0 {
		return ""
	}
	tables := count(int64(a.Tables), "line table") + " with " + were(a.Rows, "entry", "entries")
	evidence := ""
	if all {
		evidence = fmt.Sprintf("; at starts of instructions are %s as written and %s if moved back by %d bytes; outside of the code are %s and %s",
			startsText(a.AsWritten), startsText(a.MovedBack), a.Skew, number(int64(a.AsWritten.Outside)), number(int64(a.MovedBack.Outside)))
	}
	switch {
	case a.Decision == "undecided":
		return fmt.Sprintf("nothing shows whether the addresses of its source lines are right (%s): they are used as written%s", tables, evidence)
	case a.Basis == "producer":
		return fmt.Sprintf("its source lines are moved back by %d bytes because V8 wrote them; nothing else shows that (%s)%s", a.Skew, tables, evidence)
	case all && a.Decision == "moved-back":
		return fmt.Sprintf("source lines moved back by %d bytes: %s%s", a.Skew, tables, evidence)
	case all && a.Decision == "as-written":
		return fmt.Sprintf("source lines at the addresses that are written: %s%s", tables, evidence)
	case all:
		return fmt.Sprintf("source lines contradict each other: %s%s", tables, evidence)
	}
	return ""
}

// startsText says how many entries are at starts of instructions.
func startsText(f engine.AddressFit) string {
	switch share := 100 * float64(f.AtStarts) / float64(max(f.Known, 1)); f.AtStarts {
	case 0:
		return "none"
	case f.Known:
		return "all " + number(int64(f.Known))
	default: // 100 % would be all
		return fmt.Sprintf("%.1f %% of %s", min(99.9, share), number(int64(f.Known)))
	}
}
