package attribution

import (
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
)

// An Attribution says to which processes of the recording each event of a dump belongs. A dump
// belongs to the process that mapped it, under any pid of its own pid namespace. A forked child
// of that process may write into the same dump, with its own pid. Events of all other processes
// are ignored: a dump cannot name code of an unrelated process, unless they share its memory.
type Attribution struct {
	rec            *recording.Recording
	d              *model.Dump
	tree           *recording.ProcessTree
	forkedChildren []forkedChild
	until          uint64 // the latest of theirs
	allAlien       bool   // no event has a pid that the recording knows
	// onlyChild has the process of a pid of the namespace, if only one process can have it.
	onlyChild map[uint32]uint32
	alien     map[uint32]int // number of dropped events, by pid

	mapping     map[uint32]bool    // the processes that have mapped the dump
	descendants recording.Ancestry // of those

	first []*jitcode.Event // the first event of each process

	sharing *Sharing
	present map[recording.SharedFile]*present
}

// New returns the attribution of a dump that has been scanned. sharing is that of rec.
func New(rec *recording.Recording, d *model.Dump, sharing *Sharing) *Attribution {
	a := &Attribution{rec: rec, d: d, tree: &rec.ProcessTree, onlyChild: make(map[uint32]uint32), alien: make(map[uint32]int), mapping: make(map[uint32]bool), sharing: sharing, present: make(map[recording.SharedFile]*present)}
	a.descendants = recording.Ancestry{Tree: a.tree, Has: func(pid uint32, _ uint64) bool { return a.mapping[pid] }}
	for _, m := range d.Markers {
		a.mapping[m.PID] = true
	}
	events, seen := d.Source.Scanned().Events, make(map[uint32]bool)
	for i := range events {
		if e := &events[i]; !seen[e.PID] {
			seen[e.PID] = true
			a.first = append(a.first, e)
		}
	}
	var aliens []uint32
	for _, e := range a.first {
		if _, _, ok := a.direct(e); !ok {
			aliens = append(aliens, e.PID)
		}
	}
	a.allAlien = len(aliens) == len(a.first)
	if len(aliens) == 1 && !a.allAlien && a.d.Source.PID() != a.d.PID {
		if children := a.children(); len(children) == 1 {
			a.onlyChild[aliens[0]] = children[0]
		}
	}
	a.findForkedChildren()
	return a
}

// Of returns the process and thread of an event in the recording. If ok is false, they are
// unknown, and the event is dropped and counted.
func (a *Attribution) Of(e *jitcode.Event) (pid, tid uint32, ok bool) {
	if pid, tid, ok = a.Resolve(e); !ok {
		a.alien[e.PID]++
	}
	return pid, tid, ok
}

// Resolve is Of without the count.
func (a *Attribution) Resolve(e *jitcode.Event) (pid, tid uint32, ok bool) {
	if pid, tid, ok = a.direct(e); ok {
		return pid, tid, true
	}
	if a.allAlien { // a quirk of the producer
		return a.d.PID, a.d.PID, true
	}
	if child, ok := a.onlyChild[e.PID]; ok {
		return child, child, true
	}
	return a.inSharedMemory(e)
}

// direct returns the process and thread if the event's pid alone determines them.
func (a *Attribution) direct(e *jitcode.Event) (pid, tid uint32, ok bool) {
	switch own := a.d.Source.PID(); {
	case e.PID == 0, e.PID == own && own != a.d.PID:
		return a.d.PID, a.d.PID, true
	case a.mapping[e.PID], a.descendants.Inherits(e.PID, a.d.Clock(e.Time)):
		return e.PID, e.TID, true
	}
	return 0, 0, false
}

// IsPlain reports whether each event is of a process that mapped the dump, and of no other. Then several goroutines may
// ask for processes.
func (a *Attribution) IsPlain() bool {
	own := a.d.Source.PID()
	return len(a.forkedChildren) == 0 && a.sharing.memory.IsEmpty() && !slices.ContainsFunc(a.first, func(e *jitcode.Event) bool {
		return e.PID != 0 && (e.PID != own || own == a.d.PID) && !a.mapping[e.PID]
	})
}

// children returns the descendants of processes that map the dump, and the processes other than
// the dump's own that map it.
func (a *Attribution) children() (pids []uint32) {
	known := make(map[uint32]bool)
	add := func(pid uint32) {
		if !known[pid] {
			known[pid] = true
			pids = append(pids, pid)
		}
	}
	for _, m := range a.d.Markers {
		if m.PID != a.d.PID {
			add(m.PID)
		}
	}
	for _, b := range a.tree.Forks() {
		if b.Clones && !known[b.PID] && a.descendants.Inherits(b.PID, b.Time) {
			add(b.PID)
		}
	}
	return pids
}

// Problems returns messages about dropped events.
func (a *Attribution) Problems() (texts []string) {
	for pid, n := range a.alien {
		texts = append(texts, fmt.Sprintf("%d functions are of a process %d, which neither mapped the dump nor was forked from process %d, as far as the recording tells; they are left out", n, pid, a.d.PID))
	}
	slices.Sort(texts)
	return texts
}
