package main

import (
	"fmt"
	"strings"

	engine "github.com/jitinject/jitinject/inject"
)

// unresolvedText says where the unresolved samples of a dump are. Without all, it is "" if they are
// at most 1 % of the samples in jitted code.
func unresolvedText(d *engine.DumpSummary, all bool) string {
	s := samplesOf(d)
	unresolved := s.InJIT - s.Resolved
	switch {
	case unresolved == 0 || unresolved <= s.InJIT/100 && !all:
		return ""
	case d.Kind == engine.KindGDBJIT:
		return fmt.Sprintf("%s of its samples are in code that the process had removed, or did not register, when its memory was read", number(unresolved))
	}
	file := "dump"
	if d.Kind == engine.KindPerfMap {
		file = "map"
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		text string
	}{
		{s.Early, "in code that the " + file + " describes only later"},
		{s.Left, "where a function was that has moved away"},
		{unresolved - s.Early - s.Left, "in code that the " + file + " does not describe"},
	} {
		switch {
		case p.n == unresolved:
			return fmt.Sprintf("unresolved: %s %s", count(p.n, "sample"), p.text)
		case p.n > 0:
			parts = append(parts, number(p.n)+" "+p.text)
		}
	}
	return fmt.Sprintf("unresolved: %s, %s", count(unresolved, "sample"), strings.Join(parts, ", "))
}

// callersText says what is known of the callers of samples if none is in a function of a dump itself,
// or else is "". Functions that are missing may be in samples, and in stacks.
func callersText(d *engine.DumpSummary) string {
	c := d.Callers
	isWhole := d.Cut < 0 && samplesOf(d).InJIT == samplesOf(d).Resolved
	switch {
	case d.Samples == nil || d.Samples.Resolved > 0 || d.Functions == 0:
		return ""
	case c != nil && c.With > 0 && !isWhole:
		return fmt.Sprintf("its functions are callers in %s of %s", number(c.With), count(c.Stacks, "stack"))
	case c != nil && c.Stacks > 0 && !isWhole:
		return ""
	case c != nil && c.With > 0:
		return fmt.Sprintf("its functions are only callers: they are in %s of %s, and in no sample themselves", number(c.With), count(c.Stacks, "stack"))
	case c != nil && c.Stacks > 0:
		return fmt.Sprintf("none of its functions is in a sample, or in one of its %s", count(c.Stacks, "stack")) + idleAdvice(d)
	case c != nil && c.Copies > 0:
		return fmt.Sprintf("no sample is in its functions themselves; their addresses are in %s of %s of the stack, where perf finds callers", number(c.Words), were(int(c.Copies), "copy", "copies"))
	}
	return "no sample is in its functions themselves; callers were not counted"
}

// idleAdvice says how functions come into samples that are in none, if that is known of the runtime,
// or else is "".
func idleAdvice(d *engine.DumpSummary) string {
	switch {
	case strings.HasPrefix(d.Command, "python") && d.Callers.Copies == 0:
		return "; record with --call-graph dwarf, as a Python without frame pointers hides them from -g"
	case strings.HasPrefix(d.Command, "php"):
		return "; PHP compiles files younger than two seconds only with -d opcache.file_update_protection=0"
	}
	return ""
}

// linesText describes the decision about the addresses of a dump's lines. Without all, it
// is "" unless the decision is a guess.
func linesText(a *engine.LineAddresses, all bool) string {
	if a == nil || a.Tables == 0 {
		return ""
	}
	tables := count(int64(a.Tables), "line table") + " with " + were(a.Rows, "entry", "entries")
	evidence := ""
	if all {
		evidence = fmt.Sprintf("; at starts of instructions: %s as written, %s if moved back by %d bytes; outside the code: %s and %s",
			startsText(a.AsWritten), startsText(a.MovedBack), a.Skew, number(int64(a.AsWritten.Outside)), number(int64(a.MovedBack.Outside)))
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
func startsText(f engine.AddressFit) string {
	switch share := 100 * float64(f.AtStarts) / float64(max(f.Known, 1)); f.AtStarts {
	case 0:
		return "none"
	case f.Known:
		return "all " + number(int64(f.Known))
	default: // never 100 %: not all are
		return fmt.Sprintf("%.1f %% of %s", min(99.9, share), number(int64(f.Known)))
	}
}
