package recording

import (
	"cmp"
	"iter"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/sorting"
)

// FileHistories has the executable mappings of processes in the order of their times. A process
// shares those of its ancestors, which may be many.
type FileHistories struct {
	rec      *Recording
	of       map[uint32]*fileHistory
	files    map[processFile]*partHistory
	carriers Carriers // the processes with mappings
	passed   Carriers // the same, also past an exec
}

// NewFileHistories returns the histories of the processes of a recording.
func NewFileHistories(rec *Recording) *FileHistories {
	h := &FileHistories{rec: rec, of: make(map[uint32]*fileHistory), files: make(map[processFile]*partHistory)}
	has := func(pid uint32) bool { return rec.Processes[pid] != nil && len(rec.Processes[pid].FileMaps) > 0 }
	h.carriers, h.passed = Carriers{Tree: &rec.ProcessTree, Has: has}, Carriers{Tree: &rec.ProcessTree, Has: has, PastExec: true}
	return h
}

// A fileHistory has the executable mappings of a process.
type fileHistory struct {
	maps  []FileMap // in the order of their times
	line  addrs.Timeline
	named partHistory // those of files, by address
}

// A processFile is a file that a process mapped.
type processFile struct {
	history *fileHistory
	file    fileID
}

// A partHistory has the mappings of one file.
type partHistory struct {
	maps []int          // indexes in the history
	line addrs.Timeline // of the parts of the file, by offset
}

// first returns the index in the history of the first of the mappings in [from, to) that overlaps a range, or -1.
func (h *partHistory) first(r addrs.Range, from, to int) int {
	n, _ := slices.BinarySearch(h.maps, from)
	end, _ := slices.BinarySearch(h.maps, to)
	if n = h.line.First(r, n, end); n >= 0 {
		return h.maps[n]
	}
	return -1
}

// history returns the history of a process.
func (h *FileHistories) history(pid uint32) *fileHistory {
	if f := h.of[pid]; f != nil {
		return f
	}
	f := new(fileHistory)
	h.of[pid] = f
	if p := h.rec.Processes[pid]; p != nil {
		maps := slices.Clone(p.FileMaps)
		sorting.Stable(maps, func(a, b FileMap) int { return cmp.Compare(a.Time, b.Time) })
		for i := range maps {
			h.add(f, &maps[i])
		}
	}
	return f
}

// add adds a mapping of a process that is not earlier than the others.
func (h *FileHistories) add(f *fileHistory, m *FileMap) {
	id := processFile{f, m.file()}
	parts := h.files[id]
	if parts == nil {
		parts = new(partHistory)
		h.files[id] = parts
	}
	parts.maps = append(parts.maps, len(f.maps))
	parts.line.Add(addrs.Range{Lo: m.Off, Hi: m.Off + (m.Hi - m.Lo)})
	if m.Name != "" {
		f.named.maps = append(f.named.maps, len(f.maps))
		f.named.line.Add(addrs.Range{Lo: m.Lo, Hi: m.Hi})
	}
	f.maps = append(f.maps, *m)
	f.line.Add(addrs.Range{Lo: m.Lo, Hi: m.Hi})
}

// upTo returns how many mappings were made up to a time.
func (f *fileHistory) upTo(time uint64) int { return upTo(f.maps, time) }

// Maps reports whether a process made an executable mapping over a part of r after a time, up to
// another one. Times are those of the recording.
func (h *FileHistories) Maps(pid uint32, r addrs.Range, after, until uint64) bool {
	f := h.history(pid)
	return f.line.First(r, f.upTo(after), f.upTo(until)) >= 0
}

// ProgramMaps are the executable mappings of a program: those that its process makes in its whole
// life, and, unless there was an exec since the fork, those that the parent had then.
type ProgramMaps struct {
	files  map[processFile]*partHistory
	layers []mapLayer // those of its process first, then of its ancestors
}

// A mapLayer has the mappings of a process from one index up to another.
type mapLayer struct {
	*fileHistory
	from, to int
}

// Program returns the mappings of the program that a process runs at a time.
func (h *FileHistories) Program(pid uint32, time uint64) *ProgramMaps {
	maps := &ProgramMaps{files: h.files}
	for l := range h.layers(pid, time) {
		if l.from < l.to {
			maps.layers = append(maps.layers, l)
		}
	}
	return maps
}

// layers returns the mappings of the program that a process runs at a time: those of the process, and
// those that it inherited from each ancestor, nearest first.
func (h *FileHistories) layers(pid uint32, time uint64) iter.Seq[mapLayer] {
	return func(yield func(mapLayer) bool) {
		end := h.rec.ProcessTree.LifeEnd(pid, time)
		for range MaxCarriers {
			since := h.rec.ProcessTree.Program(pid, time).Since
			f := h.history(pid)
			from, _ := slices.BinarySearchFunc(f.maps, since, func(m FileMap, since uint64) int { return cmp.Compare(m.Time, since) })
			if !yield(mapLayer{f, from, f.upTo(end)}) {
				return
			}
			var more bool
			if pid, time, more = h.carriers.Next(pid, time); !more {
				return
			}
			end = time
		}
	}
}

// latest returns the latest mapping up to a time that overlaps a range, or nil.
func (l *mapLayer) latest(r addrs.Range, time uint64) *FileMap {
	if i := l.line.Last(r, l.from, min(l.to, l.upTo(time))); i >= 0 {
		return &l.maps[i]
	}
	return nil
}

// InForce returns the mapping that covers [lo, hi) at a time: the latest one that overlaps the
// range. The result is false if that one is of memory, or lacks a part of the range.
func (p *ProgramMaps) InForce(lo, hi, time uint64) (*FileMap, bool) {
	for i := range p.layers {
		if m := p.layers[i].latest(addrs.Range{Lo: lo, Hi: hi}, time); m != nil {
			return m, m.Lo <= lo && hi <= m.Hi && m.Name != ""
		}
	}
	return nil, false
}

// After calls f for the mappings of files that the program's process makes over a part of [lo, hi) after a time,
// until f returns false. They are in the order of their times.
func (p *ProgramMaps) After(lo, hi, time uint64, f func(*FileMap) bool) {
	if len(p.layers) == 0 {
		return
	}
	l := p.layers[0]
	r := addrs.Range{Lo: lo, Hi: hi}
	for i := l.named.first(r, max(l.from, l.upTo(time)), l.to); i >= 0; i = l.named.first(r, i+1, l.to) {
		if !f(&l.maps[i]) {
			return
		}
	}
}

// All calls f for all mappings in the order of their times, until f returns false.
func (p *ProgramMaps) All(f func(*FileMap) bool) {
	for _, l := range slices.Backward(p.layers) {
		for i := l.from; i < l.to; i++ {
			if !f(&l.maps[i]) {
				return
			}
		}
	}
}

// Each calls f for the mappings of length bytes of m's file, from offset off on, in the order of
// their times, until f returns false. The first one is the home: the loader's mapping, which
// precedes all that the program makes of that part. elfutils finds a program's file only there.
func (p *ProgramMaps) Each(m *FileMap, off, length uint64, f func(*FileMap) bool) {
	p.EachPart(m, off, length, func(c *FileMap) bool { return !c.HasFile(off, length) || f(c) })
}

// EachPart is Each for mappings of any of these bytes.
func (p *ProgramMaps) EachPart(m *FileMap, off, length uint64, f func(*FileMap) bool) {
	for _, l := range slices.Backward(p.layers) {
		parts := p.files[processFile{l.fileHistory, m.file()}]
		if parts == nil {
			continue
		}
		n, _ := slices.BinarySearch(parts.maps, l.from)
		to, _ := slices.BinarySearch(parts.maps, l.to)
		for n = parts.line.First(addrs.Range{Lo: off, Hi: off + length}, n, to); n >= 0; n = parts.line.First(addrs.Range{Lo: off, Hi: off + length}, n+1, to) {
			if !f(&l.maps[parts.maps[n]]) {
				return
			}
		}
	}
}
