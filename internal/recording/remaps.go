package recording

import (
	"bytes"
	"cmp"
	"iter"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/perfdata"
)

// Memory may be mapped over memory. perf records no unmapping, and it records memory again whenever that
// becomes executable (mprotect, or the same file mapped in turns to be written and to be run). So the second
// mapping may be of the same memory, with the same code, or of other memory, which has none of it.

// A backing says where the kernel keeps memory.
type backing uint8

const (
	unknownBacking backing = iota
	privateBacking         // nowhere: it is anonymous and private
	fileBacking            // in a file that has a device and an inode: MAP_SHARED, or a memfd
)

// backingOf returns the backing of a mapping of memory. The inode of a deleted file does not count: on
// overlay file systems, /proc/PID/maps and the kernel's records differ.
func backingOf(m *perfdata.Mmap) backing {
	switch {
	case !IsAnonymous(m.Filename):
	case m.File.Inode != 0:
		return fileBacking
	case bytes.HasPrefix(m.Filename, []byte(ClearName)), bytes.HasPrefix(m.Filename, []byte("[anon:")):
		return privateBacking
	}
	return unknownBacking
}

// replaces reports whether a mapping is surely of other memory than an earlier one. inherited says that
// the process has the earlier one by a fork.
//
// Private memory looks the same, however often it is mapped. But memory that is both writable and executable
// needs no mprotect. And in a forked child, the kernel joins a new mapping with no inherited one
// (is_mergeable_anon_vma), so its record has new memory only.
func (m *FileMap) replaces(earlier *FileMap, inherited bool) bool {
	switch {
	case m.backing == unknownBacking || earlier.backing == unknownBacking:
		return false
	case m.backing != earlier.backing:
		return true
	case m.backing == privateBacking:
		return inherited && earlier.writable && m.writable && earlier.Lo <= m.Lo && m.Hi <= earlier.Hi
	}
	// A private mapping may have a copy of its own of what the file has.
	return m.place() != earlier.place() || m.Shared && !earlier.Shared
}

// under calls f for the parts of the i-th mapping of a process, with the latest mapping that its program had
// there before. inherited says that this was an ancestor's. Parts with nothing are left out.
// It looks at the nearest maxLayers processes with mappings.
func (h *FileHistories) under(pid uint32, i int, steps *int, f func(part addrs.Range, below *FileMap, inherited bool)) {
	type search struct {
		addrs.Range
		layer, to int // the first layer, and the end of its mappings
	}
	m := &h.history(pid).maps[i]
	layers := make([]mapLayer, 0, 4)
	for l := range h.layers(pid, m.Time) {
		if layers = append(layers, l); len(layers) == maxLayers {
			break
		}
	}
	layers[0].to = min(layers[0].to, i)
	*steps += len(layers)
	for todo := []search{{addrs.Range{Lo: m.Lo, Hi: m.Hi}, 0, layers[0].to}}; len(todo) > 0; {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for {
			l := &layers[s.layer]
			if last := l.line.Last(s.Range, l.from, s.to); last >= 0 {
				below := &l.maps[last]
				lo, hi := max(s.Lo, below.Lo), min(s.Hi, below.Hi)
				*steps++
				f(addrs.Range{Lo: lo, Hi: hi}, below, s.layer > 0)
				if s.Lo < lo {
					todo = append(todo, search{addrs.Range{Lo: s.Lo, Hi: lo}, s.layer, last})
				}
				if hi < s.Hi {
					todo = append(todo, search{addrs.Range{Lo: hi, Hi: s.Hi}, s.layer, last})
				}
				break
			}
			if s.layer++; s.layer == len(layers) {
				break
			}
			s.to = layers[s.layer].to
		}
	}
}

// A Replacement says that memory came in place of a file or of other memory, at a time in nanoseconds.
type Replacement struct {
	addrs.Range
	Time uint64
	PID  uint32
	// OfFile says that the file was mapped at FileTime. Memory may have come in its place earlier: perf
	// records that when it becomes executable.
	OfFile   bool
	FileTime uint64
}

// maxLayers bounds how many ancestors are looked at for each mapping, in chains of forks.
const maxLayers = 16

// maxReplacements bounds the parts of mappings, and the ancestors, that are looked at. Children that map memory over all
// of their parent's mappings replace each of them: fewReplaced and replacedPerMapping bound how many are listed.
const (
	maxReplacements    = 1 << 22
	fewReplaced        = 1 << 16
	replacedPerMapping = 8
)

// Replacements returns all replacements in the order of their times. perf keeps at an exec what a process had mapped
// before: where the next program has memory whose records are left out (in spans), that comes in its place, as in that
// of a file. all is false if there are too many: then some are missing.
func (h *FileHistories) Replacements(spans map[uint32]Spans) (list []Replacement, all bool) {
	all = true
	steps, most := 0, fewReplaced+replacedPerMapping*h.rec.inherited().mappings
	for _, pid := range h.rec.PIDs() {
		for i, m := range h.those(pid, func(m *FileMap) bool { return m.backing != unknownBacking && m.Time > 0 }) {
			if steps > maxReplacements || len(list) > most {
				all = false
				break
			}
			exec := h.rec.ProcessTree.LastExec(pid, m.Time)
			if exec > 0 && m.Name == "" && spans[pid].Hold(m.Time, m.Pos) && h.isLeft(addrs.Range{Lo: m.Lo, Hi: m.Hi}, pid, exec) {
				for _, part := range h.fresh(pid, i, func(*FileMap) bool { return true }, &steps) {
					list = append(list, Replacement{part, m.Time, pid, true, exec})
				}
			}
			h.under(pid, i, &steps, func(part addrs.Range, below *FileMap, inherited bool) {
				if ofFile := below.Name != "" && m.Name == ""; ofFile || m.replaces(below, inherited) {
					list = append(list, Replacement{part, m.Time, pid, ofFile, below.Time})
				}
			})
		}
	}
	sorting.Stable(list, func(a, b Replacement) int {
		return cmp.Compare(a.Time, b.Time)
	})
	return list, all
}

// isLeft reports whether a process, or an ancestor, had mapped a part of r before an exec of the process.
func (h *FileHistories) isLeft(r addrs.Range, pid uint32, time uint64) bool {
	for more, n := true, 0; more && n < maxLayers; n++ {
		if f := h.history(pid); f.line.First(r, 0, f.upTo(time-1)) >= 0 {
			return true
		}
		pid, time, more = h.passed.Next(pid, time)
	}
	return false
}

// Repeats returns the records of memory that a process has mapped already, of files that are shared with
// the processes of spans: in the result they would hide its code. For each record, by its position, there are
// the parts that the process did not have, in the order of their addresses. Anonymous memory in spans is
// left to its rule.
func (h *FileHistories) Repeats(spans map[uint32]Spans) map[int64][]addrs.Range {
	repeats := make(map[int64][]addrs.Range)
	with := make(map[SharedFile]bool)
	done := make(map[mapLayer]int) // by those without to: children have the mappings of their parents in common
	for pid, list := range spans {
		for i := range list {
			for l := range h.layers(pid, list[i].From) {
				key := mapLayer{l.fileHistory, l.from, 0}
				for k := max(l.from, done[key]); k < l.to; k++ {
					if f, ok := l.maps[k].shared(); ok {
						with[f] = true
					}
				}
				done[key] = max(done[key], l.to)
			}
		}
	}
	if len(with) == 0 {
		return repeats
	}
	steps := 0
	for _, pid := range h.rec.PIDs() {
		for i, m := range h.those(pid, func(m *FileMap) bool { f, ok := m.shared(); return ok && with[f] && m.backing != unknownBacking }) {
			if spans[pid].Hold(m.Time, m.Pos) || steps > maxReplacements {
				continue
			}
			f, _ := m.shared()
			if parts := h.fresh(pid, i, f.isOf, &steps); !slices.Equal(parts, []addrs.Range{{Lo: m.Lo, Hi: m.Hi}}) {
				repeats[m.Pos] = parts
			}
		}
	}
	return repeats
}

// those yields the mappings of a process for which is holds, with their numbers in its history.
func (h *FileHistories) those(pid uint32, is func(m *FileMap) bool) iter.Seq2[int, *FileMap] {
	return func(yield func(int, *FileMap) bool) {
		if !slices.ContainsFunc(h.rec.Processes[pid].FileMaps, func(m FileMap) bool { return is(&m) }) {
			return // it needs no history
		}
		for i, maps := 0, h.history(pid).maps; i < len(maps); i++ {
			if is(&maps[i]) && !yield(i, &maps[i]) {
				return
			}
		}
	}
}

// fresh returns the parts of the i-th mapping of a process where its program had no mapping for which is holds just
// before, in the order of their addresses. It adds to steps.
func (h *FileHistories) fresh(pid uint32, i int, is func(m *FileMap) bool, steps *int) (parts []addrs.Range) {
	had, lo := new(addrs.Owners), h.history(pid).maps[i].Lo
	h.under(pid, i, steps, func(part addrs.Range, below *FileMap, _ bool) {
		if is(below) {
			had.Place(part.Lo, part.Hi, 0)
		}
	})
	m := &h.history(pid).maps[i]
	for _, t := range append(had.Within(m.Lo, m.Hi), addrs.Tenancy{Lo: m.Hi}) {
		if lo < t.Lo {
			parts = append(parts, addrs.Range{Lo: lo, Hi: t.Lo})
		}
		lo = t.Hi
	}
	return parts
}
