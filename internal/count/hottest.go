package count

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/mangled"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
	"github.com/jitinject/jitinject/internal/tier"
)

// A place is a line of a source file.
type place struct {
	file string
	line int
}

// A hotName identifies functions that count as one: a runtime compiles a function again and again.
type hotName struct {
	dump int32
	tier.Name
	alone functionID // for functions that do not count with others, or else zero
}

// A hotGroup is a function with all of its pieces of code.
type hotGroup struct {
	weighed // function is that of the heaviest piece
	name    tier.Name
	symbol  string
	addr    uint64
	begins  place
	lines   map[place]recording.Weight
}

// A hotReader reads the hottest functions of an event.
type hotReader struct {
	*Counter
	dumps   map[int32]*model.Dump
	readers map[int32]source.FunctionReader
	total   recording.Weight // of the event
}

func (c *Counter) hotReader(dumps []*model.Dump, attr int) *hotReader {
	r := &hotReader{Counter: c, dumps: make(map[int32]*model.Dump), readers: make(map[int32]source.FunctionReader), total: c.hot.events[attr]}
	for _, d := range dumps {
		r.dumps[int32(d.Number)] = d
	}
	return r
}

// hottest returns the hottest functions. The dumps must be open.
func (c *Counter) hottest(dumps []*model.Dump) *report.Hottest {
	h := &report.Hottest{Functions: []report.HotFunction{}}
	if len(c.hot.addresses)+len(c.hot.cold) == 0 {
		return h
	}
	attr := c.attr
	if c.several {
		h.Event = c.rec.EventNames()[attr]
	}
	r := c.hotReader(dumps, attr)
	groups, pieces := r.groups(c.heaviest, false)
	for key, w := range c.hot.addresses {
		if p, ok := pieces[key.function.id()]; ok && key.function.attr() == attr {
			if at, ok := p.at(uint32(key.offset)); ok {
				sum := p.group.lines[at]
				sum.Add(*w)
				p.group.lines[at] = sum
			}
		}
	}
	h.Functions = r.described(groups)
	return h
}

// hottestCallers returns the functions that most callchains of an event pass through. functions has
// their weights.
func (c *Counter) hottestCallers(dumps []*model.Dump, attr int, functions map[functionID]recording.Weight) []report.HotFunction {
	r := c.hotReader(dumps, attr)
	groups, _ := r.groups(heaviest(functions), true)
	return r.described(groups)
}

// A piece is one piece of code of a function.
type piece struct {
	*keptFunction
	group *hotGroup
}

// groups reads functions and returns the hottest, with the pieces of all. alone says that two of one
// name do not count as one, because a callchain may have both.
func (r *hotReader) groups(functions []weighed, alone bool) (groups []*hotGroup, pieces map[functionID]piece) {
	byName := make(map[hotName]*hotGroup)
	pieces = make(map[functionID]piece)
	for _, f := range functions {
		k := r.read(f.function)
		if k == nil {
			continue
		}
		name := hotName{dump: f.function.dump, Name: tier.Read(k.name)}
		if alone {
			name.alone = f.function
		}
		g := byName[name]
		if g == nil {
			g = &hotGroup{weighed: weighed{function: f.function}, name: name.Name, symbol: k.name, addr: k.addr, begins: k.begins(name.Name), lines: make(map[place]recording.Weight)}
			byName[name], groups = g, append(groups, g)
		}
		g.Add(f.Weight)
		pieces[f.function] = piece{k, g}
	}
	sorting.Stable(groups, func(a, b *hotGroup) int {
		return cmp.Or(cmp.Compare(b.Period, a.Period), cmp.Compare(b.Samples, a.Samples), cmp.Compare(a.name.Text, b.name.Text), cmp.Compare(a.addr, b.addr))
	})
	return groups[:min(len(groups), report.MaxHottest)], pieces
}

// described returns what the summary says of functions.
func (r *hotReader) described(groups []*hotGroup) []report.HotFunction {
	hottest := make([]report.HotFunction, 0, len(groups))
	for _, g := range groups {
		hottest = append(hottest, r.describe(g))
	}
	return hottest
}

// read returns a function, or nil if it cannot be read.
func (r *hotReader) read(f functionID) *keptFunction {
	d := r.dumps[f.dump]
	if d == nil {
		return nil
	}
	reader := r.readers[f.dump]
	if reader == nil {
		reader = d.Inspector()
		r.readers[f.dump] = reader
	}
	return keptOf(reader, f.function)
}

// describe returns what the summary says of a function.
func (r *hotReader) describe(g *hotGroup) report.HotFunction {
	d := r.dumps[g.function.dump]
	h := report.HotFunction{
		Name: mangled.WithoutParameters(g.name.Text), Symbol: g.symbol, Tier: g.name.Tier.String(), PID: d.PID, Command: r.rec.CommOf(d.PID),
		Samples: g.Samples, Share: shareOf(g.Weight, r.total), File: g.begins.file, Line: g.begins.line,
	}
	var most recording.Weight
	for at, w := range g.lines {
		if c := cmp.Or(cmp.Compare(w.Period, most.Period), cmp.Compare(w.Samples, most.Samples), cmp.Compare(h.HotFile, at.file), cmp.Compare(h.HotLine, at.line)); c > 0 {
			most, h.HotFile, h.HotLine = w, at.file, at.line
		}
	}
	h.HotSamples = most.Samples
	if most.Samples > 0 {
		h.HotShare = shareOf(most, g.Weight)
	}
	return h
}

// shareOf returns a share of the periods, or of the samples if these have no periods.
func shareOf(part, all recording.Weight) float64 {
	if all.Period == 0 {
		return float64(part.Samples) / float64(max(all.Samples, 1))
	}
	return float64(part.Period) / float64(all.Period)
}

// begins returns where a function begins: as inlined calls have it, or its name, or its first line.
func (k *keptFunction) begins(name tier.Name) place {
	if o := k.origin; o != nil && o.File >= 0 && o.Line > 0 {
		return place{k.files[o.File], int(o.Line)}
	}
	at := place{name.File, name.Line}
	for _, l := range k.lines {
		if l.Line == 0 {
			continue
		}
		if at.file == "" {
			at.file = k.files[l.File]
		}
		if at.line == 0 && at.file == k.files[l.File] {
			at.line = int(l.Line)
		}
		break
	}
	return at
}

// at returns the line at an offset. ok is false if it is unknown.
func (k *keptFunction) at(offset uint32) (at place, ok bool) {
	if offset == noOffset {
		return at, false
	}
	n, found := slices.BinarySearchFunc(k.lines, uint64(offset), func(l jitcode.Line, offset uint64) int { return cmp.Compare(l.Offset, offset) })
	if !found {
		n--
	}
	if n < 0 || k.lines[n].Line == 0 {
		return at, false
	}
	return place{k.files[k.lines[n].File], int(k.lines[n].Line)}, true
}
