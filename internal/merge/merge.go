package merge

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
)

// A program is one program of a process. Its jitdumps are not compared with each other: they are of several
// compilers, and each has its times.
type program struct {
	pid     uint32
	exec    uint64 // when it began, as far as the recording tells
	isDumps bool   // of its sources, the jitdumps
}

// Sources merges the dumps of each process. It returns those that still have functions, in their order. Files
// of the others may be read for parts. It must follow the last change of the dumps' times and code. The error
// is ctx's.
func Sources(ctx context.Context, rec *recording.Recording, dumps []*model.Dump) (kept []*model.Dump, found report.Findings, err error) {
	order := slices.Clone(dumps)
	sorting.Stable(order, byTrust)
	sources := make(map[program][]*model.Dump)
	indexes := make(map[*model.Dump]*index)
	gone := make(map[*model.Dump]bool)
	for _, d := range order {
		var better []*model.Dump
		seen := map[*model.Dump]bool{d: true}
		add := func(others []*model.Dump) {
			for _, other := range others {
				if !seen[other] && !gone[other] {
					seen[other], better = true, append(better, other)
				}
			}
		}
		isDump := d.Source.Traits().Trust == source.TrustDump
		for _, m := range d.Markers {
			at := program{m.PID, rec.ProcessTree.LastExec(m.PID, m.Time), false}
			add(sources[at])
			if at.isDumps = true; !isDump {
				add(sources[at])
			}
			at.isDumps = isDump
			if of := sources[at]; len(of) == 0 || of[len(of)-1] != d {
				sources[at] = append(of, d)
			}
		}
		sorting.Stable(better, byTrust)
		for _, other := range better {
			if err := ctx.Err(); err != nil {
				return nil, found, err
			}
			if indexes[other] == nil {
				indexes[other] = newIndex(other)
			}
			p := newPair(rec, indexes[other], newIndex(d))
			p.merge()
			p.report(&found)
		}
		gone[d] = len(better) > 0 && !completes(rec, d, better)
	}
	return slices.DeleteFunc(slices.Clone(dumps), func(d *model.Dump) bool { return gone[d] }), found, nil
}

// byTrust compares dumps: the more trusted one comes first.
func byTrust(a, b *model.Dump) int {
	if x, y := a.HasTimes(), b.HasTimes(); x != y {
		return map[bool]int{true: -1, false: 1}[x]
	}
	return cmp.Compare(b.Source.Traits().Trust, a.Source.Traits().Trust)
}

// report adds findings about what came of a pair. If most functions contradict, one of the files may be of
// another run.
func (p *pair) report(found *report.Findings) {
	of := quote.Printable(p.better.Path)
	if n := len(p.described); n > 0 {
		found.Note(fmt.Sprintf("%s: it describes %s of %s", quote.Printable(p.less.Path), report.Counted(n, "function"), of))
	}
	if p.contradictions == 0 {
		return
	}
	text := fmt.Sprintf("%s of it (such as %s) contradict %s at the same place; the names of that are used", report.Counted(p.contradictions, "function"), p.example, of)
	if p.contradictions == 1 {
		text = fmt.Sprintf("1 function of it (%s) contradicts %s at the same place; the name of that is used", p.example, of)
	}
	if p.contradictions <= p.joined {
		found.Note(quote.Printable(p.less.Path) + ": " + text)
		return
	}
	found.Problem(report.Problem{Code: report.ProblemContradiction, File: p.less.Path, Offset: -1, Text: text,
		Advice: "if its names are right, inject without the other file"})
}

// completes reports whether a dump has functions that better ones of its process leave out, and which matter:
// samples are in these, as far as samples were counted, or a better one was cut. Only maps may be superfluous.
func completes(rec *recording.Recording, d *model.Dump, better []*model.Dump) bool {
	events := d.Source.Scanned().Events
	if !slices.ContainsFunc(events, func(e jitcode.Event) bool { return !d.Unmapped[int(e.Function)] }) {
		return false
	}
	better = slices.DeleteFunc(better, func(b *model.Dump) bool { return b.Source.Traits().Registered })
	if len(better) == 0 {
		return true
	}
	const note = "it completes the dump of its process"
	switch trust := d.Source.Traits().Trust; {
	case trust == source.TrustLog:
		d.Note = strings.TrimSuffix(note+"; "+d.Note, "; ")
		return true
	case trust > source.TrustMap:
		return true
	}
	d.Note = cmp.Or(d.Note, note)
	return rec.Histogram == nil || rec.Histogram.Over || d.IsSampled(rec) ||
		slices.ContainsFunc(better, func(b *model.Dump) bool { return b.Source.Scanned().Cut >= 0 })
}
