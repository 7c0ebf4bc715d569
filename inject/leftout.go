package inject

import (
	"fmt"
	"slices"
	"strings"
)

// Dumps without objects: their directory is full or read-only, say. Each costs its own
// functions only. Its markers and anonymous memory stay in the result, as if it had not been
// found, so that a later run can do better.

// leftOutDumps are dumps that need objects and have none.
type leftOutDumps []*dump

// leftOut returns the dumps of which no object was made, in the order of their numbers.
func (p *plan) leftOut() (left leftOutDumps) {
	needs, has := make(map[*dump]bool), make(map[*dump]bool)
	for i := range p.objects {
		o := &p.objects[i]
		if !needs[o.dump] {
			needs[o.dump] = true
			left = append(left, o.dump)
		}
		has[o.dump] = has[o.dump] || o.made
	}
	return slices.DeleteFunc(left, func(d *dump) bool { return has[d] })
}

// pidsIn returns the processes of the dumps whose objects belong into a directory.
func (l leftOutDumps) pidsIn(dir string) (pids []uint32) {
	for _, d := range l {
		if d.objects == dir {
			pids = append(pids, d.pid)
		}
	}
	return pids
}

// without returns dumps without those in l.
func (l leftOutDumps) without(dumps []*dump) []*dump {
	return slices.DeleteFunc(slices.Clone(dumps), func(d *dump) bool { return slices.Contains(l, d) })
}

// maxNamed bounds how many processes a sentence names.
const maxNamed = 3

// leftOutText says that the functions of processes are not in the result.
func leftOutText(pids []uint32) string {
	pids = slices.Compact(slices.Sorted(slices.Values(pids)))
	if len(pids) == 1 {
		return fmt.Sprintf("the functions of process %d are left out", pids[0])
	}
	var names []string
	for _, pid := range pids[:min(len(pids), maxNamed)] {
		names = append(names, fmt.Sprint(pid))
	}
	if more := len(pids) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	last := len(names) - 1
	return fmt.Sprintf("the functions of processes %s and %s are left out", strings.Join(names[:last], ", "), names[last])
}

// lacksRoom reports whether an object could not be written.
func (w *objectWriter) lacksRoom() bool {
	for f := range w.failed {
		if f.writing {
			return true
		}
	}
	return false
}
