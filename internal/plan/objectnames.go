package plan

import (
	"github.com/jitinject/jitinject/internal/model"
)

// objectNames counts the objects of each name, so that they get different ones. perf report takes
// objects of one name for one object, in any directory. Indexes mostly come in ascending order.
// Until one does not, only the highest is kept.
type objectNames struct {
	of   map[uint32]*indexes
	last *indexes // the indexes of process pid; nil before the first call
	pid  uint32
}

// indexes are those of a process's functions that have an object.
type indexes struct {
	// max is the highest index so far.
	max    uint64
	counts map[uint64]int // nil while indexes are in ascending order
}

// next returns the number of earlier objects with o's name, and counts o. objects must have all
// objects of earlier calls.
func (n *objectNames) next(o *model.Object, objects []model.Object) (repeat int32) {
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
	return int32(x.counts[o.Index] - 1)
}
