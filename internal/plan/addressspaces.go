package plan

// An addressSpace is the code of a process and of its ancestors. It is nil if there is none.
type addressSpace struct {
	lo, hi uint64 // bounds of all its code, both included
	of     []*pieces
}

// addressSpaceOf returns the code that processes may have, or nil.
func (ref *referenced) addressSpaceOf(line []uint32) (f *addressSpace) {
	for _, pid := range line {
		of := ref.code[pid]
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
func (ref *referenced) bounds(pid uint32) (lo, hi uint64, ok bool) {
	f := ref.spaces.Get(pid)
	switch {
	case f == nil:
		return 0, 0, false
	case ref.ignore>>48 != 0: // signed addresses are anywhere
		return 0, ^uint64(0), true
	}
	return f.lo, f.hi, true
}
