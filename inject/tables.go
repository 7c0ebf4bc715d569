package inject

import (
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// Where the unwind tables of functions seem to be.
//
// libunwind (perf up to 6.12) reads the tables of an object from the memory of the
// process, which is to say, through the mappings of the recording: at the place that
// the object's headers give them, counted from the object's first mapping. Jitted
// functions lie close together, and nothing is behind them where tables could be. But
// nothing says that an object has to be in one piece: its tables get addresses where
// nothing of the process is, and a mapping of their own. libdw (perf 7) finds them in
// the file.

// rooms are the addresses that tables have got, and can get. They are apart for all
// processes of a recording, so that those that share memory do not disturb each
// other.
type rooms struct {
	rec     *recording
	all     []room
	claimed []room
	busy    map[*dump]ranges
}

// A room is a stretch of addresses that nothing is at in the processes of a dump.
type room struct {
	dump     *dump
	next, hi uint64 // what is left of it
	lo       uint64
}

const (
	// reach is how far tables may be behind their code: the search table has signed
	// offsets of four bytes. Something is left for the code's own length.
	reach = 1<<31 - 1<<24

	// roomAlign is what rooms begin at a multiple of.
	roomAlign = 1 << 20

	// roomGap is how far a room stays away from what is known to be in use: code
	// that is still to come tends to lie beside code that is there.
	roomGap = 16 << 20
)

// roomSizes are the sizes of rooms, tried one after the other.
var roomSizes = []uint64{64 << 20, 16 << 20, 4 << 20, 1 << 20}

func newRooms(rec *recording) *rooms { return &rooms{rec: rec, busy: make(map[*dump]ranges)} }

// tableRoom returns how many bytes are set aside for the tables of a function of
// size bytes: more than they need.
func tableRoom(size uint64) uint64 { return (1<<10 + 2*size + 7) &^ 7 }

// take returns an address for the tables of a function of a dump, whose code is size
// bytes at addr, or 0 if there is none near enough.
func (rs *rooms) take(d *dump, addr, size uint64) uint64 {
	need := tableRoom(size)
	fits := func(at, hi uint64) bool { return at > addr && at-addr < reach && hi-at >= need }
	for i := range rs.all {
		if r := &rs.all[i]; r.dump == d && r.next <= r.hi && fits(r.next, r.hi) {
			r.next += need
			return r.next - need
		}
	}
	for _, n := range roomSizes {
		if lo, ok := rs.find(d, addr, max(n, need)); ok {
			rs.all = append(rs.all, room{dump: d, lo: lo, next: lo + need, hi: lo + max(n, need)})
			return lo
		}
	}
	return 0
}

// claim takes note of a place for tables that follows from that of their code, and
// reports whether nothing else is there.
func (rs *rooms) claim(d *dump, at, size uint64) bool {
	hi := at + tableRoom(size)
	taken := func(r room) bool { return at < r.hi && hi > r.lo }
	inUse := func(r addrRange) bool { return at < r.hi && hi > r.lo }
	if hi < at || len(rs.claimed) >= maxClaimed || slices.ContainsFunc(rs.busy[d], inUse) ||
		slices.ContainsFunc(rs.all, taken) || slices.ContainsFunc(rs.claimed, taken) {
		return false
	}
	rs.claimed = append(rs.claimed, room{dump: d, lo: at, hi: hi})
	return true
}

// maxClaimed bounds how many such places are kept.
const maxClaimed = 1 << 10

// find looks for size addresses above addr at which nothing is known to be.
func (rs *rooms) find(d *dump, addr, size uint64) (uint64, bool) {
	busy := slices.Clone(rs.busy[d])
	for _, r := range rs.all {
		busy.add(r.lo, r.hi)
	}
	for _, r := range rs.claimed {
		busy.add(r.lo, r.hi)
	}
	at := (addr + roomAlign) &^ (roomAlign - 1)
	for _, b := range busy {
		if b.hi+roomGap > at && b.lo < at+size+roomGap {
			at = (b.hi + roomGap + roomAlign - 1) &^ (roomAlign - 1)
		}
	}
	top := at + size
	if addr < 1<<32 && top > 1<<32 {
		return 0, false // it may be all there is
	}
	return at, at > addr && top > at && top-addr < reach
}

// look takes in where code of a dump is, as far as that is new, and what its
// processes have mapped.
func (rs *rooms) look(d *dump, events []jitcode.Event) {
	busy := rs.busy[d]
	for _, p := range rs.rec.family(d.markers) {
		for _, u := range p.used {
			busy.add(u.lo, u.hi)
		}
	}
	for i := range events {
		e := &events[i]
		busy.add(e.Addr, e.Addr+e.Size)
	}
	rs.busy[d] = busy
}

// placeTables gives the unwind tables of a mapping's object a place: near the code
// where it is mapped first, and as far away from it wherever it is mapped later.
// Where there is none, tables that are in memory behind the code are mapped with it.
func (p *planner) placeTables(m *mapping, e *jitcode.Event, d *dump) {
	o := &p.objects[m.object]
	if p.rec.copiesStacks() {
		if o.away == 0 && !o.placed {
			if at := p.rooms.take(d, m.addr, e.Size); at != 0 {
				o.away, o.room, m.tables = at-m.addr, tableRoom(e.Size), at
			}
		} else if o.away != 0 && p.rooms.claim(d, m.addr+o.away, e.Size) {
			m.tables = m.addr + o.away
		}
	}
	o.placed = true
	if o.away == 0 && e.Tables > 0 {
		m.len = p.dumps[d.number].neighbours.withTables(e)
	}
}
