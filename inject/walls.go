package inject

import (
	"cmp"
	"slices"
)

// What is beside jitted code, and must stay to be seen beside bundles: parts of files,
// data, and functions of other dumps.

// walls are what no bundle of a dump may be mapped over, in order and apart.
type walls struct{ files, code []addrRange }

// wallsOf returns the walls for the bundles of a dump, whenever they are there.
func (b *bundler) wallsOf(d *dump) (w walls) {
	seen := []*dump{d}
	for _, pid := range b.company(d) {
		if p := b.rec.processes[pid]; p != nil {
			for i := range p.fileMaps {
				if m := &p.fileMaps[i]; m.name != "" {
					w.files = append(w.files, addrRange{m.lo, m.hi})
				}
			}
			for i := range p.others {
				w.files = append(w.files, addrRange{p.others[i].lo, p.others[i].hi})
			}
		}
		for _, other := range b.dumpsOf[pid] {
			if slices.Contains(seen, other) {
				continue
			}
			seen = append(seen, other)
			for _, r := range b.dumps[other] {
				w.code = append(w.code, addrRange{b.residents[r].lo, b.residents[r].hi})
			}
		}
	}
	w.files, w.code = apart(w.files), apart(w.code)
	return w
}

// company returns the processes that have a dump's functions, and those whose memory they
// began with.
func (b *bundler) company(d *dump) []uint32 {
	pids := slices.Clone(b.pids[d])
	for _, m := range d.markers {
		for _, a := range b.rec.genealogy.heritage(m.pid, m.time) {
			if !slices.Contains(pids, a.pid) {
				pids = append(pids, a.pid)
			}
		}
	}
	return pids
}

// apart sorts ranges and joins those that touch each other, so that one search finds
// what there is.
func apart(list []addrRange) []addrRange {
	slices.SortFunc(list, func(a, b addrRange) int { return cmp.Compare(a.lo, b.lo) })
	joined := list[:0]
	for _, w := range list {
		if n := len(joined); n > 0 && w.lo <= joined[n-1].hi {
			joined[n-1].hi = max(joined[n-1].hi, w.hi)
		} else {
			joined = append(joined, w)
		}
	}
	return joined
}

// isWalled reports whether one of the walls is in [lo, hi).
func isWalled(walls []addrRange, lo, hi uint64) bool {
	i, _ := slices.BinarySearchFunc(walls, lo, func(w addrRange, lo uint64) int {
		if w.hi <= lo {
			return -1
		}
		return 1
	})
	return i < len(walls) && walls[i].lo < hi
}

// An intruder is something that comes to lie over jitted code later.
type intruder struct {
	lo, hi, time uint64
	dump         *dump  // nil for files and data
	reach        uint64 // the highest hi up to this one
}

// intruders are those of a process, in the order of their addresses.
type intruders struct {
	list   []intruder
	latest uint64
}

// intrudersOf returns what is mapped in a process beside the bundles of a dump.
func (b *bundler) intrudersOf(pid uint32) *intruders {
	x := new(intruders)
	add := func(lo, hi, time uint64, d *dump) {
		x.list = append(x.list, intruder{lo: lo, hi: hi, time: time, dump: d})
		x.latest = max(x.latest, time)
	}
	if p := b.rec.processes[pid]; p != nil {
		for i := range p.fileMaps {
			if m := &p.fileMaps[i]; m.name != "" {
				add(m.lo, m.hi, m.time, nil)
			}
		}
		for i := range p.others {
			add(p.others[i].lo, p.others[i].hi, p.others[i].time, nil)
		}
	}
	if len(b.dumpsOf[pid]) > 1 {
		for i := range b.old.mappings {
			if m := &b.old.mappings[i]; m.pid == pid {
				add(m.addr, m.addr+m.len, m.time, b.old.objects[m.object].dump)
			}
		}
	}
	slices.SortFunc(x.list, func(a, b intruder) int { return cmp.Compare(a.lo, b.lo) })
	reach := uint64(0)
	for i := range x.list {
		reach = max(reach, x.list[i].hi)
		x.list[i].reach = reach
	}
	return x
}

// between reports whether something other than a dump's came to lie in [lo, hi) from one
// time to another.
func (x *intruders) between(d *dump, lo, hi, since, until uint64) bool {
	if x.latest < since {
		return false
	}
	n, _ := slices.BinarySearchFunc(x.list, hi, func(i intruder, hi uint64) int {
		if i.lo < hi {
			return -1
		}
		return 1
	})
	for i := n - 1; i >= 0 && x.list[i].reach > lo; i-- {
		if k := &x.list[i]; k.hi > lo && k.time >= since && k.time <= until && (k.dump == nil || k.dump != d) {
			return true
		}
	}
	return false
}
