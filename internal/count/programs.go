package count

import (
	"cmp"
	"sort"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/sorting"
)

// programs are the programs with jitted code, by pid, in the order of their times.
type programs map[uint32][]jitProgram

// A jitProgram is a program of a process with jitted code, from a time to a time.
type jitProgram struct {
	from, to uint64
	// dump is the number of its dump: the one that was mapped last. It is its own, or
	// inherited.
	dump   int
	marked uint64 // when that was mapped, or inherited

	// Its children begin with the dump that it began with, or else with that of the last of
	// its own markers; -1 for none.
	inherited, own int
	order          int // of that marker
}

// A mark is a mapping of a dump by a process.
type mark struct {
	*recording.Marker
	dump, order int
}

// programsOf returns the programs that map dumps, and those of forked children that inherit one.
func programsOf(tree *recording.ProcessTree, dumps []*model.Dump) programs {
	progs := make(programs)
	var marks []mark
	for _, d := range dumps {
		for i := range d.Markers {
			marks = append(marks, mark{&d.Markers[i], d.Number, len(marks)})
		}
	}
	if len(marks) == 0 {
		return progs
	}
	sorting.Stable(marks, func(a, b mark) int { return cmp.Compare(a.Time, b.Time) })
	for _, fork := range tree.Forks() { // by time, so a parent comes before its children
		for ; len(marks) > 0 && marks[0].Time <= fork.Time; marks = marks[1:] {
			progs.mark(tree, &marks[0])
		}
		of := progs[fork.Parent]
		if len(of) == 0 || !fork.Clones || fork.Time >= of[len(of)-1].to {
			continue
		}
		parent := of[len(of)-1]
		dump := parent.inherited
		if dump < 0 {
			dump = parent.own
		}
		p := progs.latest(fork.PID, fork.Time, tree.LifeEnd(fork.PID, fork.Time))
		p.inherited = dump
		if p.marked <= fork.Time {
			p.dump, p.marked = dump, fork.Time
		}
	}
	for i := range marks {
		progs.mark(tree, &marks[i])
	}
	return progs
}

// mark adds a marker. Markers and forks come in the order of their times.
func (progs programs) mark(tree *recording.ProcessTree, m *mark) {
	from := tree.Program(m.PID, m.Time).Since
	p := progs.latest(m.PID, from, tree.LifeEnd(m.PID, m.Time))
	if m.Time > p.marked || p.own >= 0 || p.inherited < 0 {
		p.dump, p.marked = m.dump, m.Time
	}
	if p.own < 0 || m.order > p.order {
		p.own, p.order = m.dump, m.order
	}
}

// latest returns the program of a process that runs from a time to a time, creating it if needed.
func (progs programs) latest(pid uint32, from, to uint64) *jitProgram {
	list := progs[pid]
	if n := len(list); n == 0 || list[n-1].to <= from {
		list = append(list, jitProgram{from: from, to: to, inherited: -1, own: -1})
		progs[pid] = list
	}
	return &list[len(list)-1]
}

// at returns the program of a process at a time, or nil.
func (progs programs) at(pid uint32, time uint64) *jitProgram {
	list := progs[pid]
	n := sort.Search(len(list), func(i int) bool { return list[i].from > time })
	if n == 0 || time >= list[n-1].to {
		return nil
	}
	return &list[n-1]
}
