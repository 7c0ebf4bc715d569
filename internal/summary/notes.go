package summary

import (
	"fmt"

	"github.com/jitinject/jitinject/internal/formats"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/words"
)

// dumpNotes says what is special about a dump.
func dumpNotes(d *report.DumpSummary, opts Options) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if text := clockText(d.Clock); text != "" && d.Functions > 0 && d.Kind != formats.PerfMap { // which never has times
		note("%s", text)
	}
	if d.Sources > 0 && opts.Sources == "" {
		note("it brings along %s; --sources DIR puts the text where perf annotate finds it (and the objects are made again)", words.Count(int64(d.Sources), "source file"))
	} else if d.Sources > 0 {
		note("%s put into %s", words.Plural(d.Sources, "source file was", "source files were"), quote.Printable(opts.Sources))
	}
	if d.Frames != "" {
		note("%s", d.Frames)
	}
	if text := stackText(d.Stacks); text != "" {
		note("%s", text)
	}
	switch made := d.Functions - d.Empty - d.InImages - d.Unreferenced; {
	case d.CodeFiles > 0 && d.WithoutCode > made/2:
		text := fmt.Sprintf("the code of %s of its functions is in no file of --code-from", words.Number(int64(d.WithoutCode)))
		if d.Late > 0 {
			text += fmt.Sprintf("; %s loaded after the core dump was made", words.Plural(d.Late, "function was", "functions were"))
		}
		if d.Late > d.WithoutCode/2 { // or else a later one has no more
			text += ": make the core dump later"
		} else {
			text += "; the memory of others was reused before that, or its function is unknown"
		}
		note("%s", text)
	case d.CodeFiles > 0 && d.WithoutCode > 0 && opts.All:
		note("the code of %s of its functions is in no file of --code-from", words.Number(int64(d.WithoutCode)))
		if d.Late > 0 {
			note("%s loaded after the core dump was made", words.Plural(d.Late, "function was", "functions were"))
		}
	}
	if made := d.Functions - d.Empty - d.InImages - d.Unreferenced; d.Kind == formats.J9 && d.CodeFiles == 0 && d.WithoutCode > 0 && d.WithoutCode <= made/2 { // else it is said of all
		note("its captures have no code of %s of its functions, so perf annotate shows none", words.Number(int64(d.WithoutCode)))
	}
	if d.Note != "" {
		note("%s", d.Note)
	}
	s := samplesOf(d)
	switch unresolved := s.InJIT - s.Resolved; {
	case d.Cut >= 0 && unresolved > s.InJIT/100: // one of the problems
	case d.CutName != "":
		note("the dump ends at offset %#[2]x, before the code of %[1]q: the runtime could not read that code and stopped writing", quote.Printable(d.CutName), d.Cut)
	case d.Cut >= 0:
		note("the dump ends inside a record, at offset %#x: %s; later functions are missing", d.Cut, d.CutCause())
	case d.Nowhere > 0 && unresolved > 0: // that was said
	case s.Resolved == 0 && (unresolved >= fewSamples || d.Kind == formats.GDBJIT): // one of the problems
	default:
		if text := unresolvedText(d, opts.All); text != "" {
			note("%s", text)
		}
	}
	if text := callersText(d); text != "" && (s.InJIT == 0 || d.Callers != nil) {
		note("%s", text)
	}
	if text := linesText(d.LineAddresses, opts.All); text != "" {
		note("%s", text)
	}
	if opts.All && d.Repeated > 0 {
		note("%s loaded again, with the same code at the same place: no objects or mappings of their own", words.Plural(d.Repeated, "function was", "functions were"))
	}
	if u := d.Unwind; opts.All && u.Sent+u.Derived+u.Unplaced > 0 {
		note("unwind tables: %s sent (%s of them fixed), %s derived from code, %s without a place", words.Number(int64(u.Sent)), words.Number(int64(u.Fixed)), words.Number(int64(u.Derived)), words.Number(int64(u.Unplaced)))
	}
	for _, l := range d.Logs {
		if opts.All || l.Paired < l.Optimized {
			note("%s: %s of its %s optimized functions are in the dump; their lines and inlined calls come from it", quote.Printable(l.Path), words.Number(int64(l.Paired)), words.Number(int64(l.Optimized)))
		}
	}
	faults := int64(0)
	for _, r := range d.Fixes {
		if faults += r.Count; opts.All {
			note("repaired %s: %s (%s)", words.Number(r.Count), r.Text, r.Name)
		}
	}
	if faults > 0 && !opts.All {
		note("repaired %s of %s (-v explains)", words.Count(faults, "fault"), ownerText(d))
	}
	return notes
}

// ownerText names a dump by its process: node's dump.
func ownerText(d *report.DumpSummary) string {
	if d.Command == "" {
		return "the dump"
	}
	return quote.Printable(d.Command) + "'s dump"
}
