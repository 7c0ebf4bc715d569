package plan

import (
	"github.com/jitinject/jitinject/internal/model"
)

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
func (n *objectNames) next(o *model.Object, objects []model.Object) (repeat int) {
	if n.last == nil || n.pid != o.PID {
		if n.of == nil {
			n.of = make(map[uint32]*indexes)
		}
		n.pid, n.last = o.PID, n.of[o.PID]
		if n.last == nil {
			n.last = &indexes{max: o.Index}
			n.of[o.PID] = n.last
			return 0
		}
	}
	x := n.last
	if x.counts == nil {
		if o.Index > x.max {
			x.max = o.Index
			return 0
		}
		x.counts = make(map[uint64]int)
		for i := range objects {
			if objects[i].PID == o.PID && objects[i].Bundle == nil {
				x.counts[objects[i].Index]++
			}
		}
	}
	x.counts[o.Index]++
	return x.counts[o.Index] - 1
}
