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
		r := of[g.firstOf(i)]
		if r == nil {
			r = &Reference{Path: markedPath(&m)}
			of[i] = r
			references = append(references, r)
		}
		r.Markers = append(r.Markers, m)
		if _, led := leads[r]; !led && !g.descends[i] {
			leads[r] = len(r.Markers) - 1
		}
	}
	for r, i := range leads {
		r.lead(i)
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

// join joins those markers of a list that are of one dump. Their files have the same name. It
// follows each fork once for a file.
func (g *grouping) join(list []int) {
	files := newFileIndex(g.rec, list)
	type sought struct {
		file  perfdata.FileIdentity
		path  string
		mount perfdata.Namespace
	}
	ancestors := make(map[sought]*recording.Ancestry) // that have a file
	for _, i := range list {
		m := &g.rec.Markers[i]
		if j := files.find(m.PID, m); j >= 0 {
			g.union(i, j)
		}
		file := sought{m.File, markedPath(m), mountOf(g.rec, m.PID)}
		having := ancestors[file]
		if having == nil {
			having = &recording.Ancestry{Tree: &g.rec.ProcessTree, Has: func(pid uint32, _ uint64) bool { return files.find(pid, m) >= 0 }}
			ancestors[file] = having
		}
		if from, ok := having.Nearest(m.PID, m.Time); ok {
			g.union(i, files.find(from, m))
			g.descends[i] = from != m.PID
		}
	}
}

// A fileIndex finds the markers of a process by their files.
type fileIndex struct {
	rec   *recording.Recording
	first map[fileKey]int // the first marker
}

// A fileKey is a file as a marker of a process names it: one that is known, one of which only the path is
// known, or any at a path.
type fileKey struct {
	pid  uint32
	file perfdata.FileIdentity
	path string // "" for a known file
	any  bool
}

func newFileIndex(rec *recording.Recording, list []int) *fileIndex {
	f := &fileIndex{rec, make(map[fileKey]int)}
	for _, i := range slices.Backward(list) {
		m := &rec.Markers[i]
		f.first[fileKey{pid: m.PID, path: markedPath(m), any: true}] = i
		if m.File == (perfdata.FileIdentity{}) {
			f.first[fileKey{pid: m.PID, path: markedPath(m)}] = i
		} else {
			f.first[fileKey{pid: m.PID, file: m.File}] = i
		}
	}
	return f
}

// find returns the first marker of a process that names the same file as m, or -1.
func (f *fileIndex) find(pid uint32, m *recording.Marker) int {
	unknown := m.File == (perfdata.FileIdentity{})
	if i, ok := f.first[fileKey{pid: pid, file: m.File}]; ok && !unknown {
		return i
	}
	if i, ok := f.first[fileKey{pid: pid, path: markedPath(m), any: unknown}]; ok && sameFile(f.rec, &f.rec.Markers[i], m) {
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
