package build

import (
	"slices"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/report"
)

// Dumps without objects, for example because their directory is full or read-only. Such a dump
// costs only its own functions. Its markers and anonymous memory stay in the result, as if the dump
// had not been found. A later run can then use it.

// leftOutDumps are dumps that need objects and have none.
type leftOutDumps []*model.Dump

// LeftOut returns the dumps that need objects and got none, in the order of their numbers.
func LeftOut(p *model.Plan) (left leftOutDumps) {
	needs, has := make(map[*model.Dump]bool), make(map[*model.Dump]bool)
	for i := range p.Objects {
		o := &p.Objects[i]
		for _, d := range o.Dumps() {
			if !needs[d] {
				needs[d] = true
				left = append(left, d)
			}
			has[d] = has[d] || o.Made
		}
	}
	return slices.DeleteFunc(left, func(d *model.Dump) bool { return has[d] })
}

// pidsIn returns the processes of the dumps with objects in a directory.
func (l leftOutDumps) pidsIn(dir string) (pids []uint32) {
	for _, d := range l {
		if d.Objects == dir {
			pids = append(pids, d.PID)
		}
	}
	return pids
}

// Without returns dumps without those in l.
func (l leftOutDumps) Without(dumps []*model.Dump) []*model.Dump {
	return slices.DeleteFunc(slices.Clone(dumps), func(d *model.Dump) bool { return slices.Contains(l, d) })
}

// lacksRoom reports whether an object could not be written.
func (w *Writer) lacksRoom() bool {
	for f := range w.failed {
		if f.code == report.ProblemNotWritten {
			return true
		}
	}
	return false
}
