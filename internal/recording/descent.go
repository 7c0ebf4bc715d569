package recording

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
