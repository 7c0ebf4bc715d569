package plan

import (
	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/recording"
)

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
	for forks := p.tree.Forks(); p.next < len(forks) && forks[p.next].Time <= time; p.next++ {
		b := &forks[p.next]
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

// places have the owner of each address, for each of a dump's processes. The owners are functions.
type places = inherited[*addrs.Owners]

func newPlaces(g *recording.ProcessTree) *places {
	return &places{tree: g, make: func() *addrs.Owners { return new(addrs.Owners) }, clone: (*addrs.Owners).Clone}
}
