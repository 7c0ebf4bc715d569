package recording

// An Ancestry answers whether processes inherit a property from their ancestors. It follows each
// fork once: for all processes of a chain of forks together, it takes as long as the chain.
type Ancestry struct {
	Tree *ProcessTree
	// Has reports whether the process that is pid at a time has the property itself. It must not
	// change.
	Has func(pid uint32, time uint64) bool
	// Memory says that a property of memory is meant, which ends with an exec.
	Memory bool

	known map[fork]bool // whether the parent had the property, or inherited it
}

// Holds reports whether the process that is pid at a time has the property, or inherits it.
func (a *Ancestry) Holds(pid uint32, time uint64) bool {
	return a.Has(pid, time) || a.Inherits(pid, time)
}

// Inherits reports whether an ancestor of the process that is pid at a time has the property.
func (a *Ancestry) Inherits(pid uint32, time uint64) (holds bool) {
	if a.known == nil {
		a.known = make(map[fork]bool)
	}
	var line []fork
	for {
		b, ok := a.Tree.Fork(pid, time)
		if !ok || a.Memory && b.Time < a.Tree.LastExec(pid, time) {
			break
		}
		known, seen := a.known[b]
		if seen {
			holds = known
			break
		}
		a.known[b] = false // until it is known; forks with equal times may form a circle
		line = append(line, b)
		if a.Has(b.Parent, b.Time) {
			holds = true
			break
		}
		pid, time = b.Parent, b.Time
	}
	if holds {
		for _, b := range line {
			a.known[b] = true
		}
	}
	return holds
}
