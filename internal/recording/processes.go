package recording

import (
	"math"
	"slices"
)

// ProgramStart returns when the program began that a process ran at a time. For time 0, that is
// its last program.
func (rec *Recording) ProgramStart(pid uint32, time uint64) uint64 {
	if time == 0 {
		time = LatestTime
	}
	start := max(rec.ProcessTree.LastExec(pid, time), rec.ProcessTree.Born(pid, time))
	if p := rec.Processes[pid]; start == 0 && p != nil {
		return p.Since
	}
	return start
}

// A ProcessTree has the forks and execs of a recording's processes.
type ProcessTree struct {
	forks byTime[fork]
	of    map[uint32]*byTime[fork] // the forks that created a pid, which may be used again
	by    map[uint32]*byTime[fork] // the forks of a parent
	execs map[uint32]*byTime[exec] // the execs of a process

}

// A fork is the fork of a process from another. Its time is in nanoseconds.
type fork struct {
	PID, Parent uint32
	Time        uint64

	// Clones says that the child began with its parent's memory. It is false for processes
	// from before the recording. For those, perf record makes a record that only names the
	// parent: the child may long be another program.
	Clones bool
}

func (b fork) at() uint64 { return b.Time }

// An exec is the time of an exec in nanoseconds.
type exec uint64

func (e exec) at() uint64 { return uint64(e) }

// fork adds a fork.
func (g *ProcessTree) fork(b fork) {
	if g.of == nil {
		g.of, g.by = make(map[uint32]*byTime[fork]), make(map[uint32]*byTime[fork])
	}
	g.forks.add(b)
	listOf(g.of, b.PID).add(b)
	listOf(g.by, b.Parent).add(b)
}

func (g *ProcessTree) exec(pid uint32, time uint64) {
	if g.execs == nil {
		g.execs = make(map[uint32]*byTime[exec])
	}
	listOf(g.execs, pid).add(exec(time))
}

// listOf returns the list of a process, creating it if needed.
func listOf[T interface{ at() uint64 }](lists map[uint32]*byTime[T], pid uint32) *byTime[T] {
	l := lists[pid]
	if l == nil {
		l = new(byTime[T])
		lists[pid] = l
	}
	return l
}

// sort puts all forks and execs in order. From then on, several goroutines may ask for them.
func (g *ProcessTree) sort() {
	g.forks.all()
	for _, l := range g.of {
		l.all()
	}
	for _, l := range g.by {
		l.all()
	}
	for _, l := range g.execs {
		l.all()
	}
}

// Forks returns all forks of processes, by time. The result belongs to g, until the next fork.
func (g *ProcessTree) Forks() []fork { return g.forks.all() }

// ForksOf returns the forks that created a pid, by time. The result belongs to g, until the next
// fork.
func (g *ProcessTree) ForksOf(pid uint32) []fork { return g.of[pid].all() }

// ForksBy returns the forks of a parent, by time. The result belongs to g, until the next fork.
func (g *ProcessTree) ForksBy(parent uint32) []fork { return g.by[parent].all() }

// Fork returns the latest fork that created pid, up to a time.
func (g *ProcessTree) Fork(pid uint32, time uint64) (b fork, ok bool) { return g.of[pid].latest(time) }

// HasExec reports whether a process ever called exec.
func (g *ProcessTree) HasExec(pid uint32) bool { return g.execs[pid] != nil }

// FirstExec returns the time of the first exec of pid; ok is false if there is none.
func (g *ProcessTree) FirstExec(pid uint32) (time uint64, ok bool) {
	execs := g.execs[pid].all()
	if len(execs) == 0 {
		return 0, false
	}
	return uint64(execs[0]), true
}

// MaxGenerations bounds the ancestors of a process that are followed: forks with equal times may
// form a circle.
const MaxGenerations = 1000

// Descends reports whether the process that is pid at a time descends from another process. To ask
// that of many processes, see [Ancestry].
func (g *ProcessTree) Descends(pid uint32, time uint64, from uint32) bool {
	for range MaxGenerations {
		b, ok := g.Fork(pid, time)
		if !ok || b.Parent == from {
			return ok
		}
		pid, time = b.Parent, b.Time
	}
	return false
}

// Heritage returns the processes of markers, at their times, and the ancestors that their memory
// comes from. An exec ends them. Each process is there once.
func (g *ProcessTree) Heritage(markers []Marker) (pids []uint32) {
	known, followed := make(map[uint32]bool), make(map[fork]bool)
	add := func(pid uint32) {
		if !known[pid] {
			known[pid] = true
			pids = append(pids, pid)
		}
	}
	for _, m := range markers {
		add(m.PID)
		for pid, time := m.PID, m.Time; ; {
			b, ok := g.Fork(pid, time)
			if !ok || b.Time < g.LastExec(pid, time) || followed[b] {
				break
			}
			followed[b] = true
			pid, time = b.Parent, b.Time
			add(pid)
		}
	}
	return pids
}

// Line returns a process and all its possible ancestors, at any time.
func (g *ProcessTree) Line(pid uint32) []uint32 {
	line, seen := []uint32{pid}, map[uint32]bool{pid: true}
	for i := 0; i < len(line) && i < MaxGenerations; i++ {
		for _, b := range g.ForksOf(line[i]) {
			if !seen[b.Parent] {
				seen[b.Parent] = true
				line = append(line, b.Parent)
			}
		}
	}
	return line
}

// LastExec returns the time of the latest exec of pid up to a time, or 0.
func (g *ProcessTree) LastExec(pid uint32, time uint64) uint64 {
	e, _ := g.execs[pid].latest(time)
	return uint64(e)
}

// Born returns the time of the fork of the process that is pid at a time, or 0.
func (g *ProcessTree) Born(pid uint32, time uint64) uint64 {
	b, _ := g.Fork(pid, time)
	return b.Time
}

// LifeEnd returns when the program ends that pid runs at a time: with an exec, or when another
// process gets the pid. It returns the highest time if neither is known.
func (g *ProcessTree) LifeEnd(pid uint32, time uint64) uint64 {
	end := uint64(math.MaxUint64)
	if e, ok := g.execs[pid].next(time); ok {
		end = uint64(e)
	}
	if b, ok := g.of[pid].next(time); ok {
		end = min(end, b.Time)
	}
	return end
}

const (
	// MaxReasons bounds how many processes are named in explanations.
	MaxReasons = 5

	// FewUnattributed is how many unattributed samples of a process need no explanation.
	// Neither does one in OneInAll of all samples: programs begin in memory that perf does
	// not know yet.
	FewUnattributed = 20
	// OneInAll is the share of unattributed samples that needs no explanation, as its
	// inverse.
	OneInAll = 200
)

// PIDs returns the processes of the recording, in ascending order.
func (rec *Recording) PIDs() []uint32 {
	pids := make([]uint32, 0, len(rec.Processes))
	for pid := range rec.Processes {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}
