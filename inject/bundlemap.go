package inject

import (
	"cmp"
	"math"
	"slices"
)

// The mappings of bundles.

// A bundleMapper follows what is to be seen in each process, and adds a mapping
// wherever that is not what should be seen.
type bundleMapper struct {
	*bundler
	mapped map[mappedBundle]uint64 // when
	others map[uint32]*intruders   // by process
	seen   *places                 // where something else is seen than the first generation, by object
	early  map[earlyTouch]bool
	births []earlyBirth
	execs  map[uint32]uint64 // the latest of a process
	out    []mapping
}

// A mappedBundle is a bundle that has been mapped as a whole for a program.
type mappedBundle struct {
	pid    uint32
	since  uint64
	object int
}

// nothing is seen, instead of an object.
const nothing = -1

// An earlyBirth is a process that is forked when it is to see nothing where its parent
// has a function later.
type earlyBirth struct {
	earlyTouch
	time uint64
}

func newBundleMapper(b *bundler, early []earlyTouch) *bundleMapper {
	m := &bundleMapper{bundler: b, mapped: make(map[mappedBundle]uint64), others: make(map[uint32]*intruders), execs: make(map[uint32]uint64), seen: newPlaces(&b.rec.genealogy), early: make(map[earlyTouch]bool)}
	for _, t := range early {
		m.early[t] = true
		for _, born := range b.rec.genealogy.of[t.pid] {
			if born.clones {
				m.births = append(m.births, earlyBirth{t, born.time})
			}
		}
	}
	slices.SortStableFunc(m.births, func(x, y earlyBirth) int { return cmp.Compare(x.time, y.time) })
	return m
}

// mapAll returns the mappings in the order of their times.
func (b *bundleMapper) mapAll() []mapping {
	b.out = make([]mapping, 0, len(b.planner.objects))
	regions := newRegionMapper(b.bundler, b.add)
	for i := range b.old.mappings {
		m := b.old.mappings[i]
		b.born(m.time)
		if exec := b.rec.genealogy.lastExec(m.pid, m.time); exec > b.execs[m.pid] {
			b.execs[m.pid] = exec
			b.seen.forget(m.pid, m.time)
		}
		o := b.seen.of(m.pid, m.time)
		switch r := b.of[i]; {
		case m.clear: // of a function that may be in a region at one place and elsewhere at another
			regions.clear(m)
			b.clear(o, m)
		case r < 0:
		case b.residents[r].region != noRegion:
			regions.show(m, r)
		default:
			b.show(o, m, r)
		}
	}
	b.born(math.MaxUint64)
	slices.SortStableFunc(b.out, byTimeOfMapping)
	return b.out
}

// born takes away from the children that were forked before a time what their parents
// see too early.
func (b *bundleMapper) born(before uint64) {
	for ; len(b.births) > 0 && b.births[0].time < before; b.births = b.births[1:] {
		e := &b.births[0]
		r := &b.residents[e.resident]
		for _, hidden := range hide(b.seen.of(e.pid, e.time), r.lo, r.hi) {
			// Behind the record of the fork.
			b.add(mapping{time: e.time + 1, pid: e.pid, tid: e.pid, addr: hidden.lo, len: hidden.hi - hidden.lo, object: r.object, clear: true})
		}
	}
}

// hide sees to it that nothing is seen where the first generation would be, and returns
// where that is.
func hide(o occupancy, lo, hi uint64) (hidden []addrRange) {
	for _, t := range append(o.within(lo, hi), tenancy{hi, hi, nothing}) {
		if lo < t.lo {
			hidden = append(hidden, addrRange{lo, t.lo})
			o.place(lo, t.lo, nothing)
		}
		lo = t.hi
	}
	return hidden
}

// show adds what has to be added for a resident to be seen from m on.
func (b *bundleMapper) show(o occupancy, m mapping, number int) {
	r := &b.residents[number]
	obj := &b.planner.objects[r.object]
	g := &b.rec.genealogy
	key := mappedBundle{m.pid, max(g.lastExec(m.pid, m.time), g.born(m.pid, m.time)), r.object}
	m.object, m.tables = r.object, 0
	since, mapped := b.mapped[key]
	if !mapped {
		since, m.tables = m.time, obj.tablesAt
		b.mapped[key] = since
	}
	implied := r.generation == 0 && !b.blind
	if implied && !mapped {
		b.whole(o, m, obj)
		m.tables = 0
	}
	if !seenAs(o, r.lo, r.hi, r.object, implied) || mapped && b.intruded(&m, r, obj.dump, since) {
		b.part(m, r.lo, r.hi, obj)
	}
	if !implied || r.shared || len(o.within(r.lo, r.hi)) > 0 {
		o.place(r.lo, r.hi, r.object)
	}
}

// intruded reports whether something else came to lie over a resident since its bundle
// was mapped.
func (b *bundleMapper) intruded(m *mapping, r *resident, d *dump, since uint64) bool {
	x := b.others[m.pid]
	if x == nil {
		x = b.intrudersOf(m.pid)
		b.others[m.pid] = x
	}
	return x.between(d, r.lo, r.hi, since, m.time)
}

// seenAs reports whether all of [lo, hi) is seen as an object; implied says that this is
// so where o knows nothing.
func seenAs(o occupancy, lo, hi uint64, object int, implied bool) bool {
	at := lo
	for _, t := range o.within(lo, hi) {
		if t.function != object || t.lo > at && !implied {
			return false
		}
		at = t.hi
	}
	return implied || at >= hi
}

// whole maps all of a bundle, and again what is to be seen instead in parts of it.
func (b *bundleMapper) whole(o occupancy, m mapping, obj *object) {
	b.part(m, obj.bundle.stretch.Low, obj.bundle.stretch.High, obj)
	m.tables = 0
	for i := range obj.bundle.members {
		r := &b.residents[obj.bundle.members[i].resident]
		if b.early[earlyTouch{m.pid, obj.bundle.members[i].resident}] {
			hide(o, r.lo, r.hi)
		}
	}
	for _, t := range o.within(obj.bundle.stretch.Low, obj.bundle.stretch.High) {
		switch {
		case t.function == m.object:
		case t.function == nothing:
			c := m
			c.clear, c.addr, c.len = true, t.lo, t.hi-t.lo
			b.add(c)
		default:
			other := m
			other.object = t.function
			b.part(other, t.lo, t.hi, &b.planner.objects[t.function])
		}
	}
}

// part maps [lo, hi) of an object.
func (b *bundleMapper) part(m mapping, lo, hi uint64, obj *object) {
	m.addr, m.len, m.off = lo, hi-lo, lo-obj.codeAt
	b.add(m)
}

func (b *bundleMapper) add(m mapping) { b.out = append(b.out, m) }

// clear takes away what was seen of a range that code has left.
func (b *bundleMapper) clear(o occupancy, m mapping) {
	o.place(m.addr, m.addr+m.len, nothing)
	if m.object = b.objectOf[m.object]; m.object >= 0 {
		b.add(m)
	}
}
