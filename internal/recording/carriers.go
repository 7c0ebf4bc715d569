package recording

// Carriers finds the ancestors of processes that have something of interest, nearest first. It
// skips the others, and follows each fork of those once.
type Carriers struct {
	Tree *ProcessTree
	// Has reports whether a process has something of interest, at any time. It must not change.
	Has func(pid uint32) bool
	// PastExec says that an ancestor matters even where an exec came after the fork.
	PastExec bool

	known map[fork]carrier
}

// A carrier is an ancestor at the time of a fork.
type carrier struct {
	pid   uint32
	time  uint64
	found bool
}

// Next returns the nearest ancestor of interest that the process which is pid at a time began with
// the memory of, and the time of the fork from it.
func (c *Carriers) Next(pid uint32, time uint64) (from uint32, at uint64, ok bool) {
	if c.known == nil {
		c.known = make(map[fork]carrier)
	}
	var near carrier
	var line []fork
	for {
		b, ok := c.Tree.Fork(pid, time)
		if !ok || !b.Clones || !c.PastExec && b.Time < c.Tree.LastExec(pid, time) {
			break
		}
		known, seen := c.known[b]
		if seen {
			near = known
			break
		}
		c.known[b] = carrier{} // forks with equal times may form a circle
		line = append(line, b)
		if c.Has(b.Parent) {
			near = carrier{b.Parent, b.Time, true}
			break
		}
		pid, time = b.Parent, b.Time
	}
	for _, b := range line {
		c.known[b] = near
	}
	return near.pid, near.time, near.found
}
