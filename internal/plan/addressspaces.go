package plan

import (
	"github.com/jitinject/jitinject/internal/recording"
)

// A descent holds what processes have from their ancestors, at any time. Processes that add
// nothing of their own share it.
type descent[T any] struct {
	tree *recording.ProcessTree
	own  func(pid uint32) bool // whether a process has something of its own
	of   func(line []uint32) T // what a process and its possible ancestors have together
	all  map[uint32]T          // by process
}

// get returns what a process and all its possible ancestors have.
func (d *descent[T]) get(pid uint32) T {
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
		parent, only := onlyParent(d.tree, last)
		if d.own(last) || !only || passed[parent] {
			has = d.of(d.tree.Line(last))
			break
		}
		line, passed[parent] = append(line, parent), true
	}
	for _, pid := range line {
		d.all[pid] = has
	}
	return has
}

// onlyParent returns the process from which all forks of a process were. It returns false if
// there is none, or more than one.
func onlyParent(tree *recording.ProcessTree, pid uint32) (parent uint32, ok bool) {
	for i, b := range tree.ForksOf(pid) {
		if i > 0 && b.Parent != parent {
			return 0, false
		}
		parent, ok = b.Parent, true
	}
	return parent, ok
}

// An addressSpace is the code of a process and of its ancestors. It is nil if there is none.
type addressSpace struct {
	lo, hi uint64 // bounds of all its code, both included
	of     []*pieces
}

// addressSpaceOf returns the code that processes may have, or nil.
func (t *referenced) addressSpaceOf(line []uint32) (f *addressSpace) {
	for _, pid := range line {
		of := t.code[pid]
		if of != nil && len(of.starts) > 0 {
			if f == nil {
				f = &addressSpace{lo: of.starts[0]}
			}
			f.lo, f.hi = min(f.lo, of.starts[0]), max(f.hi, of.starts[len(of.starts)-1])
			f.of = append(f.of, of)
		}
	}
	return f
}

// bounds returns the addresses between which a process may have jitted code.
func (t *referenced) bounds(pid uint32) (lo, hi uint64, ok bool) {
	f := t.spaces.get(pid)
	switch {
	case f == nil:
		return 0, 0, false
	case t.ignore>>48 != 0: // signed addresses are anywhere
		return 0, ^uint64(0), true
	}
	return f.lo, f.hi, true
}
