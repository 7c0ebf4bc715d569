package plan

import (
	"cmp"
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/codebytes"
	"github.com/jitinject/jitinject/internal/jitobj"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// Another layout of the plan has one object for all functions of a run of memory. Its .text is
// that memory as it was. One mapping covers it, from the time of its first function on. In
// recordings with copies of stacks, there are regions as well (regions.go).
//
// Where an address is used again, or code moves, one image is not enough. So functions that share
// addresses are divided among generations, in the order of their times. The first one goes into
// generation 0, which has everything else as well. Each other one goes into the first generation
// in which its addresses are free. Functions of later generations are mapped one by one, when
// they are loaded.

// A placed is a placed function: a function at one address.
type placed struct {
	function int // index in the objects of the old plan, which has one for each function
	// The code is at [lo, hi).
	lo, hi uint64
	pid    uint32 // the first process that has it
	time   uint64 // when that process loaded it
	// generation is 0 for a function that is mapped with its bundle. Others are mapped one by
	// one.
	generation int
	shared     bool // other functions have its addresses at other times
	noCode     bool // its bytes are unknown
	object     int  // index in the objects of the new plan
	region     int  // index in the bundler's regions, or noRegion
	seat       int  // index in its region's list; set by newSeating
	// copied is the mapping that it lies in, if that is a copy of a part of a file, or else
	// empty.
	copied addrs.Range
}

// noRegion is the region of a placed function that is in none.
const noRegion = -1

// A bundler makes a plan with bundles from one with an object for each function.
type bundler struct {
	whole   bool // --bundle: neighbouring regions share an object
	regions []*region
	// in recordings with copies of stacks: the regions of each dump
	apart           []dumpRegions
	rec             *recording.Recording
	planner         *Planner
	old             *model.Plan
	placedFunctions []placed
	// of has the placed function of each mapping of the old plan, or -1.
	of []int
	// objectOf has an object of the new plan for each object of the old one, or -1.
	objectOf []int
	// dumps has the placed functions of each dump, by address after layOut.
	dumps map[*model.Dump][]int
	// dumpsOf has, by process, the dumps with code in it.
	dumpsOf map[uint32][]*model.Dump
	// mappingsOf has the mappings of the old plan by process, for those with several dumps.
	// It is nil before the first call of overlapsOf.
	mappingsOf map[uint32][]int
	// pids has, by dump, the processes that have code of it.
	pids map[*model.Dump][]uint32
	// taken has the addresses of functions and blank tables, and gaps between them that are
	// too small for a blank table. It is nil before the first call of behind.
	taken *addrs.Owners
	blind bool // the references of samples are unknown
}

// A place is a function at an address. The function is an object of the old plan.
type place struct {
	function int
	addr     uint64
}

const (
	// maxHole is the longest gap without functions that a bundle spans, in bytes. A gap costs
	// nothing in the file, but other things may be mapped there.
	maxHole = 1 << 20

	// maxPadding is the longest gap that is padding, in bytes: alignment and headers of
	// objects leave it between functions.
	maxPadding = 256

	// maxSpan bounds the addresses that a bundle spans, in bytes: offsets in unwind tables
	// have 32 bits.
	maxSpan = 512 << 20
)

// maxTries bounds the generations that are tried for a function. An address that is used again
// and again needs one generation for each use.
const maxTries = 64

// maxMembers bounds the functions of a bundle where stacks are not unwound, so that the division
// is free. perf starts an addr2line for each file whose lines it wants, which favours fewer
// files. But addr2line of binutils goes through all symbols of the file for every answer. This
// value takes the least time.
const maxMembers = 512

// Bundle replaces the plan by one with bundles. With whole, they are as few as possible; without,
// there is one for each image of a region. Errors are ctx's or those of reading the recording.
func (p *Planner) Bundle(ctx context.Context, whole bool) error {
	old := p.Plan
	p.Plan = model.Plan{}
	b := &bundler{
		whole: whole, rec: p.rec, planner: p, old: &old,
		dumps:   make(map[*model.Dump][]int),
		dumpsOf: make(map[uint32][]*model.Dump),
		pids:    make(map[*model.Dump][]uint32),
	}
	b.finish()
	for _, d := range p.dumps {
		b.layOut(d.Dump)
	}
	if err := b.placeCrowds(ctx, b.apart); err != nil {
		return err
	}
	for i := range b.apart {
		b.layOutRegions(&b.apart[i])
	}
	early, err := b.findEarly(ctx)
	if err != nil {
		return err
	}
	p.Mappings = newBundleMapper(b, early).mapAll()
	return nil
}

// finish finds the placed functions.
func (b *bundler) finish() {
	b.placedFunctions = make([]placed, 0, len(b.old.Objects))
	b.of = make([]int, len(b.old.Mappings))
	b.objectOf = make([]int, len(b.old.Objects))
	for i := range b.objectOf {
		b.objectOf[i] = -1
	}
	// first is the first placed function of each object, or -1.
	first := slices.Clone(b.objectOf)
	others := make(map[place]int)
	hasCode := make(map[processDump]bool)
	for i := range b.old.Mappings {
		m := &b.old.Mappings[i]
		b.of[i] = -1
		if m.Clear || m.Len == 0 || m.Addr+m.Len < m.Addr {
			continue
		}
		if d := b.old.Objects[m.Object].Dump; !hasCode[processDump{m.PID, d}] {
			hasCode[processDump{m.PID, d}] = true
			b.dumpsOf[m.PID] = append(b.dumpsOf[m.PID], d)
			b.pids[d] = append(b.pids[d], m.PID)
		}
		r, ok := first[m.Object], first[m.Object] >= 0
		if ok && b.placedFunctions[r].lo != m.Addr {
			r, ok = others[place{m.Object, m.Addr}]
		}
		if ok {
			b.of[i] = r // mappings are in the order of their times: it was there before
			continue
		}
		r = len(b.placedFunctions)
		b.of[i] = r
		if first[m.Object] < 0 {
			first[m.Object] = r
		} else {
			others[place{m.Object, m.Addr}] = r
		}
		d := b.old.Objects[m.Object].Dump
		b.dumps[d] = append(b.dumps[d], r)
		b.placedFunctions = append(b.placedFunctions, placed{
			function: m.Object, lo: m.Addr, hi: m.Addr + m.Len, pid: m.PID, time: m.Time,
			noCode: !codebytes.HasCode(d, b.old.Objects[m.Object].Function), region: noRegion, copied: m.Copied,
		})
	}
}

// A processDump is a dump with code in a process.
type processDump struct {
	pid  uint32
	dump *model.Dump
}

// layOut divides the placed functions of a dump among objects.
func (b *bundler) layOut(d *model.Dump) {
	list := b.dumps[d]
	slices.SortFunc(list, func(i, j int) int {
		x, y := &b.placedFunctions[i], &b.placedFunctions[j]
		return cmp.Or(cmp.Compare(x.lo, y.lo), cmp.Compare(x.hi, y.hi), cmp.Compare(x.time, y.time), cmp.Compare(i, j))
	})
	reserved, absent := b.reservedOf(d), b.old.Absent[d]
	slices.SortFunc(absent, func(x, y addrs.Range) int { return cmp.Compare(x.Lo, y.Lo) })
	// A function where another dump has functions, too, gets an object of its own.
	list = slices.DeleteFunc(slices.Clone(list), func(r int) bool {
		alone := isWalled(reserved.code, b.placedFunctions[r].lo, b.placedFunctions[r].hi)
		if alone {
			b.placedFunctions[r].shared = true
			b.addObject(d, []int{r})
		}
		return alone
	})
	if b.rec.CopiesStacks() {
		b.apart = append(b.apart, dumpRegions{d, b.regionsOf(d, list), reserved, absent})
		return
	}
	for len(list) > 0 {
		together := list[:b.span(list, reserved, absent)]
		list = list[len(together):]
		for len(together) > 0 {
			n := b.cut(together)
			b.divide(d, together[:n])
			together = together[n:]
		}
	}
}

// span returns how many of the placed functions one bundle can hold, from the first on. list is
// in the order of addresses. absent are the addresses of dropped functions: a bundle spans them
// like code.
func (b *bundler) span(list []int, reserved reserved, absent []addrs.Range) int {
	first, end := b.placedFunctions[list[0]].lo, b.placedFunctions[list[0]].hi
	for n := 1; n < len(list); n++ {
		r := &b.placedFunctions[list[n]]
		reach := end
		for ; len(absent) > 0 && absent[0].Lo < r.lo; absent = absent[1:] {
			if absent[0].Lo <= reach+maxPadding {
				reach = max(reach, absent[0].Hi)
			}
		}
		walled := r.lo > end && isWalled(reserved.code, end, r.lo) ||
			r.lo > reach+maxPadding && (r.lo-reach > maxHole || isWalled(reserved.files, reach, r.lo))
		if walled || r.hi-first > maxSpan && r.lo >= end {
			return n
		}
		end = max(end, r.hi)
	}
	return len(list)
}

// divide divides the placed functions of a run of memory among generations, and adds an object
// for each.
func (b *bundler) divide(d *model.Dump, list []int) {
	var generations [][]int
	for len(list) > 0 {
		n := b.cluster(list)
		if n > 1 {
			b.assign(list[:n])
		}
		for _, r := range list[:n] {
			g := b.placedFunctions[r].generation
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

// cut returns how many of the placed functions the first bundle gets. If there are more than
// maxMembers, it cuts at the longest gap after half of that number.
func (b *bundler) cut(list []int) (n int) {
	if len(list) <= maxMembers {
		return len(list)
	}
	end, longest := uint64(0), uint64(0)
	for i, r := range list {
		lo := b.placedFunctions[r].lo
		if i >= maxMembers/2 && lo >= end && (n == 0 || i < maxMembers && lo-end > longest) {
			n, longest = i, lo-end
		}
		if i >= maxMembers && n > 0 {
			return n
		}
		end = max(end, b.placedFunctions[r].hi)
	}
	return len(list) // they share addresses, from first to last
}

// cluster returns how many of the placed functions, from the first on, share addresses with each
// other, directly or not.
func (b *bundler) cluster(list []int) int {
	end := b.placedFunctions[list[0]].hi
	for n := 1; n < len(list); n++ {
		r := &b.placedFunctions[list[n]]
		if r.lo >= end {
			return n
		}
		end = max(end, r.hi)
	}
	return len(list)
}

// assign sets the generations of placed functions that share addresses.
func (b *bundler) assign(cluster []int) {
	byTime := slices.Clone(cluster)
	slices.SortStableFunc(byTime, func(i, j int) int { return cmp.Compare(b.placedFunctions[i].time, b.placedFunctions[j].time) })
	var taken []occupied
	for _, i := range byTime {
		r := &b.placedFunctions[i]
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

// An occupied is the set of addresses in use, in order and disjoint.
type occupied []addrs.Range

// take adds [lo, hi) if all of it is free, and reports whether it was.
func (o *occupied) take(lo, hi uint64) bool {
	i, _ := slices.BinarySearchFunc(*o, lo, func(x addrs.Range, lo uint64) int {
		if x.Hi <= lo {
			return -1
		}
		return 1
	})
	if i < len(*o) && (*o)[i].Lo < hi {
		return false
	}
	*o = slices.Insert(*o, i, addrs.Range{Lo: lo, Hi: hi})
	return true
}

// addObject adds the object for placed functions of one generation, in the order of their
// addresses. It adds several objects if the bytes of some are unknown: no reader may take missing
// bytes for instructions.
func (b *bundler) addObject(d *model.Dump, members []int) {
	for len(members) > 0 {
		noCode := b.placedFunctions[members[0]].noCode
		n := slices.IndexFunc(members, func(r int) bool { return b.placedFunctions[r].noCode != noCode })
		if n < 0 {
			n = len(members)
		}
		b.addOne(d, members[:n], noCode)
		members = members[n:]
	}
}

// addOne adds one object, from the first placed function to the last. The result is valid until
// the next call.
func (b *bundler) addOne(d *model.Dump, members []int, noCode bool) *model.Object {
	p := b.planner
	first, last := &b.placedFunctions[members[0]], &b.placedFunctions[members[len(members)-1]]
	o := model.Object{
		Dump: d, PID: b.old.Objects[first.function].PID,
		Bundle: &model.Bundle{Members: make([]model.Member, len(members)), Region: jitobj.Region{Low: first.lo, High: last.hi, NoCode: noCode}},
	}
	o.CodeAt = o.Bundle.Region.Base()
	room := uint64(0)
	for i, r := range members {
		m := &b.placedFunctions[r]
		m.object = len(p.Objects)
		f := &b.old.Objects[m.function]
		again := b.objectOf[m.function] >= 0
		b.objectOf[m.function] = m.object
		room += tableRoom(m.hi-m.lo, f.Sent)
		o.Bundle.Members[i] = model.Member{Function: f.Function, Placed: r, Addr: m.lo, Again: again}
	}
	if b.rec.CopiesStacks() {
		o.Placed, o.Room = true, room
		o.TablesAt = p.gaps.take(d, last.hi, room, 0)
		if o.TablesAt != 0 && o.TablesAt+room-o.CodeAt > reach {
			o.TablesAt = 0
		}
		if o.TablesAt == 0 {
			o.TablesAt, o.Room = b.behind(d, last.hi), blankRoom
		}
	}
	p.Objects = append(p.Objects, o)
	return &p.Objects[len(p.Objects)-1]
}

// reachOf sets the address at which a bundle begins.
func reachOf(o *model.Object, low uint64) {
	o.Bundle.Region.Low = low
	o.CodeAt = o.Bundle.Region.Base()
}
