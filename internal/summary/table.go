package summary

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/words"
)

// maxDumps is how many dumps have lines of their own by default.
const maxDumps = 20

// writeDumps writes the table of all dumps. It has no lines of its own for small ones among many.
func writeDumps(w io.Writer, s *report.Summary, opts Options) {
	dumps := make([]*report.DumpSummary, len(s.Dumps))
	for i := range s.Dumps {
		dumps[i] = &s.Dumps[i]
	}
	sorting.Stable(dumps, func(a, b *report.DumpSummary) int { return cmp.Compare(a.PID, b.PID) })
	var more []*report.DumpSummary
	if len(dumps) > maxDumps && !opts.All {
		sorting.Stable(dumps, func(a, b *report.DumpSummary) int {
			return cmp.Or(cmp.Compare(samplesOf(b).InJIT, samplesOf(a).InJIT), cmp.Compare(b.Functions, a.Functions))
		})
		dumps, more = dumps[:maxDumps*3/4], dumps[maxDumps*3/4:]
	}
	t := newTable(s)
	for _, d := range dumps {
		path := quote.Printable(d.Path)
		if d.Captures > 1 {
			path += fmt.Sprintf(" and %s", words.Count(int64(d.Captures-1), "more capture"))
		}
		t.add(fmt.Sprintf("%d %s", d.PID, quote.Printable(d.Command)), d, path, dumpNotes(d, opts))
	}
	if len(more) > 0 {
		t.add(fmt.Sprintf("%d more", len(more)), sumOf(more), "(all of them with -v)", nil)
	}
	if len(s.Dumps) > 1 {
		t.add("all", sumOf(append(dumps, more...)), "", nil)
	}
	t.write(w)
}

// A column of the table; those in which all is zero are left out, unless they are always
// there.
type column struct {
	title  string
	always bool
	value  func(*report.DumpSummary) string // "" for zero
}

var columns = []column{
	{"functions", true, func(d *report.DumpSummary) string { return positive(d.Functions) }},
	{"moved", false, func(d *report.DumpSummary) string { return positive(d.Moved) }},
	{"no code", false, func(d *report.DumpSummary) string { return positive(d.Empty) }},
	{"in images", false, func(d *report.DumpSummary) string { return positive(d.InImages) }},
	{"left out", false, func(d *report.DumpSummary) string { return positive(d.Unreferenced) }},
	{"lines", false, func(d *report.DumpSummary) string { return positive(d.WithLines) }},
	{"inlines", false, func(d *report.DumpSummary) string { return positive(d.Inlining) }},
	{"unwind", false, func(d *report.DumpSummary) string { return positive(d.Unwind.Sent + d.Unwind.Derived) }},
	{"samples", false, func(d *report.DumpSummary) string { // 0 says something
		if d.Samples == nil {
			return ""
		}
		return words.Number(d.Samples.InJIT)
	}},
	{"resolved", false, func(d *report.DumpSummary) string { return share(samplesOf(d)) }},
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

func newTable(s *report.Summary) *table {
	t := &table{width: []int{len("process")}}
	for _, c := range columns {
		if c.always || slices.ContainsFunc(s.Dumps, func(d report.DumpSummary) bool { return c.value(&d) != "" }) {
			t.columns = append(t.columns, c)
			t.width = append(t.width, len(c.title))
		}
	}
	return t
}

func (t *table) add(name string, d *report.DumpSummary, path string, notes []string) {
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

func sumOf(dumps []*report.DumpSummary) *report.DumpSummary {
	all := &report.DumpSummary{Samples: new(report.JitSamples)}
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

// positive is a number, or "" for 0.
func positive(n int) string {
	if n == 0 {
		return ""
	}
	return words.Number(int64(n))
}

// share says how many samples resolve. It is 100 % only if all do, and 0 only if none does.
func share(s report.JitSamples) string {
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
