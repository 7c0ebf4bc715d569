package plan

import (
	"cmp"
	"slices"
	"sort"

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
	seen := map[*model.Dump]bool{d: true}
	addCode := func(other *model.Dump) {
		if seen[other] {
			return
		}
		seen[other] = true
		for _, r := range b.dumps[other] {
			w.code = append(w.code, addrs.Range{Lo: b.placedFunctions[r].lo(), Hi: b.placedFunctions[r].hi()})
		}
	}
	for _, pid := range b.spaceGroup(d) {
		for _, m := range filesAndData(b.rec.Processes[pid]) {
			w.files = append(w.files, m.Range)
		}
		for _, other := range b.dumpsOf[pid] {
			addCode(other)
		}
	}
	for _, other := range b.sharers[d] {
		addCode(other)
	}
	w.files, w.code = apart(w.files), apart(w.code)
	return w
}

// spaceGroup returns the processes that have a dump's functions, and the ancestors that they
// inherited memory from.
func (b *bundler) spaceGroup(d *model.Dump) []uint32 {
	pids := slices.Clone(b.pids[d])
	known := make(map[uint32]bool)
	for _, pid := range pids {
		known[pid] = true
	}
	for _, pid := range b.rec.ProcessTree.Heritage(d.Markers) {
		if !known[pid] {
			pids = append(pids, pid)
		}
	}
	return pids
}

// clearedOf returns the addresses that code of a dump leaves, in order and disjoint.
func (b *bundler) clearedOf(d *model.Dump) (list []addrs.Range) {
	for i := range b.in.Mappings {
		if m := &b.in.Mappings[i]; m.Clear && b.in.List[m.Object].Dump == d {
			list = append(list, addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len})
		}
	}
	return apart(list)
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
	i := sort.Search(len(reserved), func(i int) bool { return reserved[i].Hi > lo })
	return i < len(reserved) && reserved[i].Lo < hi
}
