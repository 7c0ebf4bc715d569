package recording

import (
	"math"
	"slices"
)

// A lineage has what follows for processes from their ancestors. Each part is found for all
// processes at once, when it is first asked for. Any further record makes it void.
type lineage struct {
	rec     *Recording
	markers int // the number of markers that dumps is right for
	dumps   *Ancestry
	files   map[uint32]bool   // processes with known files
	names   map[uint32]string // by process; see Recording.CommOf
	steps   map[uint32]int    // forks between a process and the one that it has its name from
}

// inherited returns the lineage of the records so far.
func (r *Recording) inherited() *lineage {
	if r.lineage == nil {
		r.lineage = &lineage{rec: r}
	}
	return r.lineage
}

// HasDump reports whether the last program that a process runs has a marker, or began with the
// memory of one that had.
func (r *Recording) HasDump(pid uint32) bool {
	l := r.inherited()
	if l.dumps == nil || l.markers != len(r.Markers) {
		l.findDumps()
	}
	return l.dumps.Holds(pid, math.MaxUint64)
}

func (l *lineage) findDumps() {
	times := make(map[uint32][]uint64) // of the markers of each process
	for _, m := range l.rec.Markers {
		times[m.PID] = append(times[m.PID], m.Time)
	}
	for _, of := range times {
		slices.Sort(of)
	}
	g := &l.rec.ProcessTree
	l.markers = len(l.rec.Markers)
	l.dumps = &Ancestry{Tree: g, Memory: true, Has: func(pid uint32, time uint64) bool {
		of := times[pid]
		i, _ := slices.BinarySearch(of, max(g.LastExec(pid, time), g.Born(pid, time)))
		return i < len(of) && of[i] <= time
	}}
}

// DumpingAncestor returns a possible ancestor of a process that has a marker, or 0.
func (r *Recording) DumpingAncestor(pid uint32) uint32 {
	marked := make(map[uint32]bool)
	for _, m := range r.Markers {
		marked[m.PID] = true
	}
	for _, from := range r.ProcessTree.Line(pid)[1:] {
		if marked[from] {
			return from
		}
	}
	return 0
}

// HasFiles reports whether the recording shows which files a process, or a possible ancestor, has
// mapped. If it does not, the location of its samples is unknown.
func (r *Recording) HasFiles(pid uint32) bool {
	l := r.inherited()
	if l.files == nil {
		l.files = make(map[uint32]bool)
		l.descend(func(p *Process) bool {
			return slices.ContainsFunc(p.FileMaps, func(m FileMap) bool { return m.Name != "" })
		}, func(pid uint32, _ int) { l.files[pid] = true })
	}
	return l.files[pid]
}

// CommOf returns the last name of a process, or "". A process without a name of its own has that
// of the process from which it was forked.
func (r *Recording) CommOf(pid uint32) string {
	l := r.inherited()
	if l.names == nil {
		l.names, l.steps = make(map[uint32]string), make(map[uint32]int)
		l.descend(func(p *Process) bool { return p.Comm != "" }, func(pid uint32, steps int) { l.steps[pid] = steps })
	}
	return l.name(pid)
}

// name returns the name of the nearest process that pid may come from; of several, that of the
// earliest fork.
func (l *lineage) name(pid uint32) (name string) {
	steps, named := l.steps[pid]
	if !named {
		return ""
	}
	var line []uint32
	for ; steps > 0; steps-- {
		if known, ok := l.names[pid]; ok {
			name = known
			break
		}
		line = append(line, pid)
		forks := l.rec.ProcessTree.ForksOf(pid)
		nearest := slices.IndexFunc(forks, func(b fork) bool {
			n, ok := l.steps[b.Parent]
			return ok && n == steps-1
		})
		pid = forks[nearest].Parent
	}
	if steps == 0 {
		name = l.rec.Processes[pid].Comm
	}
	for _, pid := range line {
		l.names[pid] = name
	}
	return name
}

// descend calls found for each process for which has is true, and for all that descend from one,
// with the number of forks between them.
func (l *lineage) descend(has func(p *Process) bool, found func(pid uint32, steps int)) {
	seen := make(map[uint32]bool)
	var level []uint32
	for pid, p := range l.rec.Processes {
		if has(p) {
			seen[pid] = true
			level = append(level, pid)
		}
	}
	for steps := 0; len(level) > 0; steps++ {
		var next []uint32
		for _, pid := range level {
			found(pid, steps)
			for _, b := range l.rec.ProcessTree.ForksBy(pid) {
				if !seen[b.PID] {
					seen[b.PID] = true
					next = append(next, b.PID)
				}
			}
		}
		level = next
	}
}
