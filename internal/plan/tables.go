package plan

import (
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// Unwind tables get addresses that are free in all processes of a dump.
//
// libunwind (perf up to 6.12) reads the tables of an object from the memory of the process. It
// does so through the mappings of the recording, at the address in the object's headers, counted
// from the object's first mapping. Jitted functions lie close together, with no space for tables
// between them. But an object may be mapped in several pieces. So its tables get free addresses,
// and a mapping of their own. libdw (perf 7) finds them in the file.

// gaps are the addresses reserved for tables, and those that are free. Each group of dumps whose
// processes may share memory has its own.
type gaps struct {
	rec *recording.Recording
	// all has the reserved rooms.
	all []room
	// busy has the addresses in use, by dump.
	busy map[*model.Dump]*inUse
	// kin has the addresses in use of a dump and of those that may share memory with it.
	kin map[*model.Dump][]*inUse
	// addressSpace has the processes that may share memory with a dump's.
	addressSpace map[*model.Dump][]*recording.Process
}

// An inUse has the addresses in use in the processes of a dump. all has all of them. code lacks
// memory without code of a dump: runtimes reserve gigabytes of memory around their code.
type inUse struct{ all, code addrs.Set }

// A room is a range of addresses that is free in the processes of a dump.
type room struct {
	dump     *model.Dump
	next, hi uint64 // what is left of it
	// lo is where it begins.
	lo       uint64
	reserved bool // it lies in memory that the runtime may have reserved
}

const (
	// reach bounds the distance of tables from their code, in bytes: the search table has
	// signed offsets of four bytes. 16 MiB of that are left for the code's own length.
	reach = 1<<31 - 1<<24

	// roomAlign is the alignment of rooms, in bytes.
	roomAlign = 64 << 10

	// roomGap is the preferred distance of a room from addresses in use, in bytes: new code
	// tends to lie beside old code. Without enough space, rooms are closer.
	roomGap = 16 << 20

	// roomMin is the least size of a room in bytes, if that much is free.
	roomMin = 1 << 20
)

func newGaps(rec *recording.Recording) *gaps {
	return &gaps{rec: rec, busy: make(map[*model.Dump]*inUse), kin: make(map[*model.Dump][]*inUse), addressSpace: make(map[*model.Dump][]*recording.Process)}
}

// tableRoom returns how many bytes are reserved for the tables of a function of size bytes, for
// which its producer sent some. That is more than they need.
func tableRoom(size, sent uint64) uint64 { return (1<<10 + 4*size + 2*sent + 7) &^ 7 }

// blankRoom bounds the size of unwind tables without an entry, in bytes.
const blankRoom = 64

// maxBlankGap bounds the distance from code to its blank table, in bytes.
const maxBlankGap = 1 << 20

// behind reserves an address for a blank table after end. The address is free of functions and
// other blank tables at all times. The result is 0 if it would be farther than maxBlankGap, or
// may lie in a file. libunwind follows frame pointers where a table has no entry, and gives up
// where there is no table.
func (b *bundler) behind(d *model.Dump, end uint64) uint64 {
	if b.taken == nil {
		for i := range b.placedFunctions {
			b.taken = append(b.taken, addrs.Range{Lo: b.placedFunctions[i].lo, Hi: b.placedFunctions[i].hi})
		}
		b.taken = apart(b.taken)
	}
	at := (end + 15) &^ 7
	i, _ := slices.BinarySearchFunc(b.taken, at, func(r addrs.Range, at uint64) int {
		if r.Hi <= at {
			return -1
		}
		return 1
	})
	for ; i < len(b.taken) && b.taken[i].Lo < at+blankRoom; i++ {
		at = (b.taken[i].Hi + 15) &^ 7
	}
	if at-end > maxBlankGap || slices.ContainsFunc(b.planner.gaps.addressSpace[d], func(p *recording.Process) bool { return p.Files.Hold(at + blankRoom) }) {
		return 0
	}
	b.taken = slices.Insert(b.taken, i, addrs.Range{Lo: at, Hi: at + blankRoom})
	return at
}

// take reserves need bytes for the tables of a dump's function at addr, and returns their
// address. It returns 0 if no address near enough is free. waiting is how many bytes other
// functions are going to need.
func (rs *gaps) take(d *model.Dump, addr, need, waiting uint64) uint64 {
	fits := func(at, hi uint64) bool { return at > addr && at-addr < reach && hi >= at && hi-at >= need }
	for i := range rs.all {
		r := &rs.all[i]
		if r.dump != d {
			continue
		}
		rs.skipBusy(r, need)
		if fits(r.next, r.hi) {
			r.next += need
			return r.next - need
		}
	}
	for _, try := range []struct {
		reserved bool
		gap      uint64
	}{{false, roomGap}, {false, roomAlign}, {true, roomGap}, {true, roomAlign}} {
		for size := max(roomMin, need+waiting); ; size = max(need, size/4) {
			if lo, ok := rs.find(d, try.reserved, addr, size, try.gap); ok {
				rs.all = append(rs.all, room{dump: d, lo: lo, next: lo + need, hi: lo + size, reserved: try.reserved})
				return lo
			}
			if size == need {
				break
			}
		}
	}
	return 0
}

// skipBusy moves r.next past ranges that have come into use since the room was made.
func (rs *gaps) skipBusy(r *room, need uint64) {
	for {
		b, ok := rs.next(r.dump, r.reserved, r.next)
		if !ok || b.Lo >= r.next+need {
			return
		}
		r.next = (b.Hi + 7) &^ 7
	}
}

// next returns the lowest range that ends above addr and is in use in a process that may share
// memory with d's. With reserved, memory without code of a dump does not count.
func (rs *gaps) next(d *model.Dump, reserved bool, addr uint64) (lowest addrs.Range, found bool) {
	kin, ok := rs.kin[d]
	if !ok {
		for other, busy := range rs.busy {
			if other == d || rs.related(d, other) {
				kin = append(kin, busy)
			}
		}
		rs.kin[d] = kin
	}
	for _, busy := range kin {
		set := &busy.all
		if reserved {
			set = &busy.code
		}
		if r, ok := set.Next(addr); ok && (!found || r.Lo < lowest.Lo) {
			lowest, found = r, true
		}
	}
	return lowest, found
}

// find returns the address of size free bytes above addr, with gap bytes free around them.
func (rs *gaps) find(d *model.Dump, reserved bool, addr, size, gap uint64) (uint64, bool) {
	at := (addr + roomAlign) &^ (roomAlign - 1)
	for at > addr && at-addr < reach {
		before := at
		if b, ok := rs.next(d, reserved, at-min(gap, at)); ok && b.Lo < at+size+gap {
			at = (b.Hi + gap + roomAlign - 1) &^ (roomAlign - 1)
		}
		for i := range rs.all {
			if r := &rs.all[i]; (r.dump == d || rs.related(d, r.dump)) && r.hi > at && r.lo < at+size {
				at = (r.hi + roomAlign - 1) &^ (roomAlign - 1)
			}
		}
		if at != before {
			continue
		}
		top := at + size
		if addr < 1<<32 && top > 1<<32 {
			return 0, false // the machine may have 32 bits
		}
		return at, top > at && top-addr < reach
	}
	return 0, false
}

// related reports whether processes of two dumps may share memory.
func (rs *gaps) related(a, b *model.Dump) bool {
	return slices.ContainsFunc(rs.addressSpace[a], func(p *recording.Process) bool { return slices.Contains(rs.addressSpace[b], p) })
}

// scan adds the addresses of new code of a dump, and of all mappings of its processes, to those
// in use.
func (rs *gaps) scan(d *model.Dump, events []jitcode.Event) {
	busy := rs.busy[d]
	if busy == nil {
		busy = new(inUse)
		rs.busy[d] = busy
	}
	clear(rs.kin)
	rs.addressSpace[d] = rs.rec.Related(d.Markers)
	for _, p := range rs.addressSpace[d] {
		for _, u := range p.Used.Sorted() {
			busy.all.Add(u.Lo, u.Hi)
		}
		for i := range p.FileMaps {
			if m := &p.FileMaps[i]; m.Name != "" {
				busy.code.Add(m.Lo, m.Hi)
			}
		}
		for i := range p.Others {
			busy.code.Add(p.Others[i].Lo, p.Others[i].Hi)
		}
	}
	for i := range events {
		e := &events[i]
		busy.all.Add(e.Addr, e.Addr+e.Size)
		busy.code.Add(e.Addr, e.Addr+e.Size)
	}
}

// placeTables reserves an address near the code for the unwind tables of a mapping's object. An
// object has its tables at one address only. If its code is at another address as well, it adds
// another object for that.
func (p *Planner) placeTables(m *model.Mapping, e *jitcode.Event, d *model.Dump, waiting uint64) {
	o := &p.Objects[m.Object]
	switch {
	case p.Bundling: // Bundle does it later
		return
	case !p.rec.CopiesStacks():
		if e.Tables > 0 {
			m.Len = p.dumps[d.Number].neighbours.withTables(e)
		}
		return
	case o.Placed && o.CodeAt == m.Addr: // in another process
		m.Tables = o.TablesAt
		return
	case o.Placed:
		copied := *o
		copied.Repeat = p.names.next(&copied, p.Objects)
		m.Object = len(p.Objects)
		p.Objects = append(p.Objects, copied)
		o = &p.Objects[m.Object]
	}
	o.Placed, o.CodeAt, o.Room = true, m.Addr, tableRoom(e.Size, e.Tables)
	o.TablesAt = p.gaps.take(d, m.Addr, o.Room, waiting)
	m.Tables = o.TablesAt
}
