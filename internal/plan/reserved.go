package plan

import (
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// Bundles must not hide what lies beside jitted code: parts of files, data, and functions of
// other dumps.

// The reserved ranges of a dump must not be covered by its bundles. They are in order and
// disjoint. files has those of files and data of each process, code those of other dumps.
type reserved struct {
	files []recording.Ranges
	code  recording.Ranges
}

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
		w.files = append(w.files, b.filesOf(pid))
		for _, other := range b.dumpsOf[pid] {
			addCode(other)
		}
	}
	for _, other := range b.sharers[d] {
		addCode(other)
	}
	w.code = w.code.Joined()
	return w
}

// filesOf returns the ranges of files and data of a process. Dumps of its children have it in common.
func (b *bundler) filesOf(pid uint32) recording.Ranges {
	list, ok := b.ofFiles[pid]
	if !ok {
		for _, m := range filesAndData(b.rec.Processes[pid]) {
			list = append(list, m.Range)
		}
		b.ofFiles[pid] = list.Joined()
	}
	return b.ofFiles[pid]
}

// hasFile reports whether a file or data overlaps [lo, hi).
func (w *reserved) hasFile(lo, hi uint64) bool {
	return slices.ContainsFunc(w.files, func(list recording.Ranges) bool { return list.Overlap(lo, hi) })
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
func (b *bundler) clearedOf(d *model.Dump) recording.Ranges {
	if b.cleared == nil {
		b.cleared = make(map[*model.Dump]recording.Ranges)
		for i := range b.in.Mappings {
			if m := &b.in.Mappings[i]; m.Clear {
				d := b.in.List[m.Object].Dump
				b.cleared[d] = append(b.cleared[d], addrs.Range{Lo: m.Addr, Hi: m.Addr + m.Len})
			}
		}
		for d, list := range b.cleared {
			b.cleared[d] = list.Joined()
		}
	}
	return b.cleared[d]
}
