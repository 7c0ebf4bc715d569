package plan

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
)

// Bundles must not hide what lies beside jitted code: parts of files, data, and functions of
// other dumps.

// The reserved ranges of a dump must not be covered by its bundles. They are in order and
// disjoint. files has those of files and data, code those of other dumps.
type reserved struct{ files, code []addrs.Range }

// reservedOf returns the reserved ranges for the bundles of a dump, of all times.
func (b *bundler) reservedOf(d *model.Dump) (w reserved) {
	seen := []*model.Dump{d}
	for _, pid := range b.spaceGroup(d) {
		if p := b.rec.Processes[pid]; p != nil {
			for i := range p.FileMaps {
				if m := &p.FileMaps[i]; m.Name != "" {
					w.files = append(w.files, addrs.Range{Lo: m.Lo, Hi: m.Hi})
				}
			}
			for i := range p.Others {
				w.files = append(w.files, addrs.Range{Lo: p.Others[i].Lo, Hi: p.Others[i].Hi})
			}
		}
		for _, other := range b.dumpsOf[pid] {
			if slices.Contains(seen, other) {
				continue
			}
			seen = append(seen, other)
			for _, r := range b.dumps[other] {
				w.code = append(w.code, addrs.Range{Lo: b.placedFunctions[r].lo, Hi: b.placedFunctions[r].hi})
			}
		}
	}
	w.files, w.code = apart(w.files), apart(w.code)
	return w
}

// spaceGroup returns the processes that have a dump's functions, and the ancestors whose memory
// they inherited.
func (b *bundler) spaceGroup(d *model.Dump) []uint32 {
	pids := slices.Clone(b.pids[d])
	for _, m := range d.Markers {
		for _, a := range b.rec.ProcessTree.Heritage(m.PID, m.Time) {
			if !slices.Contains(pids, a.PID) {
				pids = append(pids, a.PID)
			}
		}
	}
	return pids
}

// apart sorts ranges and joins those that meet or overlap, so that one search answers a query. It
// overwrites list.
func apart(list []addrs.Range) []addrs.Range {
	slices.SortFunc(list, func(a, b addrs.Range) int { return cmp.Compare(a.Lo, b.Lo) })
	joined := list[:0]
	for _, w := range list {
		if n := len(joined); n > 0 && w.Lo <= joined[n-1].Hi {
			joined[n-1].Hi = max(joined[n-1].Hi, w.Hi)
		} else {
			joined = append(joined, w)
		}
	}
	return joined
}

// isWalled reports whether a reserved range overlaps [lo, hi).
func isWalled(reserved []addrs.Range, lo, hi uint64) bool {
	i, _ := slices.BinarySearchFunc(reserved, lo, func(w addrs.Range, lo uint64) int {
		if w.Hi <= lo {
			return -1
		}
		return 1
	})
	return i < len(reserved) && reserved[i].Lo < hi
}

// An overlap is a mapping that may come to lie over jitted code later.
type overlap struct {
	lo, hi, time uint64
	dump         *model.Dump // nil for files and data
	reach        uint64      // the highest hi of it and of those before it
}

// overlaps are the overlapping mappings of a process, in the order of their addresses.
type overlaps struct {
	list []overlap
	// latest is the latest time of any.
	latest uint64
}

// overlapsOf returns the mappings of a process that may overlap bundles.
func (b *bundler) overlapsOf(pid uint32) *overlaps {
	x := new(overlaps)
	add := func(lo, hi, time uint64, d *model.Dump) {
		x.list = append(x.list, overlap{lo: lo, hi: hi, time: time, dump: d})
		x.latest = max(x.latest, time)
	}
	if p := b.rec.Processes[pid]; p != nil {
		for i := range p.FileMaps {
			if m := &p.FileMaps[i]; m.Name != "" {
				add(m.Lo, m.Hi, m.Time, nil)
			}
		}
		for i := range p.Others {
			add(p.Others[i].Lo, p.Others[i].Hi, p.Others[i].Time, nil)
		}
	}
	if len(b.dumpsOf[pid]) > 1 {
		for i := range b.old.Mappings {
			if m := &b.old.Mappings[i]; m.PID == pid {
				add(m.Addr, m.Addr+m.Len, m.Time, b.old.Objects[m.Object].Dump)
			}
		}
	}
	slices.SortFunc(x.list, func(a, b overlap) int { return cmp.Compare(a.lo, b.lo) })
	reach := uint64(0)
	for i := range x.list {
		reach = max(reach, x.list[i].hi)
		x.list[i].reach = reach
	}
	return x
}

// between reports whether a mapping of anything but d came to lie in [lo, hi), at a time from
// since to until.
func (x *overlaps) between(d *model.Dump, lo, hi, since, until uint64) bool {
	if x.latest < since {
		return false
	}
	n, _ := slices.BinarySearchFunc(x.list, hi, func(i overlap, hi uint64) int {
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
