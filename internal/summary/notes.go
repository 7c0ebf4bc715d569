package summary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// dumpNotes says what is special about a dump.
func dumpNotes(d *report.DumpSummary, opts Options) (notes []string) {
	notes = append(notes, timesText(d), sourcesText(d, opts.Sources), d.Frames, stackText(d.Stacks))
	notes = append(notes, codeTexts(d, opts.All)...)
	notes = append(notes, d.Note, missingText(d, opts.All), callersText(d), linesText(d.LineAddresses, opts.All))
	if opts.All && d.Repeated > 0 {
		notes = append(notes, words.Plural(d.Repeated, "function was", "functions were")+" loaded again, with the same code at the same place: no objects or mappings of their own")
	}
	if u := d.Unwind; opts.All && u.Sent+u.Derived+u.Unplaced > 0 {
		notes = append(notes, fmt.Sprintf("unwind tables: %s sent (%s of them fixed), %s derived from code, %s without a place", words.Number(int64(u.Sent)), words.Number(int64(u.Fixed)), words.Number(int64(u.Derived)), words.Number(int64(u.Unplaced))))
	}
	for _, l := range d.Logs {
		if opts.All || l.Paired < l.Optimized {
			notes = append(notes, fmt.Sprintf("%s: %s of its %s optimized functions are in the dump; their lines and inlined calls come from it", quote.Printable(l.Path), words.Number(int64(l.Paired)), words.Number(int64(l.Optimized))))
		}
	}
	notes = append(notes, fixTexts(d, opts.All)...)
	return slices.DeleteFunc(notes, func(text string) bool { return text == "" })
}

// exactLog is how well the start of a log must be known that nothing is said of it, in nanoseconds.
const exactLog = 1e6

// timesText says how a dump's times were matched. Maps never have times.
func timesText(d *report.DumpSummary) string {
	if d.Functions == 0 || d.Kind == formats.PerfMap {
		return ""
	}
	if d.Kind == formats.V8Log && d.Clock.Kind == report.ClockEstimated {
		switch {
		case d.Clock.Error < exactLog:
			return ""
		case d.Clock.Offset == 0:
			return "its times count from the start of V8, which was before the recording"
		}
		return fmt.Sprintf("its times count from the start of V8, which is known to %.1f ms", float64(d.Clock.Error)/1e6)
	}
	return clockText(d.Clock)
}

// sourcesText says where the source files in a dump are. dir is that for them, or "".
func sourcesText(d *report.DumpSummary, dir string) string {
	switch {
	case d.Sources == 0:
		return ""
	case dir == "":
		return fmt.Sprintf("it brings along %s; --sources DIR puts the text where perf annotate finds it (and the objects are made again)", words.Count(int64(d.Sources), "source file"))
	}
	return fmt.Sprintf("%s put into %s", words.Plural(d.Sources, "source file was", "source files were"), quote.Printable(dir))
}

// codeTexts say how many functions have no code, if some have: else writeAdvice says it of all.
func codeTexts(d *report.DumpSummary, all bool) []string {
	made := d.Functions - d.Empty - d.InImages - d.Unreferenced
	lacks := words.Number(int64(d.WithoutCode))
	late := words.Plural(d.Late, "function was", "functions were") + " loaded after the core dump was made"
	switch {
	case d.WithoutCode == 0:
		return nil
	case d.CodeFiles == 0 && d.Kind == formats.J9 && d.WithoutCode <= made/2:
		return []string{fmt.Sprintf("its captures have no code of %s of its functions, so perf annotate shows none", lacks)}
	case d.CodeFiles == 0 || d.WithoutCode <= made/2 && !all:
		return nil
	}
	texts := []string{fmt.Sprintf("the code of %s of its functions is in no file of --code-from", lacks)}
	if d.Late > 0 {
		texts = append(texts, late)
	}
	if d.WithoutCode <= made/2 {
		return texts
	}
	why := "; the memory of others was reused before that, or its function is unknown"
	if d.Late > d.WithoutCode/2 { // or else a later one has no more
		why = ": make the core dump later"
	}
	return []string{strings.Join(texts, "; ") + why}
}

// missingText says which samples are in no function, or that the dump ends too early, unless that is one of
// the problems.
func missingText(d *report.DumpSummary, all bool) string {
	s := samplesOf(d)
	switch unresolved := s.InJIT - s.Resolved; {
	case d.Cut >= 0 && unresolved > s.InJIT/100:
		return ""
	case d.CutName != "":
		return "the dump" + strings.TrimPrefix(d.CutText(), "it")
	case d.Cut >= 0:
		return fmt.Sprintf("the dump%s: %s; later functions are missing", strings.TrimPrefix(d.CutText(), "it"), d.CutCause())
	case d.Nowhere > 0 && unresolved > 0, s.Resolved == 0 && (unresolved >= fewSamples || d.Kind == formats.GDBJIT):
		return ""
	}
	return unresolvedText(d, all)
}

// fixTexts say what was repaired: without all, how often.
func fixTexts(d *report.DumpSummary, all bool) (texts []string) {
	faults := int64(0)
	for _, r := range d.Fixes {
		faults += r.Count
		texts = append(texts, fmt.Sprintf("repaired %s: %s (%s)", words.Number(r.Count), r.Text, r.Name))
	}
	switch {
	case all:
		return texts
	case faults == 0:
		return nil
	}
	return []string{fmt.Sprintf("repaired %s of %s (-v explains)", words.Count(faults, "fault"), ownerText(d))}
}

// ownerText names a dump by its process: node's dump.
func ownerText(d *report.DumpSummary) string {
	if d.Command == "" {
		return "the dump"
	}
	return quote.Printable(d.Command) + "'s dump"
}
