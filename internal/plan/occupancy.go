package plan

import (
	"slices"

	"github.com/jitinject/jitinject/internal/recording"
)

// An occupancy records the owner of each address of a process: the function that was placed there
// last. A function that moves must lose the name at its old address, but a function that came
// there since must keep it. The keys are page numbers.
type occupancy map[uint64][]tenancy

// A tenancy says that [lo, hi), which lies in one page, belongs to a function.
type tenancy struct {
	lo, hi   uint64
	function int
}

// occupancyPage is the size of an occupancy's pages, in bytes.
const occupancyPage = 4 << 10

// place makes a function the owner of [lo, hi).
func (o occupancy) place(lo, hi uint64, function int) {
	for lo < hi {
		end := min(hi, (lo|(occupancyPage-1))+1)
		if end < lo { // the last page of the address space
			end = hi
		}
		page := lo / occupancyPage
		var kept []tenancy
		for _, t := range o[page] {
			if t.lo < lo {
				kept = append(kept, tenancy{t.lo, min(t.hi, lo), t.function})
			}
			if t.hi > end {
				kept = append(kept, tenancy{max(t.lo, end), t.hi, t.function})
			}
		}
		kept = append(kept, tenancy{lo, end, function})
		slices.SortFunc(kept, func(a, b tenancy) int { return int(int64(a.lo - b.lo)) })
		o[page] = kept
		lo = end
	}
}

// owned returns the parts of [lo, hi) that a function owns, in order.
func (o occupancy) owned(lo, hi uint64, function int) (parts []tenancy) {
	for page := lo / occupancyPage; page <= (hi-1)/occupancyPage && lo < hi; page++ {
		for _, t := range o[page] {
			a, b := max(t.lo, lo), min(t.hi, hi)
			if t.function != function || a >= b {
				continue
			}
			if n := len(parts); n > 0 && parts[n-1].hi == a {
				parts[n-1].hi = b
			} else {
				parts = append(parts, tenancy{a, b, function})
			}
		}
	}
	return parts
}

// within returns the parts of [lo, hi) that have an owner, in order.
func (o occupancy) within(lo, hi uint64) (parts []tenancy) {
	if len(o) == 0 || lo >= hi {
		return nil
	}
	for page := lo / occupancyPage; page <= (hi-1)/occupancyPage; page++ {
		for _, t := range o[page] {
			a, b := max(t.lo, lo), min(t.hi, hi)
			if a >= b {
				continue
			}
			if n := len(parts); n > 0 && parts[n-1].hi == a && parts[n-1].function == t.function {
				parts[n-1].hi = b
			} else {
				parts = append(parts, tenancy{a, b, t.function})
			}
		}
	}
	return parts
}

// places are the occupancies of a dump's processes.
type places = inherited[occupancy]

func newPlaces(g *recording.ProcessTree) *places {
	return &places{tree: g, make: func() occupancy { return make(occupancy) }, clone: occupancy.clone}
}

// An inherited holds one value for each process: a forked child begins with a copy of its
// parent's, an exec resets it. Queries must be in the order of their times.
type inherited[T any] struct {
	tree      *recording.ProcessTree
	make      func() T
	clone     func(T) T
	next      int // index of the next fork to apply
	processes map[uint32]T
	execs     map[uint32]uint64 // time of the latest exec applied, by process
}

// of returns the value of process pid at a time. It belongs to p.
func (p *inherited[T]) of(pid uint32, time uint64) T {
	if p.processes == nil {
		p.processes, p.execs = make(map[uint32]T), make(map[uint32]uint64)
	}
	for ; p.next < len(p.tree.Forks) && p.tree.Forks[p.next].Time <= time; p.next++ {
		b := &p.tree.Forks[p.next]
		p.exec(b.Parent, b.Time)
		delete(p.processes, b.PID)
		if parent, ok := p.processes[b.Parent]; ok && b.Clones {
			p.processes[b.PID] = p.clone(parent)
		}
	}
	p.exec(pid, time)
	has, ok := p.processes[pid]
	if !ok {
		has = p.make()
		p.processes[pid] = has
	}
	return has
}

// exec resets the value of a process that has called exec by a time.
func (p *inherited[T]) exec(pid uint32, time uint64) {
	if exec := p.tree.LastExec(pid, time); exec > p.execs[pid] {
		p.execs[pid] = exec
		delete(p.processes, pid)
	}
}

func (o occupancy) clone() occupancy {
	c := make(occupancy, len(o))
	for page, t := range o {
		c[page] = t // place never changes a page's tenancies, it makes new ones
	}
	return c
}
