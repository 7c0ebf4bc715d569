package recording

// A nearest finds the nearest ancestors of processes that have a property. It follows each fork once:
// for all processes of a chain of forks together, it takes as long as the chain.
type nearest map[fork]carrier

// A carrier is an ancestor at the time of a fork.
type carrier struct {
	pid   uint32
	time  uint64
	found bool
}

// find returns the nearest ancestor, with the time of the fork from it, for which has is true. It stops
// at a fork for which ends is true; exec is the time of the child's last exec.
func (n nearest) find(tree *ProcessTree, pid uint32, time uint64, ends func(b fork, exec uint64) bool, has func(pid uint32, time uint64) bool) (near carrier) {
	var line []fork
	for {
		b, ok := tree.Fork(pid, time)
		if !ok || ends(b, tree.LastExec(pid, time)) {
			break
		}
		known, seen := n[b]
		if seen {
			near = known
			break
		}
		n[b] = carrier{} // until it is known; forks with equal times may form a circle
		line = append(line, b)
		if has(b.Parent, b.Time) {
			near = carrier{b.Parent, b.Time, true}
			break
		}
		pid, time = b.Parent, b.Time
	}
	for _, b := range line {
		n[b] = near
	}
	return near
}

// An Ancestry answers whether processes inherit a property from their ancestors.
type Ancestry struct {
	Tree *ProcessTree
	// Has reports whether the process that is pid at a time has the property itself. It must not
	// change.
	Has func(pid uint32, time uint64) bool
	// Memory says that a property of memory is meant, which ends with an exec.
	Memory bool

	known nearest
}

// Holds reports whether the process that is pid at a time has the property, or inherits it.
func (a *Ancestry) Holds(pid uint32, time uint64) bool {
	return a.Has(pid, time) || a.Inherits(pid, time)
}

// Inherits reports whether an ancestor of the process that is pid at a time has the property.
func (a *Ancestry) Inherits(pid uint32, time uint64) bool {
	_, ok := a.Nearest(pid, time)
	return ok
}

// Nearest returns the nearest ancestor of the process that is pid at a time which has the property.
func (a *Ancestry) Nearest(pid uint32, time uint64) (from uint32, ok bool) {
	if a.known == nil {
		a.known = make(nearest)
	}
	near := a.known.find(a.Tree, pid, time, func(b fork, exec uint64) bool { return a.Memory && b.Time < exec }, a.Has)
	return near.pid, near.found
}

// MaxCarriers bounds the ancestors of interest that are followed for one process. Programs call exec: real chains
// of processes that have something and share it have few.
const MaxCarriers = 64

// Carriers finds the ancestors of processes that have something of interest, and whose memory the
// processes began with, nearest first.
type Carriers struct {
	Tree *ProcessTree
	// Has reports whether a process has something of interest, at any time. It must not change.
	Has func(pid uint32) bool
	// PastExec says that an ancestor matters even where an exec came after the fork.
	PastExec bool

	known nearest
}

// Next returns the nearest ancestor of interest that the process which is pid at a time began with
// the memory of, and the time of the fork from it.
func (c *Carriers) Next(pid uint32, time uint64) (from uint32, at uint64, ok bool) {
	if c.known == nil {
		c.known = make(nearest)
	}
	near := c.known.find(c.Tree, pid, time,
		func(b fork, exec uint64) bool { return !b.Clones || !c.PastExec && b.Time < exec },
		func(pid uint32, _ uint64) bool { return c.Has(pid) })
	return near.pid, near.time, near.found
}
