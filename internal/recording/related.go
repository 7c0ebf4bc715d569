package recording

// A RelatedMemory has the memory of processes that may have code in common.
type RelatedMemory struct {
	Memory     Ranges // executable memory, without parts of files
	Executable Ranges // that, and executable parts of files
}

// A relatedKey identifies the processes that are related to one.
type relatedKey struct {
	pid  uint32
	from fork // it has the memory of its parent by this fork; zero if it has its own only
}

// RelatedMemory returns the memory of Related. Markers of one process have it in common.
func (r *Recording) RelatedMemory(markers []Marker) *RelatedMemory {
	l := r.inherited()
	key, same := relatedKey{}, len(markers) > 0
	for i, m := range markers {
		of := relatedKey{pid: m.PID}
		of.from, _ = r.ProcessTree.clonedBy(m.PID, m.Time)
		same = same && (i == 0 || of == key)
		key = of
	}
	if f := l.memories[key]; f != nil && same {
		return f
	}
	related := r.Related(markers)
	f := &RelatedMemory{MemoryOf(related), ExecutableOf(related)}
	if same {
		l.memories[key] = f
	}
	return f
}

// clonedBy returns the fork from which the program that a process runs at a time has memory. It returns false if
// there is none.
func (t *ProcessTree) clonedBy(pid uint32, time uint64) (fork, bool) {
	b, ok := t.Fork(pid, time)
	if !ok || !b.Clones || t.LifeEnd(pid, b.Time) <= time {
		return fork{}, false
	}
	return b, true
}

// Related returns the processes of the markers, the ancestors that they inherited memory from, and
// the descendants that inherited theirs. It omits descendants that have called exec since:
// nothing of the memory is left in them.
func (r *Recording) Related(markers []Marker) (related []*Process) {
	tree := &r.ProcessTree
	in := make(map[uint32]bool)
	var parents []uint32
	for _, m := range markers {
		if !in[m.PID] {
			in[m.PID] = true
			parents = append(parents, m.PID)
		}
	}
	for len(parents) > 0 {
		parent := parents[0]
		parents = parents[1:]
		for _, b := range tree.ForksBy(parent) {
			if b.Clones && !in[b.PID] && !tree.HasExec(b.PID) {
				in[b.PID] = true
				parents = append(parents, b.PID)
			}
		}
	}
	followed := make(map[fork]bool)
	for _, m := range markers {
		pid, time := m.PID, m.Time
		for range MaxGenerations {
			b, ok := tree.clonedBy(pid, time)
			if !ok || followed[b] {
				break
			}
			followed[b] = true
			pid, time = b.Parent, b.Time
			in[pid] = true
		}
	}
	for pid := range in {
		if p := r.Processes[pid]; p != nil {
			related = append(related, p)
		}
	}
	return related
}
