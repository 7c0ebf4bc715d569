package plan

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/attribution"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/config"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
)

// Functions are the functions of all dumps, and where processes have them: what a layout divides
// among objects.
type Functions struct {
	model.Functions
	Lines []report.DumpSummary // the dumps by number, with what planning knows
	Found report.Findings

	// Shared says that functions share objects: a mapping then has all of a function, and nothing
	// else.
	Shared bool

	rec    *recording.Recording
	dumps  []*model.Dump
	files  *fileCode
	absent map[*model.Dump][]addrs.Range // addresses of functions that KeepReferenced has dropped

	// inRegions has the functions that regions are made of, if these are more than those that stay
	// (isKept). It is nil otherwise.
	inRegions *model.Functions
	isKept    []bool
}

// A placer finds the functions of dumps.
type placer struct {
	*Functions
	names   model.ObjectNames
	covered *codebytes.Covered
	// overlay also names functions of Mono that lie in files. Otherwise the files name them.
	overlay bool
}

// A placedDump is a dump and what is known of its functions.
type placedDump struct {
	*model.Dump
	line        *report.DumpSummary
	attribution *attribution.Attribution
	numbers     []int32 // index in the list of functions, by number in the dump; -1 for those without object
	// repeats has the functions that are loaded where an equal one is; see findRepeats.
	repeats    map[int]bool
	places     *places // nil unless code moves
	neighbours neighbours
}

// Place returns the functions of dumps, which it numbers. histories are those of rec. The error is
// ctx's.
func Place(ctx context.Context, rec *recording.Recording, histories *recording.FileHistories, dumps []*model.Dump, opts *config.Options) (*Functions, error) {
	p := &placer{
		Functions: &Functions{Lines: make([]report.DumpSummary, len(dumps)), Shared: (opts.Bundle || rec.CopiesStacks()) && model.HasFewDumps(dumps), rec: rec, dumps: dumps, files: newFileCode(rec, histories, dumps)},
		names:     make(model.ObjectNames), covered: codebytes.NewCovered(rec), overlay: opts.Precompiled,
	}
	if (opts.Bundle || rec.CopiesStacks()) && !p.Shared {
		p.found(manyDumps, rec.In.Path, model.MostDumps)
	}
	sharing := attribution.NewSharing(recording.NewSharedMemory(histories), dumps)
	placed := make([]*placedDump, len(dumps))
	for n, d := range dumps {
		d.Number = n
		p.Lines[n] = report.DumpSummary{PID: d.PID, Kind: d.Source.Traits().Kind, Path: d.Path, Note: d.Note, Objects: d.Objects, Clock: d.Match, CodeFiles: d.CodeFiles, Late: d.Late, Cut: -1, Fixes: []report.Fix{}}
		placed[n] = &placedDump{Dump: d, line: &p.Lines[n], attribution: attribution.New(rec, d, sharing)}
		placed[n].repeats = placed[n].findRepeats(ctx, p.files)
		d.Source.Scanned().DropIndex()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	Collect()
	for _, d := range placed {
		p.place(d)
	}
	p.addFiles()
	if sharing.Overflows() {
		p.found(manySharers, "", sharing.Most())
	}
	p.covered.Report(&p.Found)
	for _, d := range placed {
		p.addDump(d)
	}
	if !slices.IsSortedFunc(p.Mappings, byTimeOfMapping) {
		sorting.Stable(p.Mappings, byTimeOfMapping)
	}
	replacements, all := histories.Replacements(p.rec.ProcessTree.JitSpans(model.MarkersOf(p.dumps)))
	p.replace(replacements)
	if !all {
		p.found(manyReplaced, "", len(replacements))
	}
	for _, d := range dumps {
		d.SetFill()
		if lean, ok := d.Source.(source.Lean); ok && !rec.CopiesStacks() && opts.CFI != config.CFIAlways { // unwind tables need events
			lean.DropEvents()
		}
	}
	Collect()
	return p.Functions, nil
}

// Layout divides the functions among objects. If they share some, and with whole, the objects are as few
// as possible. Errors are ctx's or those of reading the recording.
func (f *Functions) Layout(ctx context.Context, whole bool) (*model.Plan, error) {
	if f.Shared {
		return f.bundles(ctx, whole)
	}
	return f.single(), nil
}

// single is the layout with one object for each function.
func (f *Functions) single() *model.Plan {
	p := &model.Plan{Objects: make([]model.Object, len(f.List)), Mappings: f.Mappings}
	for i := range f.List {
		p.Objects[i].Function = &f.List[i]
	}
	return p
}

// byTimeOfMapping compares mappings by their times.
func byTimeOfMapping(a, b model.Mapping) int { return cmp.Compare(a.Time, b.Time) }

// place adds the functions of a dump, and their mappings in the order of their times.
func (p *placer) place(d *placedDump) {
	events := d.Source.Scanned().Events
	loads := 0
	for i := range events {
		if events[i].Kind == jitcode.Load {
			loads++
		}
	}
	d.neighbours = p.neighboursOf(d.Dump)
	if loads < len(events) {
		d.places = newPlaces(&p.rec.ProcessTree)
	}
	p.List, d.numbers = withRoom(p.List, loads), make([]int32, 0, loads)
	p.Mappings = withRoom(p.Mappings, len(events)+len(events)-loads) // code that moves leaves a place
	order := byTime(events)
	parts := p.partsOf(d, events, order)
	eachPart(parts, func(w *part) {
		for i := range events[w.from:w.to] {
			if e := &events[w.from+i]; e.Kind == jitcode.Load {
				w.dump.numbers = append(w.dump.numbers, w.load(w.dump, e))
			}
		}
	})
	for _, w := range parts[1:] {
		for i := range w.dump.numbers {
			if w.dump.numbers[i] >= 0 {
				w.dump.numbers[i] += int32(len(p.List))
			}
		}
		p.List, d.numbers = joined(p.List, w.List), joined(d.numbers, w.dump.numbers)
		d.line.Functions += w.dump.line.Functions
		d.line.Empty += w.dump.line.Empty
		d.line.Repeated += w.dump.line.Repeated
	}
	list, numbers := p.List, d.numbers
	eachPart(parts, func(w *part) {
		w.List, w.dump.numbers = list, numbers
		w.mapEvents(w.dump, events, order[w.from:w.to])
	})
	for _, w := range parts[1:] {
		p.Mappings = joined(p.Mappings, w.Mappings)
	}
}

// load adds the function that an event loads. It returns its index in the list, or -1 if it gets no
// object.
func (p *placer) load(d *placedDump, e *jitcode.Event) int32 {
	if d.Unmapped[int(e.Function)] {
		return -1
	}
	d.line.Functions++
	if e.Size == 0 {
		d.line.Empty++
		return -1
	}
	pid, _, ok := d.attribution.Of(e)
	switch {
	case !ok || d.LeftOut[int(e.Function)]:
		return -1
	case d.repeats[int(e.Function)]:
		d.line.Repeated++
		return -1
	case !p.overlay && d.Source.Traits().Images && p.files.holds(pid, d.Clock(e.Time), e.Addr, e.Size):
		d.line.InImages++
		return -1
	}
	f := model.Function{Dump: d.Dump, Number: e.Function, PID: pid, Index: e.Index, Sent: uint32(min(e.More, math.MaxUint32))}
	if !p.Shared { // otherwise, few need a name of their own
		f.IsRepeated = p.names.IsRepeated(f.PID, f.Index)
	}
	p.List = append(p.List, f)
	return int32(len(p.List) - 1)
}

// mapEvents adds the mappings of events, in an order. If code of the dump moves, it also records in d.places
// where each function is.
func (p *placer) mapEvents(d *placedDump, events []jitcode.Event, order []int32) {
	for _, i := range order {
		e := &events[i]
		if d.numbers[e.Function] < 0 {
			continue
		}
		moved := 0
		if e.Kind == jitcode.Move && e.More != e.Addr {
			moved = 1
		}
		d.attribution.Share(e, func(pid, tid uint32, time uint64) {
			if d.places != nil && time > d.Clock(e.Time) {
				return // it may have moved by then
			}
			if e.Kind == jitcode.Gone {
				o := d.places.Of(pid, time)
				parts := o.Owned(e.Addr, e.Addr+source.MaxRange, int(e.Function))
				p.leave(model.Mapping{Time: time, PID: pid, TID: tid, Object: d.numbers[e.Function]}, parts)
				for _, t := range parts {
					o.Place(t.Lo, t.Hi, noOwner)
				}
				return
			}
			d.line.Moved += moved
			moved = 0 // other processes share it
			m := model.Mapping{Time: time, PID: pid, TID: tid, Addr: e.Addr, Len: e.Size, Object: d.numbers[e.Function]}
			if d.places != nil {
				o := d.places.Of(pid, m.Time)
				// without times, the function is at both addresses all the time
				if e.Kind == jitcode.Move && d.HasTimes() {
					p.leave(m, o.Owned(e.More, e.More+e.Size, int(e.Function)))
				}
				o.Place(e.Addr, e.Addr+e.Size, int(e.Function))
			}
			before := len(p.Mappings)
			p.Mappings = p.files.spread(p.Mappings, m)
			p.stay(d.Dump, before)
			if sent := uint64(p.List[m.Object].Sent); !p.Shared && sent > 0 { // bundles find places for tables
				for i := before; i < len(p.Mappings); i++ {
					p.Mappings[i].Len = d.neighbours.withTables(e, sent)
				}
			}
		})
	}
}

// byTime returns the indexes of events in the order of their times. Threads may write a record a
// little later than one of a later event.
func byTime(events []jitcode.Event) []int32 {
	order := make([]int32, len(events))
	for i := range order {
		order[i] = int32(i)
	}
	earlier := func(a, b int32) int { return cmp.Compare(events[a].Time, events[b].Time) }
	if !slices.IsSortedFunc(order, earlier) {
		sorting.Stable(order, earlier)
	}
	return order
}

// neighbours are the addresses at which code of a dump's processes begins, in ascending order. They are
// nil unless functions of the dump have unwind tables in memory.
type neighbours []uint64

func (p *placer) neighboursOf(d *model.Dump) (n neighbours) {
	if !slices.ContainsFunc(d.Source.Scanned().Events, func(e jitcode.Event) bool { return e.Kind == jitcode.Load && e.More > 0 }) {
		return nil
	}
	for _, other := range p.dumps {
		if !slices.ContainsFunc(other.Markers, func(m recording.Marker) bool {
			return slices.ContainsFunc(d.Markers, func(own recording.Marker) bool { return own.PID == m.PID })
		}) {
			continue
		}
		for _, e := range other.Source.Scanned().Events {
			if other == d || !other.Unmapped[int(e.Function)] {
				n = append(n, e.Addr)
			}
		}
	}
	slices.Sort(n)
	return n
}

// withTables returns the length of a mapping that covers a function's code and the unwind tables after
// it, all in bytes. libunwind looks for them there. The mapping ends before the next
// function: CPython's trampolines claim tables but lie closer together.
func (n neighbours) withTables(e *jitcode.Event, tables uint64) uint64 {
	want := (e.Size+7)&^7 + tables
	i, _ := slices.BinarySearch(n, e.Addr+e.Size)
	if i < len(n) && n[i]-e.Addr < want {
		want = n[i] - e.Addr
	}
	return want
}

// leave adds mappings that clear the parts where m's function was, except for addresses where it
// will be again.
func (p *placer) leave(m model.Mapping, parts []addrs.Tenancy) {
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
