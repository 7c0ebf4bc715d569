package summary

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

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

// clockText says how a dump's times were matched, if that was not a matter of course.
func clockText(c report.Clock) string {
	offset := fmt.Sprintf("%+.6f s", float64(c.Offset)/1e9)
	early := "too early"
	if c.Error >= 0 {
		early = fmt.Sprintf("up to %.1f ms too early", float64(c.Error)/1e6)
	}
	switch c.Kind {
	case report.ClockEstimated:
		return "its times are estimated to be " + offset + " off; functions may be there " + early + "; record with -k mono to have them exact"
	case report.ClockOther:
		return "its times are estimated to be " + offset + " off the recording's CLOCK_MONOTONIC; functions may be there too early; a runtime should write CLOCK_MONOTONIC"
	case report.ClockRealtime:
		return "its times are of CLOCK_REALTIME (nanoseconds since 1970), estimated to be " + offset + " off; functions may be there " + early + "; the runtime should write CLOCK_MONOTONIC"
	case report.ClockGiven:
		return offset + " were added to its times, as --clock says"
	case report.ClockStart:
		return "it has no times: its functions are used from the start of the recording"
	case report.ClockNone:
		return "its times cannot be matched; its functions are used from the start of the recording"
	}
	return ""
}

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

// Sizes for --call-graph dwarf, in bytes: one that is enough for most programs, and perf's
// maximum (builtin-record.c: round_down(USHRT_MAX, 8)).
const (
	usualStack = 8192 // perf's default
	largeStack = 32768
	maxStack   = 65528
)

// stackText returns a message that copies of stacks are too small, if more than half of them are full and
// larger ones would help, or that half of their size would do. Otherwise it returns "".
func stackText(s *report.StackSummary) string {
	if s == nil || s.Own || s.Samples < fewSamples {
		return ""
	}
	if enough := max(usualStack, 1<<bits.Len(uint(s.Used-1))); enough <= s.Room/2 {
		return fmt.Sprintf("its copies of stacks have at most %s of %s bytes: --call-graph dwarf,%d makes a smaller recording", words.Number(int64(s.Used)), words.Number(int64(s.Room)), enough)
	}
	if 2*s.Full <= s.Samples {
		return ""
	}
	text := fmt.Sprintf("%s of its %s have full copies of the stack (%s bytes)", words.Number(s.Full), words.Count(s.Samples, "sample"), words.Number(int64(s.Room)))
	switch {
	case s.Room < largeStack:
		return fmt.Sprintf("%s: if perf report lacks outer callers, record with --call-graph dwarf,%d", text, largeStack)
	case s.Room < maxStack-4096: // perf copies less if the sample would be too large
		return fmt.Sprintf("%s: if perf report lacks outer callers, record with --call-graph dwarf,%d", text, maxStack)
	}
	return text + ": outer callers may be missing, and copies cannot be larger"
}
