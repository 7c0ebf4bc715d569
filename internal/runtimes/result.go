package main

import (
	"fmt"
	"strings"

	"github.com/jitinject/jitinject/internal/judge"
	"github.com/jitinject/jitinject/internal/truth"
)

// A result has the cells of a runtime's rows, and remarks.
type result struct {
	id      string
	names   []string // version, date, resolved, names, lines, inlined calls
	fp      []string // stacks by frame pointers, one cell for each perf
	dwarf   []string // copied stacks, one cell for each perf
	remarks []string
}

// resultOf returns the rows of a runtime.
func resultOf(r *runtime, installed, date string, fp, dwarf *measured) *result {
	f := r.family
	judged := fp
	if f.callers {
		judged = dwarf // the interpreter keeps no frame pointers, so -g shows no caller
	}
	t := truth.Sum(judged.verdicts, least)
	names, lines, inlines := "–", "–", "–"
	if f.programs != nil {
		names = fmt.Sprintf("%d of %d", t.Seen, t.Functions)
	}
	if f.lines {
		lines = fmt.Sprintf("%d of %d", t.Lines, t.Seen)
		if t.Right+t.Wrong > 0 {
			lines += fmt.Sprintf(", %s", percent(t.Right, t.Right+t.Wrong))
		}
	}
	if f.inlines {
		inlines = percent(t.Inner, t.InnerAll)
	}
	out := &result{id: r.id, names: []string{installed, date, percent(judged.resolved, judged.code), names, lines, inlines}}
	for _, m := range []*measured{fp, dwarf} {
		for i := range m.stacks {
			cell := m.stacks[i].cell(f)
			if m == fp {
				out.fp = append(out.fp, cell)
			} else {
				out.dwarf = append(out.dwarf, cell)
			}
		}
	}
	out.remarks = append(out.remarks, truth.Failures(judged.verdicts, least, f.lines)...)
	for _, part := range []struct {
		kind kind
		m    *measured
	}{{framePointers, fp}, {copies, dwarf}} {
		for _, w := range part.m.warnings {
			out.remarks = append(out.remarks, part.kind.name+": "+w)
		}
		for i := range part.m.stacks {
			p := &part.m.stacks[i]
			if len(p.losses) > 0 {
				out.remarks = append(out.remarks, fmt.Sprintf("%s, perf %s: %s; first: %s", part.kind.name, p.perf, judge.Summary(p.losses), p.losses[0].String()))
			}
		}
	}
	return out
}

// cell shows whole stacks: ours / perf inject's of all with a jitted frame.
func (p *pair) cell(f *family) string {
	if p.unread {
		return "not read"
	}
	theirs := "–"
	if p.injected {
		theirs = fmt.Sprint(p.theirs)
	}
	text := fmt.Sprintf("%d / %s of %d", p.ours, theirs, p.jitted)
	if f.log || f.live {
		text = fmt.Sprintf("%d of %d", p.ours, p.jitted)
	}
	if n := len(p.losses); n > 0 {
		text += fmt.Sprintf(", %d lost", n)
	}
	return text
}

// percent shows a share. Only a whole is shown as 100 %, and only nothing as 0 %.
func percent(part, all int) string {
	switch {
	case all == 0:
		return "–"
	case part == all:
		return "100 %"
	case part == 0:
		return "0 %"
	}
	p := min(max(float64(part)*100/float64(all), 0.1), 99.9)
	return strings.TrimSuffix(fmt.Sprintf("%.1f", p), ".0") + " %"
}
