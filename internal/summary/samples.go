package summary

import (
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// fewSamples is how many in no file are not worth a word: programs begin in memory that
// perf does not know yet.
const fewSamples = 20

// samplesOf returns the counts of a dump, which may be missing.
func samplesOf(d *report.DumpSummary) report.JitSamples {
	if d.Samples == nil {
		return report.JitSamples{}
	}
	return *d.Samples
}

// samplesInJIT counts the samples in jitted code, also of processes without a dump.
func samplesInJIT(s *report.Summary) (n int64) {
	for i := range s.Dumps {
		n += samplesOf(&s.Dumps[i]).InJIT
	}
	if s.Samples != nil {
		n += s.Samples.WithoutDump
	}
	return n
}

// unresolvedText says where the unresolved samples of a dump are. Without all, it is "" if they are
// at most 1 % of the samples in jitted code.
func unresolvedText(d *report.DumpSummary, all bool) string {
	s := samplesOf(d)
	unresolved := s.InJIT - s.Resolved
	switch {
	case unresolved == 0 || unresolved <= s.InJIT/100 && !all:
		return ""
	case d.Kind == formats.GDBJIT:
		return fmt.Sprintf("%s of its samples are in code that the process had removed, or did not register, when its memory was read", words.Number(unresolved))
	}
	file, later := "dump", " describes only later"
	switch d.Kind {
	case formats.PerfMap:
		file = "map"
	case formats.V8Log:
		file, later = "log", " is certain to have only later"
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		text string
	}{
		{s.Early, "in code that the " + file + later},
		{s.Left, "where a function was that is gone"},
		{unresolved - s.Early - s.Left, "in code that the " + file + " does not describe"},
	} {
		switch {
		case p.n == unresolved:
			return fmt.Sprintf("unresolved: %s %s", words.Count(p.n, "sample"), p.text)
		case p.n > 0:
			parts = append(parts, words.Number(p.n)+" "+p.text)
		}
	}
	return fmt.Sprintf("unresolved: %s, %s", words.Count(unresolved, "sample"), strings.Join(parts, ", "))
}

// callersText says what is known of the callers of samples if none is in a function of a dump itself,
// or else is "". Functions that are missing may be in samples, and in stacks.
func callersText(d *report.DumpSummary) string {
	c := d.Callers
	isWhole := d.Cut < 0 && samplesOf(d).InJIT == samplesOf(d).Resolved
	switch {
	case d.Samples == nil || d.Samples.Resolved > 0 || d.Functions == 0, d.Samples.InJIT > 0 && c == nil:
		return ""
	case c != nil && c.With > 0 && !isWhole:
		return fmt.Sprintf("its functions are callers in %s of %s", words.Number(c.With), words.Count(c.Stacks, "stack"))
	case c != nil && c.Stacks > 0 && !isWhole:
		return ""
	case c != nil && c.With > 0:
		return fmt.Sprintf("its functions are only callers: they are in %s of %s, and in no sample themselves", words.Number(c.With), words.Count(c.Stacks, "stack"))
	case c != nil && c.Stacks > 0:
		return fmt.Sprintf("none of its functions is in a sample, or in one of its %s", words.Count(c.Stacks, "stack")) + idleAdvice(d)
	case c != nil && c.Copies > 0:
		return fmt.Sprintf("no sample is in its functions themselves; their addresses are in %s of %s of the stack, where perf finds callers", words.Number(c.Words), words.Plural(int(c.Copies), "copy", "copies"))
	}
	return "no sample is in its functions themselves; callers were not counted"
}

// idleAdvice says how functions come into samples that are in none, if that is known of the runtime,
// or else is "".
func idleAdvice(d *report.DumpSummary) string {
	switch {
	case strings.HasPrefix(d.Command, "python") && d.Callers.Copies == 0:
		return "; record with --call-graph dwarf, as a Python without frame pointers hides them from -g"
	case strings.HasPrefix(d.Command, "php"):
		return "; PHP compiles files younger than two seconds only with -d opcache.file_update_protection=0"
	}
	return ""
}
