package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	engine "github.com/jitinject/jitinject/inject"
	"github.com/jitinject/jitinject/internal/quote"
)

// What is said when all is done: a table with a line for each dump, what is special about
// it below, and a line or two about the whole.

// A failedRun is the JSON summary of a run without output.
type failedRun struct {
	Version int    `json:"version"`
	Input   string `json:"input"`
	Output  string `json:"output"` // not written
	Error   string `json:"error"`
}

// writeJSON writes a summary and reports whether that went well.
func writeJSON(stdout, stderr io.Writer, v any) bool {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	if err == nil {
		_, err = stdout.Write(forTerminals(b.Bytes()))
	}
	if err != nil {
		fmt.Fprintf(stderr, "jitinject: the summary could not be written: %v\n", err)
		return false
	}
	return true
}

// fewSamples is how many in no file are not worth a word: programs begin in memory that
// perf does not know yet.
const fewSamples = 20

// maxDumps is how many dumps have lines of their own by default.
const maxDumps = 20

// writeSummary says what was done. sources is where source files went.
func writeSummary(w io.Writer, s *engine.Summary, sources string, all bool) {
	if s.Markers == 0 && len(s.Traces) == 0 {
		fmt.Fprintf(w, "%s: nothing to inject; %s is a copy.\n", streamName(s.Input, "standard input"), streamName(s.Output, "standard output"))
		writeReasons(w, s)
		return
	}
	dumps := make([]*engine.DumpSummary, len(s.Dumps))
	for i := range s.Dumps {
		dumps[i] = &s.Dumps[i]
	}
	slices.SortStableFunc(dumps, func(a, b *engine.DumpSummary) int { return cmp.Compare(a.PID, b.PID) })
	var more []*engine.DumpSummary
	if len(dumps) > maxDumps && !all {
		slices.SortStableFunc(dumps, func(a, b *engine.DumpSummary) int {
			return cmp.Or(cmp.Compare(samplesOf(b).InJIT, samplesOf(a).InJIT), cmp.Compare(b.Functions, a.Functions))
		})
		dumps, more = dumps[:maxDumps*3/4], dumps[maxDumps*3/4:]
	}
	t := newTable(s)
	for _, d := range dumps {
		path := quote.Printable(d.Path)
		if d.Captures > 1 {
			path += fmt.Sprintf(" and %s", count(int64(d.Captures-1), "more capture"))
		}
		t.add(fmt.Sprintf("%d %s", d.PID, quote.Printable(d.Command)), d, path, dumpNotes(d, sources, all))
	}
	if len(more) > 0 {
		t.add(fmt.Sprintf("%d more", len(more)), sumOf(more), "(all of them with -v)", nil)
	}
	if len(s.Dumps) > 1 {
		t.add("all", sumOf(append(dumps, more...)), "", nil)
	}
	t.write(w)
	if s.Samples != nil && s.Samples.WithoutDump >= fewSamples {
		fmt.Fprintf(w, "%s are in JIT code of processes that got no functions\n", count(s.Samples.WithoutDump, "more sample"))
	}
	wants := func(kind string) bool {
		return slices.ContainsFunc(s.Dumps, func(d engine.DumpSummary) bool { return d.Kind == kind && wantsCode(d) })
	}
	if wants(engine.KindMono) {
		fmt.Fprintln(w, "Mono's logs hold no code, so perf annotate shows none: see jitinject help mono for sources of code")
	}
	if wants(engine.KindJ9) {
		fmt.Fprintln(w, "these captures hold no code, so perf annotate shows none: see jitinject help openj9 for sources of code")
	}
	unlogged := 0
	for _, d := range s.Dumps {
		if d.Logs == nil {
			unlogged += d.Unlogged
		}
	}
	if unlogged > 0 {
		advice := "add V8's flags --log-code --log-source-code"
		if asksForLog(s.Cmdline) {
			advice = "the recorded command has V8's flags for it, but no isolate-*-PID-v8.log is used; name its directory with --dump-dir"
		}
		fmt.Fprintf(w, "V8's log would add inlined calls and exact lines to %s: %s; see jitinject help v8log\n", count(int64(unlogged), "function"), advice)
	}
	writeTraces(w, s)
	writeReasons(w, s)
	writeWhole(w, s)
}

// asksForLog reports whether a command line has the flags with which V8 writes its log.
func asksForLog(cmdline []string) bool {
	has := func(flag string) bool {
		return slices.ContainsFunc(cmdline, func(word string) bool {
			_, after, ok := strings.Cut(strings.ReplaceAll(word, "_", "-"), flag)
			return ok && !strings.HasPrefix(after, "-")
		})
	}
	return has("--log-code") && has("--log-source-code")
}

// wantsCode reports whether samples are in functions with unknown code, because
// no option names its place.
func wantsCode(d engine.DumpSummary) bool {
	return d.CodeFiles == 0 && d.WithoutCode > (d.Functions-d.Empty-d.InImages-d.Unreferenced)/2 && (d.Samples == nil || d.Samples.InJIT > 0)
}

// writeWhole says what came of the run.
func writeWhole(w io.Writer, s *engine.Summary) {
	output := streamName(s.Output, "standard output")
	if calls := callsOf(s); calls > 0 && s.Mappings == 0 {
		fmt.Fprintf(w, "%s: %s", output, count(calls, "call"))
	} else {
		fmt.Fprintf(w, "%s: %s, %s of objects", output, count(int64(s.Mappings), "mapping"), size(s.ObjectBytes))
	}
	var dirs []string
	for i := range s.Dumps {
		if dir := quote.Printable(s.Dumps[i].Objects); !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	switch {
	case len(dirs) > 3:
		fmt.Fprintf(w, " in %s and %d more directories", dirs[0], len(dirs)-1)
	case len(dirs) > 0:
		fmt.Fprintf(w, " in %s", strings.Join(dirs, ", "))
	}
	if s.Unchanged > 0 {
		fmt.Fprintf(w, ", %s of %s already there", number(int64(s.Unchanged)), number(int64(s.Objects)))
	}
	fmt.Fprintf(w, "\nread %s, wrote %s in %s\n", size(s.BytesRead), size(s.BytesWritten), duration(s.Elapsed))
	if s.Cached > 0 {
		fmt.Fprintf(w, "%s in the build-id cache as well\n", were(s.Cached, "object is", "objects are"))
	}
	if s.Replaced > 0 {
		fmt.Fprintf(w, "%s replaced, as the contents differed; an earlier result that needs the old contents now shows fewer functions\n", were(s.Replaced, "object was", "objects were"))
	}
}

// streamName returns a path for messages, or the name of the stream that - stands for.
func streamName(path, stream string) string {
	if path == "-" {
		return stream
	}
	return quote.Printable(path)
}

// writeReasons says why there was nothing to inject.
func writeReasons(w io.Writer, s *engine.Summary) {
	for _, r := range s.Reasons {
		fmt.Fprintln(w, r.Text)
		if r.Advice != "" {
			fmt.Fprintf(w, "    %s\n", r.Advice)
		}
	}
}

// dumpNotes says what is special about a dump.
func dumpNotes(d *engine.DumpSummary, sources string, all bool) (notes []string) {
	note := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	if text := clockText(d.Clock); text != "" && d.Functions > 0 && d.Kind != engine.KindPerfMap { // which never has times
		note("%s", text)
	}
	if d.Sources > 0 && sources == "" {
		note("it brings along %s; --sources DIR puts the text where perf annotate finds it (and the objects are made again)", count(int64(d.Sources), "source file"))
	} else if d.Sources > 0 {
		note("%s put into %s", were(d.Sources, "source file was", "source files were"), quote.Printable(sources))
	}
	if d.Frames != "" {
		note("%s", d.Frames)
	}
	if text := stackText(d.Stacks); text != "" {
		note("%s", text)
	}
	switch made := d.Functions - d.Empty - d.InImages - d.Unreferenced; {
	case d.CodeFiles > 0 && d.WithoutCode > made/2:
		text := fmt.Sprintf("the code of %s of its functions is in no file of --code-from", number(int64(d.WithoutCode)))
		if d.Late > 0 {
			text += fmt.Sprintf("; %s loaded after the core dump was made", were(d.Late, "function was", "functions were"))
		}
		if d.Late > d.WithoutCode/2 { // or else a later one has no more
			text += ": make the core dump later"
		} else {
			text += "; the memory of others was reused before that, or its function is unknown"
		}
		note("%s", text)
	case d.CodeFiles > 0 && d.WithoutCode > 0 && all:
		note("the code of %s of its functions is in no file of --code-from", number(int64(d.WithoutCode)))
		if d.Late > 0 {
			note("%s loaded after the core dump was made", were(d.Late, "function was", "functions were"))
		}
	}
	if made := d.Functions - d.Empty - d.InImages - d.Unreferenced; d.Kind == engine.KindJ9 && d.CodeFiles == 0 && d.WithoutCode > 0 && d.WithoutCode <= made/2 { // else it is said of all
		note("its captures have no code of %s of its functions, so perf annotate shows none", number(int64(d.WithoutCode)))
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
	case s.Resolved == 0 && (unresolved >= fewSamples || d.Kind == engine.KindGDBJIT): // one of the problems
	default:
		if text := unresolvedText(d, all); text != "" {
			note("%s", text)
		}
	}
	if text := callersText(d); text != "" && (s.InJIT == 0 || d.Callers != nil) {
		note("%s", text)
	}
	if text := linesText(d.LineAddresses, all); text != "" {
		note("%s", text)
	}
	if all && d.Repeated > 0 {
		note("%s loaded again, with the same code at the same place: no objects or mappings of their own", were(d.Repeated, "function was", "functions were"))
	}
	if u := d.Unwind; all && u.Sent+u.Derived+u.Unplaced > 0 {
		note("unwind tables: %s sent (%s of them fixed), %s derived from code, %s without a place", number(int64(u.Sent)), number(int64(u.Fixed)), number(int64(u.Derived)), number(int64(u.Unplaced)))
	}
	for _, l := range d.Logs {
		if all || l.Paired < l.Optimized {
			note("%s: %s of its %s optimized functions are in the dump; their lines and inlined calls come from it", quote.Printable(l.Path), number(int64(l.Paired)), number(int64(l.Optimized)))
		}
	}
	var fixes []string
	for _, r := range d.Fixes {
		if all {
			note("repaired %s: %s", number(r.Count), r.Text)
		} else {
			fixes = append(fixes, number(r.Count)+" "+r.Name)
		}
	}
	if len(fixes) > 0 {
		note("fixed: %s (-v explains)", strings.Join(fixes, ", "))
	}
	return notes
}

// samplesOf returns the counts of a dump, which may be missing.
func samplesOf(d *engine.DumpSummary) engine.JitSamples {
	if d.Samples == nil {
		return engine.JitSamples{}
	}
	return *d.Samples
}

// sumOf adds dumps up.
func sumOf(dumps []*engine.DumpSummary) *engine.DumpSummary {
	all := &engine.DumpSummary{Samples: new(engine.JitSamples)}
	for _, d := range dumps {
		all.Functions += d.Functions
		all.Moved += d.Moved
		all.Empty += d.Empty
		all.InImages += d.InImages
		all.Unreferenced += d.Unreferenced
		all.WithLines += d.WithLines
		all.Inlining += d.Inlining
		all.Unwind.Sent += d.Unwind.Sent
		all.Unwind.Derived += d.Unwind.Derived
		all.Samples.InJIT += samplesOf(d).InJIT
		all.Samples.Resolved += samplesOf(d).Resolved
	}
	return all
}

// A column of the table; those in which all is zero are left out, unless they are always
// there.
type column struct {
	title  string
	always bool
	value  func(*engine.DumpSummary) string // "" for zero
}

var columns = []column{
	{"functions", true, func(d *engine.DumpSummary) string { return positive(d.Functions) }},
	{"moved", false, func(d *engine.DumpSummary) string { return positive(d.Moved) }},
	{"no code", false, func(d *engine.DumpSummary) string { return positive(d.Empty) }},
	{"in images", false, func(d *engine.DumpSummary) string { return positive(d.InImages) }},
	{"left out", false, func(d *engine.DumpSummary) string { return positive(d.Unreferenced) }},
	{"lines", false, func(d *engine.DumpSummary) string { return positive(d.WithLines) }},
	{"inlines", false, func(d *engine.DumpSummary) string { return positive(d.Inlining) }},
	{"unwind", false, func(d *engine.DumpSummary) string { return positive(d.Unwind.Sent + d.Unwind.Derived) }},
	{"samples", false, func(d *engine.DumpSummary) string { // 0 says something
		if d.Samples == nil {
			return ""
		}
		return number(d.Samples.InJIT)
	}},
	{"resolved", false, func(d *engine.DumpSummary) string { return share(samplesOf(d)) }},
}

// A table has a row for each dump.
type table struct {
	columns []column
	rows    []row
	width   []int
}

type row struct {
	name  string
	cells []string
	path  string
	notes []string
}

// newTable chooses the columns.
func newTable(s *engine.Summary) *table {
	t := &table{width: []int{len("process")}}
	for _, c := range columns {
		if c.always || slices.ContainsFunc(s.Dumps, func(d engine.DumpSummary) bool { return c.value(&d) != "" }) {
			t.columns = append(t.columns, c)
			t.width = append(t.width, len(c.title))
		}
	}
	return t
}

func (t *table) add(name string, d *engine.DumpSummary, path string, notes []string) {
	r := row{name: strings.TrimSpace(name), path: path, notes: notes}
	t.width[0] = max(t.width[0], utf8.RuneCountInString(r.name))
	for i, c := range t.columns {
		v := cmp.Or(c.value(d), "-")
		r.cells = append(r.cells, v)
		t.width[i+1] = max(t.width[i+1], len(v))
	}
	t.rows = append(t.rows, r)
}

func (t *table) write(w io.Writer) {
	if len(t.rows) == 0 {
		return
	}
	fmt.Fprintf(w, "%-*s", t.width[0], "process")
	for i, c := range t.columns {
		fmt.Fprintf(w, "  %*s", t.width[i+1], c.title)
	}
	fmt.Fprintln(w, "  dump")
	for _, r := range t.rows {
		fmt.Fprintf(w, "%-*s", t.width[0], r.name)
		for i, v := range r.cells {
			fmt.Fprintf(w, "  %*s", t.width[i+1], v)
		}
		fmt.Fprintln(w, strings.TrimRight("  "+r.path, " "))
		for _, n := range r.notes {
			fmt.Fprintf(w, "    %s\n", n)
		}
	}
}

// positive is a number, or "" for 0.
func positive(n int) string {
	if n == 0 {
		return ""
	}
	return number(int64(n))
}

// share says how many samples resolve. It is 100 % only if all do, and 0 only if none does.
func share(s engine.JitSamples) string {
	switch {
	case s.InJIT == 0:
		return ""
	case s.Resolved == s.InJIT:
		return "100 %"
	case s.Resolved == 0:
		return "0 %"
	}
	return fmt.Sprintf("%.1f %%", min(99.9, max(0.1, 100*float64(s.Resolved)/float64(s.InJIT))))
}

// duration is a time as people say it.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", max(1, d.Milliseconds()))
	case d < time.Minute:
		return fmt.Sprintf("%.1f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// clockText says how a dump's times were matched, if that was not a matter of course.
func clockText(c engine.Clock) string {
	offset := fmt.Sprintf("%+.6f s", float64(c.Offset)/1e9)
	switch c.Kind {
	case engine.ClockEstimated:
		if c.Error < 0 {
			return "its times are estimated to be " + offset + " off; functions may be there too early; record with -k mono to have them exact"
		}
		return fmt.Sprintf("its times are estimated to be %s off; functions may be there up to %.1f ms too early; record with -k mono to have them exact", offset, float64(c.Error)/1e6)
	case engine.ClockOther:
		return "its times are estimated to be " + offset + " off the recording's CLOCK_MONOTONIC; functions may be there too early; a runtime should write CLOCK_MONOTONIC"
	case engine.ClockRealtime:
		text := "its times are of CLOCK_REALTIME (nanoseconds since 1970), estimated to be " + offset + " off; functions may be there "
		if c.Error < 0 {
			return text + "too early; the runtime should write CLOCK_MONOTONIC"
		}
		return text + fmt.Sprintf("up to %.1f ms too early; the runtime should write CLOCK_MONOTONIC", float64(c.Error)/1e6)
	case engine.ClockGiven:
		return offset + " were added to its times, as --clock says"
	case engine.ClockStart:
		return "it has no times: its functions are used from the start of the recording"
	case engine.ClockNone:
		return "its times cannot be matched; its functions are used from the start of the recording"
	}
	return ""
}

// Sizes for --call-graph dwarf, in bytes: one that is enough for most programs, and perf's
// maximum (builtin-record.c: round_down(USHRT_MAX, 8)).
const (
	largeStack = 32768
	maxStack   = 65528
)

// stackText returns a message that copies of stacks are too small, or "" if at most half of
// them are full, or if larger ones would not help.
func stackText(s *engine.StackSummary) string {
	if s == nil || s.Own || s.Samples < fewSamples || 2*s.Full <= s.Samples {
		return ""
	}
	text := fmt.Sprintf("%s of its %s have full copies of the stack (%s bytes)", number(s.Full), count(s.Samples, "sample"), number(int64(s.Room)))
	switch {
	case s.Room < largeStack:
		return fmt.Sprintf("%s: if perf report lacks outer callers, record with --call-graph dwarf,%d", text, largeStack)
	case s.Room < maxStack-4096: // perf copies less if the sample would be too large
		return fmt.Sprintf("%s: if perf report lacks outer callers, record with --call-graph dwarf,%d", text, maxStack)
	}
	return text + ": outer callers may be missing, and copies cannot be larger"
}

// were is a number with what goes with one and with many.
func were(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return number(int64(n)) + " " + many
}

// count is a number with its noun.
func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return number(n) + " " + noun + "s"
}

// number writes thousands apart.
func number(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func size(n int64) string {
	switch {
	case n >= 10e6:
		return number(n/1e6) + " MB"
	case n >= 10e3:
		return number(n/1e3) + " kB"
	}
	return number(n) + " bytes"
}
