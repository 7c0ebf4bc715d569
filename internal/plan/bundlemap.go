package plan

import (
	"cmp"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
)

// This file makes the mappings of bundles.

// A bundleMapper follows which objects each process sees. It adds a mapping wherever a process
// should see another one.
type bundleMapper struct {
	*bundler
	// mapped has the time at which a bundle was mapped.
	mapped map[mappedBundle]uint64
	others map[uint32]*overlaps // by process
	// seen has the object at each address where that is not generation 0 of a bundle.
	seen *places
	// early has the functions that are referenced before they are loaded.
	early map[earlyReference]bool
	// forks has the forks that have to hide such functions, by time.
	forks []earlyFork
	// out has the result.
	out []model.Mapping
}

// A mappedBundle is a bundle that has been mapped as a whole for a program: a process since a
// fork or an exec.
type mappedBundle struct {
	pid    uint32
	since  uint64
	object int
}

// nothing stands for no object.
const nothing = -1

// An earlyFork is the fork of a process that must not see a function which its parent loads
// later.
type earlyFork struct {
	earlyReference
	time uint64
}

func newBundleMapper(b *bundler, early []earlyReference) *bundleMapper {
	m := &bundleMapper{bundler: b, mapped: make(map[mappedBundle]uint64), others: make(map[uint32]*overlaps), seen: newPlaces(&b.rec.ProcessTree), early: make(map[earlyReference]bool)}
	for _, t := range early {
		m.early[t] = true
		for _, born := range b.rec.ProcessTree.ForksOf(t.pid) {
			if born.Clones {
				m.forks = append(m.forks, earlyFork{t, born.Time})
			}
		}
	}
	slices.SortStableFunc(m.forks, func(x, y earlyFork) int { return cmp.Compare(x.time, y.time) })
	return m
}

// mapAll returns the mappings in the order of their times.
func (b *bundleMapper) mapAll() []model.Mapping {
	b.out = make([]model.Mapping, 0, len(b.planner.Objects))
	regions := newRegionMapper(b.bundler, b.add)
	for i := range b.old.Mappings {
		m := b.old.Mappings[i]
		b.born(m.Time)
		o := b.seen.of(m.PID, m.Time)
		switch r := b.of[i]; {
		// The function may be in a region at one address, and elsewhere at another.
		case m.Clear:
			regions.clear(m)
			b.clear(o, m)
		case r < 0:
		case b.placedFunctions[r].region != noRegion:
			regions.show(m, r)
		default:
			b.show(o, m, r)
		}
	}
	b.born(math.MaxUint64)
	slices.SortStableFunc(b.out, ByTimeOfMapping)
	return b.out
}

// born clears functions that their parents see too early from the children that were forked
// before a time.
func (b *bundleMapper) born(before uint64) {
	for ; len(b.forks) > 0 && b.forks[0].time < before; b.forks = b.forks[1:] {
		e := &b.forks[0]
		r := &b.placedFunctions[e.placed]
		for _, hidden := range hide(b.seen.of(e.pid, e.time), r.lo, r.hi) {
			// after the record of the fork
			b.add(model.Mapping{Time: e.time + 1, PID: e.pid, TID: e.pid, Addr: hidden.Lo, Len: hidden.Hi - hidden.Lo, Object: r.object, Clear: true})
		}
	}
}

// hide makes [lo, hi) show nothing where it would show generation 0, and returns those parts.
func hide(o *addrs.Owners, lo, hi uint64) (hidden []addrs.Range) {
	for _, t := range append(o.Within(lo, hi), addrs.Tenancy{Lo: hi, Hi: hi, Owner: nothing}) {
		if lo < t.Lo {
			hidden = append(hidden, addrs.Range{Lo: lo, Hi: t.Lo})
			o.Place(lo, t.Lo, nothing)
		}
		lo = t.Hi
	}
	return hidden
}

// show adds the mappings that are missing for a placed function to be seen from m's time on.
func (b *bundleMapper) show(o *addrs.Owners, m model.Mapping, number int) {
	r := &b.placedFunctions[number]
	obj := &b.planner.Objects[r.object]
	g := &b.rec.ProcessTree
	key := mappedBundle{m.PID, max(g.LastExec(m.PID, m.Time), g.Born(m.PID, m.Time)), r.object}
	m.Object, m.Tables = r.object, 0
	since, mapped := b.mapped[key]
	if !mapped {
		since, m.Tables = m.Time, obj.TablesAt
		b.mapped[key] = since
	}
	implied := r.generation == 0 && !b.blind
	if implied && !mapped {
		b.whole(o, m, obj)
		m.Tables = 0
	}
	if !seenAs(o, r.lo, r.hi, r.object, implied) || mapped && b.intruded(&m, r, obj.Dump, since) {
		b.part(m, r.lo, r.hi, obj)
	}
	if !implied || r.shared || !o.IsEmpty(r.lo, r.hi) {
		o.Place(r.lo, r.hi, r.object)
	}
}

// intruded reports whether something else came to lie over a placed function since its bundle was
// mapped.
func (b *bundleMapper) intruded(m *model.Mapping, r *placed, d *model.Dump, since uint64) bool {
	x := b.others[m.PID]
	if x == nil {
		x = b.overlapsOf(m.PID)
		b.others[m.PID] = x
	}
	return x.between(d, r.lo, r.hi, since, m.Time)
}

// seenAs reports whether all of [lo, hi) is seen as an object. implied says that this is so where
// o has no entry.
func seenAs(o *addrs.Owners, lo, hi uint64, object int, implied bool) bool {
	at := lo
	for _, t := range o.Within(lo, hi) {
		if t.Owner != object || t.Lo > at && !implied {
			return false
		}
		at = t.Hi
	}
	return implied || at >= hi
}

// whole maps all of a bundle. Then it maps again the parts that must show something else.
func (b *bundleMapper) whole(o *addrs.Owners, m model.Mapping, obj *model.Object) {
	b.part(m, obj.Bundle.Region.Low, obj.Bundle.Region.High, obj)
	m.Tables = 0
	for i := range obj.Bundle.Members {
		r := &b.placedFunctions[obj.Bundle.Members[i].Placed]
		if b.early[earlyReference{m.PID, obj.Bundle.Members[i].Placed}] {
			hide(o, r.lo, r.hi)
		}
	}
	for _, t := range o.Within(obj.Bundle.Region.Low, obj.Bundle.Region.High) {
		switch {
		case t.Owner == m.Object:
		case t.Owner == nothing:
			c := m
			c.Clear, c.Addr, c.Len = true, t.Lo, t.Hi-t.Lo
			b.add(c)
		default:
			other := m
			other.Object = t.Owner
			b.part(other, t.Lo, t.Hi, &b.planner.Objects[t.Owner])
		}
	}
}

// part maps [lo, hi) of an object.
func (b *bundleMapper) part(m model.Mapping, lo, hi uint64, obj *model.Object) {
	m.Addr, m.Len, m.Off = lo, hi-lo, lo-obj.CodeAt
	b.add(m)
}

func (b *bundleMapper) add(m model.Mapping) { b.out = append(b.out, m) }

// clear clears a range that code has left.
func (b *bundleMapper) clear(o *addrs.Owners, m model.Mapping) {
	o.Place(m.Addr, m.Addr+m.Len, nothing)
	if m.Object = b.objectOf[m.Object]; m.Object >= 0 {
		b.add(m)
	}
}
