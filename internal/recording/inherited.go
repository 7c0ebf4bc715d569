package recording

// An Inherited holds one value for each process: a forked child begins with a copy of its
// parent's, an exec resets it. Queries must be in the order of their times.
type Inherited[T any] struct {
	Tree  *ProcessTree
	Make  func() T
	Clone func(T) T

	next      int // index of the next fork to apply
	processes map[uint32]T
	execs     map[uint32]uint64 // time of the latest exec applied, by process
}

// Of returns the value of process pid at a time. It belongs to p.
func (p *Inherited[T]) Of(pid uint32, time uint64) T {
	if p.processes == nil {
		p.processes, p.execs = make(map[uint32]T), make(map[uint32]uint64)
	}
	for forks := p.Tree.Forks(); p.next < len(forks) && forks[p.next].Time <= time; p.next++ {
		b := &forks[p.next]
		p.exec(b.Parent, b.Time)
		delete(p.processes, b.PID)
		if parent, ok := p.processes[b.Parent]; ok && b.Clones {
			p.processes[b.PID] = p.Clone(parent)
		}
	}
	p.exec(pid, time)
	has, ok := p.processes[pid]
	if !ok {
		has = p.Make()
		p.processes[pid] = has
	}
	return has
}

// exec resets the value of a process that has called exec by a time.
func (p *Inherited[T]) exec(pid uint32, time uint64) {
	if exec := p.Tree.LastExec(pid, time); exec > p.execs[pid] {
		p.execs[pid] = exec
		delete(p.processes, pid)
	}
}
