package plan

import (
	"github.com/jitinject/jitinject/internal/model"
)

// objectNames finds the indexes that objects of a process share, so that they get different names. perf
// report takes objects of one name for one object, in any directory. Indexes mostly come in ascending
// order. Until one does not, only the highest is kept.
type objectNames struct {
	of   map[uint32]*indexes
	last *indexes // the indexes of process pid; nil before the first call
	pid  uint32
}

// indexes are those of a process's functions that have an object.
type indexes struct {
	// max is the highest index so far.
	max  uint64
	seen map[uint64]bool // nil while indexes are in ascending order
}

// isRepeated reports whether an earlier object has o's process and index. objects must have all objects
// of earlier calls.
func (n *objectNames) isRepeated(o *model.Object, objects []model.Object) bool {
	if n.last == nil || n.pid != o.PID {
		if n.of == nil {
			n.of = make(map[uint32]*indexes)
		}
		n.pid, n.last = o.PID, n.of[o.PID]
		if n.last == nil {
			n.last = &indexes{max: o.Index}
			n.of[o.PID] = n.last
			return false
		}
	}
	x := n.last
	if x.seen == nil {
		if o.Index > x.max {
			x.max = o.Index
			return false
		}
		x.seen = make(map[uint64]bool)
		for i := range objects {
			if objects[i].PID == o.PID && objects[i].Bundle == nil {
				x.seen[objects[i].Index] = true
			}
		}
	}
	repeated := x.seen[o.Index]
	x.seen[o.Index] = true
	return repeated
}
