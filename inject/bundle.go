package inject

import (
	"cmp"
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/jitobj"
)

// Another layout of the plan: one object for all functions of a stretch of memory,
// instead of one for each. Its .text is that memory as it was, and one mapping says
// where it is, from the time on at which its first function was there. Where stacks are
// unwound, there are regions as well (regions.go).
//
// Where an address is used again, or code moves, one image is not enough. Functions
// that share addresses are put into generations: the first of them, in the order of
// time, into the image that shows everything else as well, and each other one into
// the first generation in which its addresses are free. A generation but the first is
// mapped function by function, when they are loaded.

// A resident is a function at one address.
type resident struct {
	function   int // object of the plan with an object for each function
	lo, hi     uint64
	pid        uint32 // that has it first
	time       uint64 // since when
	generation int
	shared     bool      // other functions have its addresses at other times
	noCode     bool      // its bytes are unknown
	object     int       // of the new plan
	region     int       // index in the bundler's regions, or noRegion
	seat       int       // index in its region's list; set by newSeating
	copied     addrRange // the mapping of a file that it is in a copy of, or empty
}

// noRegion is the region of a resident that is in none.
const noRegion = -1

// A bundler makes a plan with bundles of one with an object for each function.
type bundler struct {
	whole     bool // --bundle: neighbouring regions share an object
	regions   []*region
	apart     []dumpRegions // in recordings with copies of stacks
	rec       *recording
	planner   *planner
	old       *plan
	residents []resident
	of        []int // by mapping of the old plan, its resident, or -1
	objectOf  []int // by function, an object that has it, or -1
	dumps     map[*dump][]int
	dumpsOf   map[uint32][]*dump // that a process has code of
	pids      map[*dump][]uint32 // the other way round
	taken     []addrRange        // functions and blank tables, in the order of their addresses; nil before behind
	blind     bool               // nobody knows what is touched
}

// A place is a function at an address.
type place struct {
	function int
	addr     uint64
}

const (
	// maxHole is the longest stretch of memory without functions that a bundle spans.
	// It costs nothing in the file, but other things may be in there.
	maxHole = 1 << 20

	// maxPadding is the longest one that is nobody's: what alignment and headers of
	// objects leave between functions.
	maxPadding = 256

	// maxStretch bounds what a bundle spans: offsets in unwind tables have 32 bits.
	maxStretch = 512 << 20
)

// maxTries bounds how many generations are tried for a function: where one address is used
// again for ever, there is one for each.
const maxTries = 64

// maxMembers bounds how many functions a bundle has where stacks are not unwound, and
// nothing depends on it. perf starts an addr2line for each file that it wants lines of, which
// is for fewer files; but that of binutils goes through all symbols of the file for every
// answer. In between is what takes least.
const maxMembers = 512

// bundle replaces the plan by one with bundles: as few as possible, or else one for each
// image of a region.
func (p *planner) bundle(ctx context.Context, whole bool) error {
	old := p.plan
	p.plan = plan{}
	b := &bundler{
		whole: whole, rec: p.rec, planner: p, old: &old,
		dumps:   make(map[*dump][]int),
		dumpsOf: make(map[uint32][]*dump),
		pids:    make(map[*dump][]uint32),
	}
	b.settle()
	for _, d := range p.dumps {
		b.layOut(d.dump)
	}
	if err := b.settleCrowds(ctx, b.apart); err != nil {
		return err
	}
	for i := range b.apart {
		b.layOutRegions(&b.apart[i])
	}
	early, err := b.findEarly(ctx)
	if err != nil {
		return err
	}
	p.mappings = newBundleMapper(b, early).mapAll()
	return nil
}

// settle finds the residents.
func (b *bundler) settle() {
	b.residents = make([]resident, 0, len(b.old.objects))
	b.of = make([]int, len(b.old.mappings))
	b.objectOf = make([]int, len(b.old.objects))
	for i := range b.objectOf {
		b.objectOf[i] = -1
	}
	first := slices.Clone(b.objectOf) // resident of a function
	others := make(map[place]int)
	for i := range b.old.mappings {
		m := &b.old.mappings[i]
		b.of[i] = -1
		if m.clear || m.len == 0 || m.addr+m.len < m.addr {
			continue
		}
		if d := b.old.objects[m.object].dump; !slices.Contains(b.dumpsOf[m.pid], d) {
			b.dumpsOf[m.pid] = append(b.dumpsOf[m.pid], d)
			b.pids[d] = append(b.pids[d], m.pid)
		}
		r, ok := first[m.object], first[m.object] >= 0
		if ok && b.residents[r].lo != m.addr {
			r, ok = others[place{m.object, m.addr}]
		}
		if ok {
			b.of[i] = r // the mappings are in the order of their times: it was there before
			continue
		}
		r = len(b.residents)
		b.of[i] = r
		if first[m.object] < 0 {
			first[m.object] = r
		} else {
			others[place{m.object, m.addr}] = r
		}
		d := b.old.objects[m.object].dump
		b.dumps[d] = append(b.dumps[d], r)
		b.residents = append(b.residents, resident{
			function: m.object, lo: m.addr, hi: m.addr + m.len, pid: m.pid, time: m.time,
			noCode: !d.hasCode(b.old.objects[m.object].function), region: noRegion, copied: m.copied,
		})
	}
}

// layOut divides the residents of a dump among objects.
func (b *bundler) layOut(d *dump) {
	list := b.dumps[d]
	slices.SortFunc(list, func(i, j int) int {
		x, y := &b.residents[i], &b.residents[j]
		return cmp.Or(cmp.Compare(x.lo, y.lo), cmp.Compare(x.hi, y.hi), cmp.Compare(x.time, y.time), cmp.Compare(i, j))
	})
	walls, absent := b.wallsOf(d), b.old.absent[d]
	slices.SortFunc(absent, func(x, y addrRange) int { return cmp.Compare(x.lo, y.lo) })
	// Where another dump has functions, too, each has an object of its own.
	list = slices.DeleteFunc(slices.Clone(list), func(r int) bool {
		alone := isWalled(walls.code, b.residents[r].lo, b.residents[r].hi)
		if alone {
			b.residents[r].shared = true
			b.addObject(d, []int{r})
		}
		return alone
	})
	if b.rec.copiesStacks() {
		b.apart = append(b.apart, dumpRegions{d, b.regionsOf(d, list), walls, absent})
		return
	}
	for len(list) > 0 {
		together := list[:b.stretch(list, walls, absent)]
		list = list[len(together):]
		for len(together) > 0 {
			n := b.cut(together)
			b.divide(d, together[:n])
			together = together[n:]
		}
	}
}

// stretch returns how many of the residents, which are in order, one bundle can be for.
// absent are functions that are not to be in it, but could be.
func (b *bundler) stretch(list []int, walls walls, absent []addrRange) int {
	first, end := b.residents[list[0]].lo, b.residents[list[0]].hi
	for n := 1; n < len(list); n++ {
		r := &b.residents[list[n]]
		reach := end
		for ; len(absent) > 0 && absent[0].lo < r.lo; absent = absent[1:] {
			if absent[0].lo <= reach+maxPadding {
				reach = max(reach, absent[0].hi)
			}
		}
		walled := r.lo > end && isWalled(walls.code, end, r.lo) ||
			r.lo > reach+maxPadding && (r.lo-reach > maxHole || isWalled(walls.files, reach, r.lo))
		if walled || r.hi-first > maxStretch && r.lo >= end {
			return n
		}
		end = max(end, r.hi)
	}
	return len(list)
}

// divide gives the residents of a stretch their generations, and those objects.
func (b *bundler) divide(d *dump, list []int) {
	var generations [][]int
	for len(list) > 0 {
		n := b.cluster(list)
		if n > 1 {
			b.assign(list[:n])
		}
		for _, r := range list[:n] {
			g := b.residents[r].generation
			for len(generations) <= g {
				generations = append(generations, nil)
			}
			generations[g] = append(generations[g], r)
		}
		list = list[n:]
	}
	for _, members := range generations {
		b.addObject(d, members)
	}
}

// cut returns how many of the residents the first bundle of them is for. If they are too
// many, the cut is made in the longest hole that comes when it is half full.
func (b *bundler) cut(list []int) (n int) {
	if len(list) <= maxMembers {
		return len(list)
	}
	end, longest := uint64(0), uint64(0)
	for i, r := range list {
		lo := b.residents[r].lo
		if i >= maxMembers/2 && lo >= end && (n == 0 || i < maxMembers && lo-end > longest) {
			n, longest = i, lo-end
		}
		if i >= maxMembers && n > 0 {
			return n
		}
		end = max(end, b.residents[r].hi)
	}
	return len(list) // they share addresses, from first to last
}

// cluster returns how many of the residents, from the first on, share addresses with
// each other, directly or not.
func (b *bundler) cluster(list []int) int {
	end := b.residents[list[0]].hi
	for n := 1; n < len(list); n++ {
		r := &b.residents[list[n]]
		if r.lo >= end {
			return n
		}
		end = max(end, r.hi)
	}
	return len(list)
}

// assign gives residents that share addresses their generations.
func (b *bundler) assign(cluster []int) {
	byTime := slices.Clone(cluster)
	slices.SortStableFunc(byTime, func(i, j int) int { return cmp.Compare(b.residents[i].time, b.residents[j].time) })
	var taken []occupied
	for _, i := range byTime {
		r := &b.residents[i]
		r.shared = true
		for g := max(0, len(taken)-maxTries); ; g++ {
			if g == len(taken) {
				taken = append(taken, nil)
			}
			if taken[g].take(r.lo, r.hi) {
				r.generation = g
				break
			}
		}
	}
}

// occupied are addresses in use, in order and apart.
type occupied []addrRange

// take occupies [lo, hi) if all of it is free.
func (o *occupied) take(lo, hi uint64) bool {
	i, _ := slices.BinarySearchFunc(*o, lo, func(x addrRange, lo uint64) int {
		if x.hi <= lo {
			return -1
		}
		return 1
	})
	if i < len(*o) && (*o)[i].lo < hi {
		return false
	}
	*o = slices.Insert(*o, i, addrRange{lo, hi})
	return true
}

// addObject adds the object for some residents of one generation, which are in the
// order of their addresses. Where the bytes of some are known and those of others are
// not, it is several objects: no reader may take what is missing for instructions.
func (b *bundler) addObject(d *dump, members []int) {
	for len(members) > 0 {
		noCode := b.residents[members[0]].noCode
		n := slices.IndexFunc(members, func(r int) bool { return b.residents[r].noCode != noCode })
		if n < 0 {
			n = len(members)
		}
		b.addOne(d, members[:n], noCode)
		members = members[n:]
	}
}

// addOne adds one object, from the first resident to the last. The result is valid until the
// next call.
func (b *bundler) addOne(d *dump, members []int, noCode bool) *object {
	p := b.planner
	first, last := &b.residents[members[0]], &b.residents[members[len(members)-1]]
	o := object{
		dump: d, pid: b.old.objects[first.function].pid,
		bundle: &bundle{make([]member, len(members)), jitobj.Stretch{Low: first.lo, High: last.hi, NoCode: noCode}},
	}
	o.codeAt = o.bundle.stretch.Base()
	room := uint64(0)
	for i, r := range members {
		m := &b.residents[r]
		m.object = len(p.objects)
		f := &b.old.objects[m.function]
		again := b.objectOf[m.function] >= 0
		b.objectOf[m.function] = m.object
		room += tableRoom(m.hi-m.lo, f.sent)
		o.bundle.members[i] = member{f.function, r, m.lo, again}
	}
	if b.rec.copiesStacks() {
		o.placed, o.room = true, room
		o.tablesAt = p.rooms.take(d, last.hi, room, 0)
		if o.tablesAt != 0 && o.tablesAt+room-o.codeAt > reach {
			o.tablesAt = 0
		}
		if o.tablesAt == 0 {
			o.tablesAt, o.room = b.behind(d, last.hi), blankRoom
		}
	}
	p.objects = append(p.objects, o)
	return &p.objects[len(p.objects)-1]
}

// reach sets the address at which a bundle begins.
func (o *object) reach(low uint64) {
	o.bundle.stretch.Low = low
	o.codeAt = o.bundle.stretch.Base()
}
