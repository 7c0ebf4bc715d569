package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A process may have code of several dumps, such as a dump and a map that fills its gaps, or a dump of its own
// and its parent's. Their functions may lie between each other. To libdw, modules of a process overlap, whichever
// dump they are made from. So regions of different dumps are joined where their modules would overlap.

// findSharers finds, for each dump, those with code in the same processes, as far as these inherited memory from
// each other. If a process ran several programs, a join is superfluous, but these rarely have code at one place.
func (b *bundler) findSharers() {
	b.sharers = make(map[*model.Dump][]*model.Dump)
	add := func(d, other *model.Dump) {
		if !slices.Contains(b.sharers[d], other) {
			b.sharers[d] = append(b.sharers[d], other)
		}
	}
	for _, d := range b.functions.dumps {
		for _, pid := range b.spaceGroup(d) {
			for _, other := range b.dumpsOf[pid] {
				if other != d {
					add(d, other)
					add(other, d)
				}
			}
		}
	}
}

// sources returns the dumps of a region's functions.
func (r *region) sources() []*model.Dump {
	if r.dumps != nil {
		return r.dumps
	}
	return []*model.Dump{r.dump}
}

// hasSources reports whether several sources describe functions of a region. Then some may have code and others not.
func (r *region) hasSources() bool { return r.dumps != nil || len(r.dump.Parts) > 0 }

// joinDumps joins regions of different dumps. A joined region may need more space before it, and meet others.
func (b *bundler) joinDumps() {
	for len(b.sharers) > 0 && b.joinOnce() {
	}
}

// dumpOf returns the dump of a placed function.
func (b *bundler) dumpOf(number int) *model.Dump {
	return b.in.List[b.placedFunctions[number].function()].Dump
}

// A joint has regions to be joined, their dumps, and their addresses.
type joint struct {
	regions []*region
	dumps   []*model.Dump
	addrs.Range
}

// joinOnce joins regions whose modules would overlap, and reports whether there were any.
func (b *bundler) joinOnce() (joined bool) {
	joints := make(map[*region]*joint)
	var all []*region
	for i := range b.apart {
		if of := &b.apart[i]; len(b.sharers[of.dump]) > 0 {
			for _, r := range of.regions {
				all = append(all, r)
				joints[r] = &joint{[]*region{r}, r.sources(), addrs.Range{Lo: b.lo(r), Hi: r.end}}
			}
		}
	}
	sorting.Stable(all, func(x, y *region) int { return cmp.Compare(b.moduleLow(x), b.moduleLow(y)) })
	var open []*region // those before r that end after the beginning of its module
	for _, r := range all {
		open = slices.DeleteFunc(open, func(o *region) bool { return o.end <= b.moduleLow(r) })
		for _, o := range open {
			to, from := joints[o], joints[r]
			both := addrs.Range{Lo: min(to.Lo, from.Lo), Hi: max(to.Hi, from.Hi)}
			if to == from || o.copied != r.copied || both.Hi-both.Lo > maxSpan || !b.fit(to, from) {
				continue
			}
			if len(to.regions) < len(from.regions) {
				to, from = from, to
			}
			to.regions, to.dumps, to.Range, joined = append(to.regions, from.regions...), union(to.dumps, from.dumps), both, true
			for _, of := range from.regions {
				joints[of] = to
			}
		}
		open = append(open, r)
	}
	if joined {
		b.replaceJoined(joints)
	}
	return joined
}

// replaceJoined puts a region in the place of those of each joint.
func (b *bundler) replaceJoined(joints map[*region]*joint) {
	made := make(map[*joint]bool)
	at := make(map[*model.Dump]int)
	var joined []*region
	for i := range b.apart {
		of := &b.apart[i]
		at[of.dump] = i
		of.regions = slices.DeleteFunc(of.regions, func(r *region) bool {
			j := joints[r]
			if j == nil || len(j.regions) == 1 {
				return false
			}
			if !made[j] {
				made[j] = true
				joined = append(joined, b.join(j))
			}
			return true
		})
	}
	for _, r := range joined {
		of := &b.apart[at[r.dump]]
		of.regions = append(of.regions, r)
	}
	for i := range b.apart {
		sorting.Stable(b.apart[i].regions, func(x, y *region) int { return cmp.Compare(b.lo(x), b.lo(y)) })
	}
}

// join returns the region of a joint.
func (b *bundler) join(j *joint) *region {
	r := &region{dumps: j.dumps, end: j.Hi, copied: j.regions[0].copied, placedFunctions: b.functionsOf(j.regions)}
	sorting.By(r.dumps, func(x, y *model.Dump) int { return cmp.Compare(x.Number, y.Number) })
	r.dump, r.wanted = r.dumps[0], b.replacements(r.placedFunctions)+1
	if r.copied != (addrs.Range{}) {
		r.images = []image{{placedFunctions: r.placedFunctions}}
	}
	return r
}

// functionsOf returns the functions of regions, by address.
func (b *bundler) functionsOf(regions []*region) (list []int) {
	for _, r := range regions {
		list = append(list, r.placedFunctions...)
	}
	slices.SortFunc(list, b.byAddress)
	return list
}

// moduleLow returns the lowest address at which an image of a region may begin.
func (b *bundler) moduleLow(r *region) uint64 { return b.lo(r) - min(b.lo(r), r.gapBelow()) }

// fit reports whether one process may have the functions of two joints, and one object can. Children of a
// process do not share what they load after the fork, though each shares its parent's.
func (b *bundler) fit(x, y *joint) bool {
	for _, d := range x.dumps {
		for _, e := range y.dumps {
			s, t := d.Source.Target(), e.Source.Target()
			// HighAddress decides between 32 and 64 bits on some machines.
			alike := s.Machine == t.Machine && s.Order == t.Order && (s.HighAddress > math.MaxUint32) == (t.HighAddress > math.MaxUint32)
			if d != e && !(alike && slices.Contains(b.sharers[d], e)) {
				return false
			}
		}
	}
	// A copy of a file is mapped as a whole, with one image.
	isCopy := x.regions[0].copied != (addrs.Range{})
	return !isCopy || !b.hasOverlaps(b.functionsOf(append(slices.Clone(x.regions), y.regions...)))
}

// union returns the dumps of two lists.
func union(x, y []*model.Dump) []*model.Dump {
	all := slices.Clone(x)
	for _, d := range y {
		if !slices.Contains(all, d) {
			all = append(all, d)
		}
	}
	return all
}

// narrow lowers the gap before a region to the functions of other dumps that lie there.
func (b *bundler) narrow(r *region) {
	lo := b.lo(r)
	for _, d := range r.sources() {
		for _, other := range b.sharers[d] {
			if end, ok := b.below(other, lo); ok {
				r.gap = min(r.gap, lo-min(lo, end))
			}
		}
	}
}
