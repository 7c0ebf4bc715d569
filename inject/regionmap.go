package inject

import (
	"maps"
	"slices"
)

// The mappings of regions. Each function has one of its own, from the image that is in
// force when it is loaded. When another image comes into force, the functions that are
// there get one from that.

// A regionMapper follows which functions and images there are in each process.
type regionMapper struct {
	*bundler
	states inherited[*regionState]
	tabled map[mappedBundle]bool // an object's tables are mapped
	execs  map[uint32]uint64     // the latest of a process
	add    func(mapping)
}

// A regionState is that of a process: the image in force of each region, and the
// residents that are there.
type regionState struct {
	images map[int]int
	there  occupancy
}

func newRegionMapper(b *bundler, add func(mapping)) *regionMapper {
	return &regionMapper{
		bundler: b, tabled: make(map[mappedBundle]bool), execs: make(map[uint32]uint64), add: add,
		states: inherited[*regionState]{
			genealogy: &b.rec.genealogy,
			make:      func() *regionState { return &regionState{make(map[int]int), make(occupancy)} },
			clone:     func(s *regionState) *regionState { return &regionState{maps.Clone(s.images), s.there.clone()} },
		},
	}
}

// stateOf returns the state of a process at a time.
func (b *regionMapper) stateOf(pid uint32, time uint64) *regionState {
	if exec := b.rec.genealogy.lastExec(pid, time); exec > b.execs[pid] {
		b.execs[pid] = exec
		b.states.forget(pid, time)
	}
	return b.states.of(pid, time)
}

// show adds the mappings for a resident to be seen from m on.
func (b *regionMapper) show(m mapping, number int) {
	s := b.stateOf(m.pid, m.time)
	r := &b.residents[number]
	region := b.regions[r.region]
	if region.copied != (addrRange{}) {
		if _, mapped := s.images[r.region]; !mapped {
			s.images[r.region] = 0
			b.part(m, region, 0, number, region.copied.lo, region.copied.hi)
		}
		return
	}
	now, ok := s.images[r.region]
	next := region.imageWith(b.bundler, number, now)
	if !ok || next != now {
		s.images[r.region] = next
		lo, hi := b.residents[region.residents[0]].lo, b.endOf(region)
		for _, t := range s.there.within(lo, hi) {
			if t.function != number && t.function != nothing {
				b.part(m, region, next, t.function, t.lo, t.hi)
			}
		}
	}
	s.there.place(r.lo, r.hi, number)
	b.part(m, region, next, number, r.lo, r.hi)
}

// imageWith returns the image that shows a resident: the first that has it, from one on,
// or else the last one before, which code that moves back needs.
func (r *region) imageWith(b *bundler, resident, from int) int {
	for i := from; i < len(r.images); i++ {
		if r.images[i].find(b, resident) >= 0 {
			return i
		}
	}
	for i := from - 1; i > 0; i-- {
		if r.images[i].find(b, resident) >= 0 {
			return i
		}
	}
	return 0
}

// part maps [lo, hi) of a resident from an image, if the image has it.
func (b *regionMapper) part(m mapping, region *region, number, resident int, lo, hi uint64) {
	i := region.images[number].find(b.bundler, resident)
	if i < 0 {
		return
	}
	m.object = region.images[number].objects[i]
	o := &b.planner.objects[m.object]
	m.addr, m.len, m.off, m.tables = lo, hi-lo, lo-o.codeAt, 0
	g := &b.rec.genealogy
	if key := (mappedBundle{m.pid, max(g.lastExec(m.pid, m.time), g.born(m.pid, m.time)), m.object}); !b.tabled[key] {
		b.tabled[key] = true
		m.tables = o.tablesAt
	}
	b.add(m)
}

// find returns the index of a resident in an image, or -1.
func (m *image) find(b *bundler, resident int) int {
	i, ok := slices.BinarySearchFunc(m.residents, b.residents[resident].lo, func(i int, lo uint64) int {
		switch at := b.residents[i].lo; {
		case at < lo:
			return -1
		case at > lo:
			return 1
		}
		return 0
	})
	if !ok || m.residents[i] != resident {
		return -1
	}
	return i
}

// clear notes that code has left a range.
func (b *regionMapper) clear(m mapping) {
	b.stateOf(m.pid, m.time).there.place(m.addr, m.addr+m.len, nothing)
}
