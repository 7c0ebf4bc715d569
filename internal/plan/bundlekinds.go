package plan

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/report"
	"github.com/jitinject/jitinject/internal/source"
)

// perf 6.12 and 7.2 look at a whole file before they ask for a line. If it has no .debug_line, they
// show the place in the symbol; if it has, and not for the address, they show "??:0". perf 6.12
// confuses all lines of a file after a function with bytes beyond ASCII in its names. So functions
// of different kinds are in different bundles. Only referenced functions count: perf asks for no
// other lines.

// A kind is what a bundle must not mix.
type kind uint8

const (
	anyKind    kind = iota // not referenced, and without lines: goes with both others
	withLines              // has lines, or may have some and is not referenced
	withoutAny             // is referenced and has no lines
	confusing              // is referenced and has lines, and names with bytes beyond ASCII
)

// A lineInspector tells which functions of a dump have lines.
type lineInspector struct {
	may    func(function int) bool // whether it may have some
	reader source.FunctionReader
}

// inspector returns the inspector of a dump.
func (b *bundler) inspector(d *model.Dump) lineInspector {
	in, ok := b.lines[d]
	if !ok {
		in = lineInspector{d.MayHaveLines, d.Inspector()}
		b.lines[d] = in
	}
	return in
}

// kindOf returns the kind of a unit. A region has lines if any of its functions does.
func (b *bundler) kindOf(d *model.Dump, in *lineInspector, u unit) kind {
	function := func(r int) int { return int(b.in.List[b.placedFunctions[r].function()].Number) }
	isReferenced := b.blind || slices.ContainsFunc(u.members, func(r int) bool { return b.placedFunctions[r].has(referenced) })
	may := slices.ContainsFunc(u.members, func(r int) bool { return in.may(function(r)) })
	switch {
	case !isReferenced && !may:
		return anyKind
	case !isReferenced:
		return withLines
	case !may:
		return withoutAny
	}
	k := withoutAny
	for _, r := range u.members {
		if !in.may(function(r)) {
			continue
		}
		fn, err := in.reader.Function(function(r))
		b.reportUnread(d, in.reader, err)
		if err != nil || len(fn.Lines)+len(fn.Inlines) == 0 {
			continue
		}
		k = withLines
		if (b.blind || b.placedFunctions[r].has(referenced)) && isBeyondASCII(fn) {
			return confusing
		}
	}
	return k
}

// reportUnread adds problems of reading a function: its bundle may have another kind than it should.
// Mostly, making the object adds the same again, which is shown once.
func (b *bundler) reportUnread(d *model.Dump, r source.FunctionReader, err error) {
	if err != nil {
		b.unread.Problem(d.Damage(-1, err.Error()))
	}
	for _, p := range r.TakeProblems() {
		b.unread.Problem(d.Damage(p.Offset, p.Text))
	}
}

// isBeyondASCII reports whether a name of a function, its files or its inlined calls has bytes
// beyond ASCII.
func isBeyondASCII(fn *jitcode.Function) bool {
	beyond := func(r rune) bool { return r >= utf8.RuneSelf }
	return bytes.ContainsFunc(fn.Name, beyond) ||
		slices.ContainsFunc(fn.Files, func(name string) bool { return strings.ContainsFunc(name, beyond) }) ||
		slices.ContainsFunc(fn.Origins, func(o jitcode.Origin) bool { return bytes.ContainsFunc(o.Name, beyond) })
}

// divideRuns divides all runs among objects. If each function is at one address, objects do not depend on those before:
// then all CPUs do that.
func (b *bundler) divideRuns(ctx context.Context) error {
	workers := []*bundler{b}
	for b.once && !b.rec.CopiesStacks() && len(workers) < runtime.GOMAXPROCS(0) {
		w := *b
		w.plan, w.pieces, w.lines, w.unread = new(model.Plan), nil, make(map[*model.Dump]lineInspector), new(report.Findings)
		workers = append(workers, &w)
	}
	runs := func(n int) []run { return b.runs[len(b.runs)*n/len(workers) : len(b.runs)*(n+1)/len(workers)] }
	var group sync.WaitGroup
	for n, w := range workers {
		group.Go(func() {
			for list := runs(n); len(list) > 0 && ctx.Err() == nil; list = list[1:] {
				w.divide(&list[0])
			}
		})
	}
	group.Wait()
	for n, w := range workers[1:] {
		before := int32(len(b.plan.Objects))
		b.plan.Objects, b.pieces = append(b.plan.Objects, w.plan.Objects...), append(b.pieces, w.pieces...)
		b.unread.Add(*w.unread)
		group.Go(func() {
			for _, r := range runs(n + 1) {
				for _, i := range r.members {
					p := &b.placedFunctions[i]
					if p.object >= 0 {
						p.object += before
						b.objectOf[p.function()] = p.object
					}
				}
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

// divide divides a run among objects.
func (b *bundler) divide(r *run) {
	if len(r.regions) == 1 {
		b.addObject(r.dump, r.members)
		return
	}
	var members []int
	of, in := anyKind, b.inspector(r.dump)
	flush := func() {
		if len(members) > 0 {
			b.addObject(r.dump, members)
		}
		members, of = members[:0], anyKind
	}
	for i := range r.units() {
		u := r.unit(i)
		k := b.kindOf(r.dump, &in, u)
		if k != anyKind && of != anyKind && k != of {
			flush()
		}
		// Where a gap is too small for the head of another object, parts of one object are
		// better: hotspot loses names in code below that head.
		small := i+1 < r.units() && b.gap(u, r.unit(i+1)) < regionGap
		begins := u.members[0] // the object
		if len(members) > 0 {
			begins = members[0]
		}
		parts := func() bool { return b.hasHead(r.dump, begins) }
		if k == confusing || !b.blind && !b.isWhole(u) && !(u.region == nil && (small || len(members) > 0 && b.gap(r.unit(i-1), u) < regionGap) && parts()) {
			flush()
			if u.region == nil {
				b.addSingle(r.dump, u.members[0])
			} else {
				b.addObject(r.dump, u.members)
			}
			continue
		}
		members = append(members, u.members...)
		if k != anyKind {
			of = k
		}
		if !b.blind && b.placedFunctions[u.members[len(u.members)-1]].has(gapAfter) && !(small && parts()) {
			flush()
		}
	}
	flush()
}

// gap returns the number of bytes between two consecutive units.
func (b *bundler) gap(u, next unit) uint64 {
	return b.placedFunctions[next.members[0]].lo() - b.placedFunctions[u.members[len(u.members)-1]].hi()
}

// isWhole reports whether one mapping may show all of a unit.
func (b *bundler) isWhole(u unit) bool {
	for i, r := range u.members {
		if p := &b.placedFunctions[r]; p.has(early) || p.has(gapAfter) && i < len(u.members)-1 {
			return false
		}
	}
	return true
}
