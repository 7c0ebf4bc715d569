package recording

import (
	"math"
	"slices"
)

// A lineage has what follows for processes from their ancestors. Any further record makes it void.
type lineage struct {
	markers int                 // how many of the recording's markers are in times
	times   map[uint32][]uint64 // of the markers of each process, in order
	dumps   *Ancestry           // of processes with markers
	files   Descent[bool]       // whether files are known
	names   Descent[string]     // see Recording.CommOf

	memories map[relatedKey]*RelatedMemory
	mappings int // number of executable mappings
	copied   int // see affords
	left     int // what copied was when further ones were left out

	histories *FileHistories // for Recording.FileMapsOf; nil until that is asked
}

// inherited returns the lineage of the records so far.
func (r *Recording) inherited() *lineage {
	if r.lineage == nil {
		named := func(pid uint32) bool { return r.Processes[pid] != nil && r.Processes[pid].Comm != "" }
		hasFile := func(pid uint32) bool {
			p := r.Processes[pid]
			return p != nil && slices.ContainsFunc(p.FileMaps, func(m FileMap) bool { return m.Name != "" })
		}
		l := &lineage{times: make(map[uint32][]uint64), memories: make(map[relatedKey]*RelatedMemory)}
		l.files = Descent[bool]{Tree: &r.ProcessTree, Own: hasFile, Of: func(line []uint32) bool { return slices.ContainsFunc(line, hasFile) }}
		l.names = Descent[string]{Tree: &r.ProcessTree, Own: named, Of: func(line []uint32) string {
			if i := slices.IndexFunc(line, named); i >= 0 {
				return r.Processes[line[i]].Comm
			}
			return ""
		}}
		for _, p := range r.Processes {
			l.mappings += len(p.FileMaps)
		}
		l.histories = NewFileHistories(r)
		r.lineage = l
	}
	return r.lineage
}

// Thousands of children may have thousands of their parent's mappings. fewCopied and copiedPerMapping bound how many are
// copied for processes that inherited them.
const (
	fewCopied        = 1 << 16
	copiedPerMapping = 8
)

// affords reports whether n more mappings of other processes may be copied.
func (l *lineage) affords(n int) bool {
	if l.copied+n > fewCopied+copiedPerMapping*l.mappings {
		l.left = l.copied
		return false
	}
	l.copied += n
	return true
}

// LeftMappings returns how many mappings of other processes were copied if further ones were left out, or else 0.
func (r *Recording) LeftMappings() int { return r.inherited().left }

// markerTimes returns the times of a process's markers, in order.
func (r *Recording) markerTimes(pid uint32) []uint64 {
	l := r.inherited()
	for ; l.markers < len(r.Markers); l.markers++ {
		m := &r.Markers[l.markers]
		times := l.times[m.PID]
		at, _ := slices.BinarySearch(times, m.Time)
		l.times[m.PID], l.dumps = slices.Insert(times, at, m.Time), nil
	}
	return l.times[pid]
}

// NumMarkers returns the number of a process's markers.
func (r *Recording) NumMarkers(pid uint32) int { return len(r.markerTimes(pid)) }

// HasDump reports whether the last program that a process runs has a marker, or began with the
// memory of one that had.
func (r *Recording) HasDump(pid uint32) bool {
	l, tree := r.inherited(), &r.ProcessTree
	r.markerTimes(pid)
	if l.dumps == nil {
		l.dumps = &Ancestry{Tree: tree, Memory: true, Has: func(pid uint32, time uint64) bool {
			of := l.times[pid]
			i, _ := slices.BinarySearch(of, tree.Program(pid, time).Since)
			return i < len(of) && of[i] <= time
		}}
	}
	return l.dumps.Holds(pid, math.MaxUint64)
}

// DumpingAncestor returns a possible ancestor of a process that has a marker, or 0.
func (r *Recording) DumpingAncestor(pid uint32) uint32 {
	line := r.ProcessTree.Line(pid)[1:]
	if i := slices.IndexFunc(line, func(from uint32) bool { return r.NumMarkers(from) > 0 }); i >= 0 {
		return line[i]
	}
	return 0
}

// HasFiles reports whether the recording shows which files a process, or a possible ancestor, has
// mapped. If it does not, the location of its samples is unknown.
func (r *Recording) HasFiles(pid uint32) bool { return r.inherited().files.Get(pid) }

// CommOf returns the last name of a process, or "". A process without a name of its own has that
// of the nearest process that it may come from; of several, that of the earliest fork.
func (r *Recording) CommOf(pid uint32) string { return r.inherited().names.Get(pid) }
