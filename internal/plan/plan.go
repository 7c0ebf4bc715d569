package plan

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/attribution"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
)

// A Planner makes a plan with one object for each function.
type Planner struct {
	model.Plan
	Lines []report.DumpSummary // the dumps by number, with what planning knows
	// Found has the problems and notes for the user.
	Found report.Findings

	rec     *recording.Recording
	names   objectNames
	files   *fileCode
	gaps    *gaps
	covered *codebytes.Covered
	dumps   []*Dump

	// all is the plan before DropUnreferenced if regions need it, or nil. isKept has its objects that
	// are in the plan.
	all    *model.Plan
	isKept []bool

	Bundling bool // the plan is going to be one with bundles
	// Overlay also names functions of Mono that lie in files. Otherwise the files name them.
	Overlay bool
}

// A Dump is a dump and the state of its planning.
type Dump struct {
	*model.Dump
	attribution *attribution.Attribution
	objectOf    []int32 // index in the plan's objects, by function; -1 without object
	// repeats has the functions that are loaded where an equal one is; see findRepeats.
	repeats    map[int]bool
	places     *places // nil unless code moves
	neighbours neighbours
}

// New returns a planner without any dumps.
func New(rec *recording.Recording) *Planner {
	return &Planner{Lines: []report.DumpSummary{}, rec: rec, files: newFileCode(rec), gaps: newGaps(rec), covered: codebytes.NewCovered(rec)}
}

// Make returns the plan for all dumps, with one object for each function. The error is ctx's.
func Make(ctx context.Context, rec *recording.Recording, dumps []*model.Dump, opts *config.Options) (*Planner, error) {
	p := New(rec)
	p.Bundling, p.Overlay = opts.Bundle || rec.CopiesStacks(), opts.Precompiled
	for _, d := range dumps {
		pd := p.Add(d)
		pd.repeats = pd.findRepeats(ctx, p.files)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p.planDump(pd)
	}
	p.Finish()
	if !slices.IsSortedFunc(p.Mappings, byTimeOfMapping) {
		slices.SortStableFunc(p.Mappings, byTimeOfMapping)
	}
	if opts.Sampled && p.Bundling && !rec.CopiesStacks() {
		p.Absent = make(map[*model.Dump][]addrs.Range)
	}
	return p, nil
}

// byTimeOfMapping compares mappings by their times.
func byTimeOfMapping(a, b model.Mapping) int { return cmp.Compare(a.Time, b.Time) }

// Add adds a dump that has no events yet. It sets the dump's number.
func (p *Planner) Add(d *model.Dump) *Dump {
	d.Number = len(p.dumps)
	p.Lines = append(p.Lines, report.DumpSummary{PID: d.PID, Kind: d.Source.Traits().Kind, Path: d.Path, Note: d.Note, Objects: d.Objects, Clock: d.Match, CodeFiles: d.CodeFiles, Late: d.Late, Cut: -1, Fixes: []report.Fix{}})
	pd := &Dump{Dump: d, attribution: attribution.New(p.rec, d)}
	p.dumps = append(p.dumps, pd)
	return pd
}

// Finish adds the findings that need the whole dump: problems, fixes and where it was cut.
func (p *Planner) Finish() {
	p.files.report(&p.Found)
	p.covered.Report(&p.Found)
	for _, d := range p.dumps {
		p.Lines[d.Number].Cut, p.Lines[d.Number].CutName = d.Source.Scanned().Cut, d.Source.Scanned().CutName
		if d.Source.Scanned().Cut >= 0 {
			p.Lines[d.Number].Writer = d.Writer(p.rec)
		}
		for _, q := range d.Source.Scanned().Problems {
			p.Found.Problem(report.Problem{Code: report.ProblemDamage, File: d.Path, Offset: q.Offset, Text: q.Text, Advice: d.AdviceDamage()})
		}
		if n := d.Source.Scanned().Dropped; n > 0 {
			p.Found.Problem(report.Problem{Code: report.ProblemDamage, File: d.Path, Offset: -1, Text: fmt.Sprintf("%d more problems like these", n), Advice: d.AdviceDamage()})
		}
		if r, ok := d.Source.(reporter); ok {
			p.Found.Add(r.Report(quote.Printable(d.Path), &p.Lines[d.Number]))
		}
		lineProblems(d.Dump, &p.Found)
		for _, text := range d.attribution.Problems() {
			p.Found.Problem(report.Problem{Code: report.ProblemUnnamed, File: d.Path, Offset: -1, Text: text, Advice: "record all of them: start perf record before they are forked, or with -a"})
		}
	}
}

// planDump plans the events of a dump. It appends their mappings in the order of their times.
func (p *Planner) planDump(d *Dump) {
	events := d.Source.Scanned().Events
	if len(events) == 0 {
		return
	}
	ds := &p.Lines[d.Number]
	loads := 0
	for i := range events {
		if events[i].Kind == jitcode.Load {
			loads++
		}
	}
	p.Objects = slices.Grow(p.Objects, loads)
	d.objectOf = slices.Grow(d.objectOf, loads)
	for i := range events {
		e := &events[i]
		if e.Kind != jitcode.Load {
			continue
		}
		d.objectOf = append(d.objectOf, -1)
		if d.Unmapped[e.Function] {
			continue
		}
		ds.Functions++
		if e.Size == 0 {
			ds.Empty++
			continue
		}
		pid, _, ok := d.attribution.Of(e)
		if !ok || d.LeftOut[e.Function] {
			continue
		}
		if d.repeats[e.Function] {
			ds.Repeated++
			continue
		}
		if !p.Overlay && d.Source.Traits().Images && p.files.holds(pid, d.Clock(e.Time), e.Addr, e.Size) {
			ds.InImages++
			continue
		}
		d.objectOf[e.Function] = int32(len(p.Objects))
		o := model.Object{Dump: d.Dump, Function: e.Function, PID: pid, Index: e.Index, Sent: e.Tables}
		if !p.Bundling { // in bundles, few need one
			o.IsRepeated = p.names.isRepeated(&o, p.Objects)
		}
		p.Objects = append(p.Objects, o)
	}
	d.neighbours = newNeighbours(events)
	if p.rec.CopiesStacks() {
		p.gaps.scan(d.Dump, events)
	}
	if loads < len(events) {
		d.places = newPlaces(&p.rec.ProcessTree)
	}
	p.Mappings = slices.Grow(p.Mappings, len(events)+len(events)-loads) // code that moves leaves a place
	p.mapEvents(d, events)
}

// mapEvents adds the mappings of events. If code of the dump moves, it also records in d.places
// where each function is.
func (p *Planner) mapEvents(d *Dump, events []jitcode.Event) {
	for _, i := range byTime(events) {
		e := &events[i]
		if d.objectOf[e.Function] < 0 {
			continue
		}
		moved := 0
		if e.Kind == jitcode.Move {
			moved = 1
		}
		d.attribution.Share(e, func(pid, tid uint32) {
			p.Lines[d.Number].Moved += moved
			moved = 0 // forked children share it
			m := model.Mapping{Time: d.Clock(e.Time), PID: pid, TID: tid, Addr: e.Addr, Len: e.Size, Object: d.objectOf[e.Function]}
			if d.places != nil {
				o := d.places.Of(pid, m.Time)
				// without times, the function is at both addresses all the time
				if e.Kind == jitcode.Move && d.Match.Kind != report.ClockNone && d.Match.Kind != report.ClockStart {
					p.leave(m, o.Owned(e.OldAddr, e.OldAddr+e.Size, e.Function))
				}
				o.Place(e.Addr, e.Addr+e.Size, e.Function)
			}
			before := len(p.Mappings)
			p.Mappings = p.files.spread(p.Mappings, m)
			p.stay(d, before)
			if !p.Bundling && e.Tables > 0 { // Bundle finds places for tables
				for i := before; i < len(p.Mappings); i++ {
					p.Mappings[i].Len = d.neighbours.withTables(e)
				}
			}
		})
	}
}

// byTime returns the indexes of events in the order of their times. Threads may write a record a
// little later than one of a later event.
func byTime(events []jitcode.Event) []int {
	order := make([]int, len(events))
	for i := range order {
		order[i] = i
	}
	earlier := func(a, b int) int { return cmp.Compare(events[a].Time, events[b].Time) }
	if !slices.IsSortedFunc(order, earlier) {
		slices.SortStableFunc(order, earlier)
	}
	return order
}

// neighbours are the addresses at which code of a dump begins, in ascending order. They are nil
// unless functions have unwind tables in memory.
type neighbours []uint64

func newNeighbours(events []jitcode.Event) neighbours {
	if !slices.ContainsFunc(events, func(e jitcode.Event) bool { return e.Tables > 0 }) {
		return nil
	}
	n := make(neighbours, len(events))
	for i := range events {
		n[i] = events[i].Addr
	}
	slices.Sort(n)
	return n
}

// withTables returns the length of a mapping, in bytes, that covers a function's code and the
// unwind tables after it. libunwind looks for them there. The mapping ends before the next
// function: CPython's trampolines claim tables but lie closer together.
func (n neighbours) withTables(e *jitcode.Event) uint64 {
	want := (e.Size+7)&^7 + e.Tables
	i, _ := slices.BinarySearch(n, e.Addr+e.Size)
	if i < len(n) && n[i]-e.Addr < want {
		want = n[i] - e.Addr
	}
	return want
}

// leave adds mappings that clear the parts where m's function was, except for addresses where it
// will be again.
func (p *Planner) leave(m model.Mapping, parts []addrs.Tenancy) {
	m.Clear = true
	lo, hi := m.Addr, m.Addr+m.Len
	for _, t := range parts {
		for _, part := range [][2]uint64{{t.Lo, min(t.Hi, lo)}, {max(t.Lo, hi), t.Hi}} {
			if part[0] < part[1] {
				m.Addr, m.Len = part[0], part[1]-part[0]
				p.Mappings = append(p.Mappings, m)
			}
		}
	}
}
