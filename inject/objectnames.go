package inject

// objectNames sees to it that no two objects of one function have the same name: perf
// report takes objects of one name for one, wherever they are. Indexes come in growing
// order, mostly, and then there is nothing to be remembered but the last one.
type objectNames struct {
	of   map[uint32]*indexes
	last *indexes // of pid
	pid  uint32
}

// indexes are those of a process's functions that have an object.
type indexes struct {
	max    uint64
	counts map[uint64]int // nil while they only grow
}

// next returns how many objects there were of o's name, and counts it. objects are those
// that it was asked about before, at least.
func (n *objectNames) next(o *object, objects []object) (repeat int) {
	if n.last == nil || n.pid != o.pid {
		if n.of == nil {
			n.of = make(map[uint32]*indexes)
		}
		n.pid, n.last = o.pid, n.of[o.pid]
		if n.last == nil {
			n.last = &indexes{max: o.index}
			n.of[o.pid] = n.last
			return 0
		}
	}
	x := n.last
	if x.counts == nil {
		if o.index > x.max {
			x.max = o.index
			return 0
		}
		x.counts = make(map[uint64]int)
		for i := range objects {
			if objects[i].pid == o.pid && objects[i].bundle == nil {
				x.counts[objects[i].index]++
			}
		}
	}
	x.counts[o.index]++
	return x.counts[o.index] - 1
}
