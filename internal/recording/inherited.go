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

// A Descent holds what processes have from their ancestors, at any time. Processes that add
// nothing of their own share it.
type Descent[T any] struct {
	Tree *ProcessTree
	Own  func(pid uint32) bool // whether a process has something of its own
	Of   func(line []uint32) T // what a process and its possible ancestors have together

	all map[uint32]T // by process
}

// Get returns what a process and all its possible ancestors have.
func (d *Descent[T]) Get(pid uint32) T {
	if has, known := d.all[pid]; known {
		return has
	}
	if d.all == nil {
		d.all = make(map[uint32]T)
	}
	// The nearest ancestor with something of its own has the same, as long as the way to it
	// is the only one.
	var has T
	line, passed := []uint32{pid}, map[uint32]bool{pid: true}
	for {
		last := line[len(line)-1]
		known := false
		if has, known = d.all[last]; known {
			break
		}
		parent, only := d.Tree.OnlyParent(last)
		if d.Own(last) || !only || passed[parent] {
			has = d.Of(d.Tree.Line(last))
			break
		}
		line, passed[parent] = append(line, parent), true
	}
	for _, pid := range line {
		d.all[pid] = has
	}
	return has
}

// OnlyParent returns the process from which all forks of a process were. It returns false if
// there is none, or more than one.
func (t *ProcessTree) OnlyParent(pid uint32) (parent uint32, ok bool) {
	for i, b := range t.ForksOf(pid) {
		if i > 0 && b.Parent != parent {
			return 0, false
		}
		parent, ok = b.Parent, true
	}
	return parent, ok
}
