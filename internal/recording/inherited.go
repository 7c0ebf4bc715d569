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
func (in *Inherited[T]) Of(pid uint32, time uint64) T {
	if in.processes == nil {
		in.processes, in.execs = make(map[uint32]T), make(map[uint32]uint64)
	}
	for forks := in.Tree.Forks(); in.next < len(forks) && forks[in.next].Time <= time; in.next++ {
		b := &forks[in.next]
		in.exec(b.Parent, b.Time)
		delete(in.processes, b.PID)
		if parent, ok := in.processes[b.Parent]; ok && b.Clones {
			in.processes[b.PID] = in.Clone(parent)
		}
	}
	in.exec(pid, time)
	has, ok := in.processes[pid]
	if !ok {
		has = in.Make()
		in.processes[pid] = has
	}
	return has
}

// exec resets the value of a process that has called exec by a time.
func (in *Inherited[T]) exec(pid uint32, time uint64) {
	if exec := in.Tree.LastExec(pid, time); exec > in.execs[pid] {
		in.execs[pid] = exec
		delete(in.processes, pid)
	}
}
