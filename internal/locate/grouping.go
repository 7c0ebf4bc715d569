package locate

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/perfdata"
)

// referencesOf returns the references of a recording, with all markers of one dump together: those
// that name the same file, of one process or of processes that descend from each other.
func referencesOf(rec *recording.Recording) (references []*Reference) {
	g := groupMarkers(rec)
	of := make(map[int]*Reference, len(rec.Markers)) // by the first marker
	leads := make(map[*Reference]int)                // index of the marker to lead
	for i, m := range rec.Markers {
		c := of[g.firstOf(i)]
		if c == nil {
			c = &Reference{Path: markedPath(&m)}
			of[i] = c
			references = append(references, c)
		}
		c.Markers = append(c.Markers, m)
		if _, led := leads[c]; !led && !g.descends[i] {
			leads[c] = len(c.Markers) - 1
		}
	}
	for c, i := range leads {
		c.lead(i)
	}
	return references
}

// markedPath returns the path in a marker, without the kernel's suffix.
func markedPath(m *recording.Marker) string {
	return strings.TrimSuffix(m.Path, recording.DeletedSuffix)
}

// A grouping divides the markers of a recording among dumps. It has a union-find forest: a marker
// is joined with others of its process, and with the nearest ancestor that mapped the file.
type grouping struct {
	rec *recording.Recording
	// first has, for each marker, an earlier one of the same dump, or itself.
	first []int
	// descends says that an ancestor of the marker's process mapped the file, too.
	descends []bool
}

func groupMarkers(rec *recording.Recording) *grouping {
	g := &grouping{rec: rec, first: make([]int, len(rec.Markers)), descends: make([]bool, len(rec.Markers))}
	named := make(map[string][]int) // by the last part of the path
	for i := range rec.Markers {
		g.first[i] = i
		base := filepath.Base(markedPath(&rec.Markers[i]))
		named[base] = append(named[base], i)
	}
	for _, list := range named {
		if len(list) > 1 {
			g.join(list)
		}
	}
	return g
}

// firstOf returns the first marker of the dump of marker i.
func (g *grouping) firstOf(i int) int {
	for g.first[i] != i {
		g.first[i] = g.first[g.first[i]]
		i = g.first[i]
	}
	return i
}

// union joins the dumps of two markers.
func (g *grouping) union(i, j int) {
	i, j = g.firstOf(i), g.firstOf(j)
	g.first[max(i, j)] = min(i, j)
}

// A step is a fork on the way to the ancestors of a process that mapped a file.
type step struct {
	pid, parent uint32
	time        uint64
	file        perfdata.FileIdentity
	path        string
	mount       perfdata.Namespace
}

// join joins those markers of a list that are of one dump. Their files have the same name. It
// follows each fork once for a file.
func (g *grouping) join(list []int) {
	files := newFileIndex(g.rec, list)
	found := make(map[step]int) // a marker, or -1
	for _, i := range list {
		m := &g.rec.Markers[i]
		if j := files.find(m.PID, m); j >= 0 {
			g.union(i, j)
		}
		s := step{file: m.File, path: markedPath(m), mount: mountOf(g.rec, m.PID)}
		var way []step
		near := -1
		for pid, time := m.PID, m.Time; near < 0; {
			b, ok := g.rec.ProcessTree.Fork(pid, time)
			if !ok {
				break
			}
			s.pid, s.parent, s.time = b.PID, b.Parent, b.Time
			known, seen := found[s]
			if seen {
				near = known
				break
			}
			found[s] = -1 // forks with equal times may form a circle
			way = append(way, s)
			near = files.find(b.Parent, m)
			pid, time = b.Parent, b.Time
		}
		if near >= 0 {
			g.union(i, near)
			g.descends[i] = g.rec.Markers[near].PID != m.PID
			for _, s := range way {
				found[s] = near
			}
		}
	}
}

// A fileIndex finds the markers of a process by their files.
type fileIndex struct {
	rec *recording.Recording
	// Each has the first marker of a kind: with a known file, with an unknown file, and with
	// any.
	known        map[knownFile]int
	unknown, any map[namedFile]int
}

type knownFile struct {
	pid  uint32
	file perfdata.FileIdentity
}

type namedFile struct {
	pid  uint32
	path string
}

func newFileIndex(rec *recording.Recording, list []int) *fileIndex {
	f := &fileIndex{rec: rec, known: make(map[knownFile]int), unknown: make(map[namedFile]int), any: make(map[namedFile]int)}
	for _, i := range slices.Backward(list) {
		m := &rec.Markers[i]
		named := namedFile{m.PID, markedPath(m)}
		f.any[named] = i
		if m.File == (perfdata.FileIdentity{}) {
			f.unknown[named] = i
		} else {
			f.known[knownFile{m.PID, m.File}] = i
		}
	}
	return f
}

// find returns the first marker of a process that names the same file as m, or -1.
func (f *fileIndex) find(pid uint32, m *recording.Marker) int {
	list := f.any
	if m.File != (perfdata.FileIdentity{}) {
		if i, ok := f.known[knownFile{pid, m.File}]; ok {
			return i
		}
		list = f.unknown
	}
	if i, ok := list[namedFile{pid, markedPath(m)}]; ok && sameFile(f.rec, &f.rec.Markers[i], m) {
		return i
	}
	return -1
}

// sameFile reports whether two markers name the same file, as far as the recording shows. One
// path is another file in another container, or when it is made again.
func sameFile(rec *recording.Recording, a, b *recording.Marker) bool {
	known := perfdata.FileIdentity{}
	if a.File != known && b.File != known {
		return a.File == b.File
	}
	if markedPath(a) != markedPath(b) {
		return false
	}
	mine, theirs, unknown := mountOf(rec, a.PID), mountOf(rec, b.PID), perfdata.Namespace{}
	return mine == theirs || mine == unknown || theirs == unknown
}

// mountOf returns the mount namespace of a process; it is zero if that is unknown.
func mountOf(rec *recording.Recording, pid uint32) perfdata.Namespace {
	if p := rec.Processes[pid]; p != nil {
		return p.Mount
	}
	return perfdata.Namespace{}
}
