package gaps

import (
	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// TableRoom returns how many bytes are reserved for the tables of a function of size bytes, for
// which its producer sent some. That is more than they need.
func TableRoom(size, sent uint64) uint64 { return (1<<10 + 4*size + 2*sent + 7) &^ 7 }

// Gaps are the addresses reserved for tables, and those that are free. Each group of dumps has its
// own: the processes of a group may share memory.
type Gaps struct {
	dumps map[*model.Dump]*dumpSpace
	// sharing has the dumps that a process may have memory of.
	sharing map[*recording.Process][]*dumpSpace
	// files has the addresses of files and data. Other memory does not count: runtimes reserve gigabytes
	// around their code.
	files map[*recording.Process]*addrs.Set

	// steps counts the ranges and rooms that were looked at, for a number of searches.
	steps, searches int
}

// A dumpSpace has the addresses that the functions of a dump use.
type dumpSpace struct {
	code      addrs.Set
	processes []*recording.Process // those that may share memory with the dump's
	executes  recording.Ranges     // parts of their files, roughly
	rooms     []room

	// kin are the dump itself and those that may share memory with it, and kinProcesses are
	// the processes of all of these. They are nil until they are needed.
	kin          []*dumpSpace
	kinProcesses []*recording.Process
}

// A room is a range of addresses that is free in the processes of a dump.
type room struct {
	next, hi uint64 // what is left of it
	// lo is where it begins.
	lo       uint64
	reserved bool // it lies in memory that the runtime may have reserved
}

const (
	// Reach bounds the distance of tables from their code, in bytes: the search table has
	// signed offsets of four bytes. 16 MiB of that are left for the code's own length.
	Reach = 1<<31 - 1<<24

	// roomAlign is the alignment of rooms, in bytes.
	roomAlign = 64 << 10

	// roomGap is the preferred distance of a room from addresses in use, in bytes: new code
	// tends to lie beside old code. Without enough space, rooms are closer.
	roomGap = 16 << 20

	// roomMin is the least size of a room in bytes, if that much is free.
	roomMin = 1 << 20

	// maxSteps bounds the ranges and rooms that are looked at for each search on average.
	// firstSteps more are allowed in all. If memory is in such small pieces that they do not
	// suffice, the rest of the tables get no addresses.
	maxSteps   = 1 << 10
	firstSteps = 1 << 22
)

// New returns the gaps between the code of dumps and all mappings of their processes. files returns those of files and
// data.
func New(rec *recording.Recording, dumps []*model.Dump, files func(*recording.Process) []addrs.Range) *Gaps {
	g := &Gaps{dumps: make(map[*model.Dump]*dumpSpace), sharing: make(map[*recording.Process][]*dumpSpace), files: make(map[*recording.Process]*addrs.Set)}
	for _, d := range dumps {
		if len(d.Source.Scanned().Events) == 0 {
			continue
		}
		s := &dumpSpace{processes: rec.Related(d.Markers)}
		g.dumps[d] = s
		s.executes = recording.FilesOf(s.processes)
		for _, p := range s.processes {
			g.sharing[p] = append(g.sharing[p], s)
			if g.files[p] == nil {
				g.files[p] = new(addrs.Set)
				for _, r := range files(p) {
					g.files[p].Add(r.Lo, r.Hi)
				}
			}
		}
		for _, e := range d.Source.Scanned().Events {
			s.code.Add(e.Addr, e.Addr+e.Size)
		}
	}
	return g
}

// InFile reports whether the byte at an address may be in a file of a process of a dump.
func (g *Gaps) InFile(d *model.Dump, addr uint64) bool {
	s := g.dumps[d]
	return s != nil && s.executes.Hold(addr)
}

// tired reports whether searching has taken too long.
func (g *Gaps) tired() bool { return g.steps > firstSteps+maxSteps*g.searches }

// Take reserves need bytes for the tables of a dump's function at addr, and returns their
// address. It returns 0 if no address near enough is free. waiting is how many bytes other
// functions are going to need.
func (g *Gaps) Take(d *model.Dump, addr, need, waiting uint64) uint64 {
	s := g.dumps[d]
	g.searches++
	fits := func(at, hi uint64) bool { return at > addr && at-addr < Reach && hi >= at && hi-at >= need }
	for i := range s.rooms {
		r := &s.rooms[i]
		if g.steps++; r.next >= r.hi {
			continue
		}
		if g.skipBusy(s, r, need) && fits(r.next, r.hi) {
			r.next += need
			return r.next - need
		}
	}
	for _, try := range []struct {
		reserved bool
		gap      uint64
	}{{false, roomGap}, {false, roomAlign}, {true, roomGap}, {true, roomAlign}} {
		for size := max(roomMin, need+waiting); ; size = max(need, size/4) {
			if lo, ok := g.find(s, try.reserved, addr, size, try.gap); ok {
				s.rooms = append(s.rooms, room{lo: lo, next: lo + need, hi: lo + size, reserved: try.reserved})
				return lo
			}
			if size == need {
				break
			}
		}
	}
	return 0
}

// skipBusy moves r.next past ranges that have come into use since the room was made. It reports
// whether need bytes from there on are known to be free.
func (g *Gaps) skipBusy(s *dumpSpace, r *room, need uint64) bool {
	for !g.tired() {
		b, ok := g.next(s, r.reserved, r.next)
		if !ok || b.Lo >= r.next+need {
			return true
		}
		r.next = (b.Hi + 7) &^ 7
	}
	return false
}

// next returns the lowest range that ends above addr and is in use in a process that may share
// memory with a dump's. With reserved, memory without code of a dump does not count.
func (g *Gaps) next(s *dumpSpace, reserved bool, addr uint64) (lowest addrs.Range, found bool) {
	g.findKin(s)
	g.steps += len(s.kin) + len(s.kinProcesses)
	add := func(set *addrs.Set) {
		if r, ok := set.Next(addr); ok && (!found || r.Lo < lowest.Lo) {
			lowest, found = r, true
		}
	}
	for _, other := range s.kin {
		add(&other.code)
	}
	for _, p := range s.kinProcesses {
		if reserved {
			add(g.files[p])
		} else {
			add(&p.Used)
		}
	}
	return lowest, found
}

// findKin sets the dumps that may share memory with one, and their processes.
func (g *Gaps) findKin(s *dumpSpace) {
	if s.kin != nil {
		return
	}
	known := map[*dumpSpace]bool{s: true}
	s.kin = append(s.kin, s)
	for _, p := range s.processes {
		for _, other := range g.sharing[p] {
			if !known[other] {
				known[other] = true
				s.kin = append(s.kin, other)
			}
		}
	}
	processes := make(map[*recording.Process]bool)
	for _, other := range s.kin {
		for _, p := range other.processes {
			if !processes[p] {
				processes[p] = true
				s.kinProcesses = append(s.kinProcesses, p)
			}
		}
	}
}

// find returns the address of size free bytes above addr, with gap bytes free around them.
func (g *Gaps) find(s *dumpSpace, reserved bool, addr, size, gap uint64) (uint64, bool) {
	at := (addr + roomAlign) &^ (roomAlign - 1)
	for at > addr && at-addr < Reach && !g.tired() {
		before := at
		if b, ok := g.next(s, reserved, at-min(gap, at)); ok && b.Lo < at+size+gap {
			at = (b.Hi + gap + roomAlign - 1) &^ (roomAlign - 1)
		}
		for _, other := range s.kin {
			g.steps += len(other.rooms)
			for i := range other.rooms {
				if r := &other.rooms[i]; r.hi > at && r.lo < at+size {
					at = (r.hi + roomAlign - 1) &^ (roomAlign - 1)
				}
			}
		}
		if at != before {
			continue
		}
		top := at + size
		if addr < 1<<32 && top > 1<<32 {
			return 0, false // the machine may have 32 bits
		}
		return at, top > at && top-addr < Reach
	}
	return 0, false
}
