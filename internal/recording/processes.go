package recording

import (
	"math"
	"slices"
)

// ProgramStart returns when the program began that a process ran at a time. For time 0, that is
// its last program.
func (r *Recording) ProgramStart(pid uint32, time uint64) uint64 {
	if time == 0 {
		time = LatestTime
	}
	start := r.ProcessTree.Program(pid, time).Since
	if p := r.Processes[pid]; start == 0 && p != nil {
		return p.Since
	}
	return start
}

// MarkerTime returns the time for a marker of a process's last program that the recording lacks: from then on, memory
// counts as JIT code.
func (r *Recording) MarkerTime(pid uint32) uint64 {
	start := r.ProgramStart(pid, 0)
	if start > 0 && start == r.ProcessTree.Born(pid, start) {
		start++ // perf forgets what is mapped before the record of the fork
	}
	return start
}

// HasMemory reports whether a process has memory for code.
func (r *Recording) HasMemory(pid uint32) bool {
	p := r.Processes[pid]
	return pid != 0 && p != nil && len(p.Memory) > 0
}

// SharesCode reports whether a process may share code with a parent or a child: a recording does not say which of
// them has made it. One of before the recording shares none if it has no memory for code.
func (r *Recording) SharesCode(pid uint32) bool {
	tree := &r.ProcessTree
	shares := func(child, other uint32, clones bool) bool {
		return !tree.HasExec(child) && (clones || r.HasMemory(other))
	}
	return slices.ContainsFunc(tree.ForksOf(pid), func(b fork) bool { return shares(pid, b.Parent, b.Clones) }) ||
		slices.ContainsFunc(tree.ForksBy(pid), func(b fork) bool { return shares(b.PID, b.PID, b.Clones) })
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

func (f fork) at() uint64 { return f.Time }

// An exec is the time of an exec in nanoseconds.
type exec uint64

func (e exec) at() uint64 { return uint64(e) }

// fork adds a fork.
func (t *ProcessTree) fork(b fork) {
	if t.of == nil {
		t.of, t.by = make(map[uint32]*byTime[fork]), make(map[uint32]*byTime[fork])
	}
	t.forks.add(b)
	listOf(t.of, b.PID).add(b)
	listOf(t.by, b.Parent).add(b)
}

func (t *ProcessTree) exec(pid uint32, time uint64) {
	if t.execs == nil {
		t.execs = make(map[uint32]*byTime[exec])
	}
	listOf(t.execs, pid).add(exec(time))
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
func (t *ProcessTree) sort() {
	t.forks.all()
	for _, l := range t.of {
		l.all()
	}
	for _, l := range t.by {
		l.all()
	}
	for _, l := range t.execs {
		l.all()
	}
}

// Forks returns all forks of processes, by time. The result belongs to t, until the next fork.
func (t *ProcessTree) Forks() []fork { return t.forks.all() }

// ForksOf returns the forks that created a pid, by time. The result belongs to t, until the next
// fork.
func (t *ProcessTree) ForksOf(pid uint32) []fork { return t.of[pid].all() }

// ForksBy returns the forks of a parent, by time. The result belongs to t, until the next fork.
func (t *ProcessTree) ForksBy(parent uint32) []fork { return t.by[parent].all() }

// Fork returns the latest fork that created pid, up to a time.
func (t *ProcessTree) Fork(pid uint32, time uint64) (b fork, ok bool) { return t.of[pid].latest(time) }

// HasExec reports whether a process ever called exec.
func (t *ProcessTree) HasExec(pid uint32) bool { return t.execs[pid] != nil }

// FirstExec returns the time of the first exec of pid; ok is false if there is none.
func (t *ProcessTree) FirstExec(pid uint32) (time uint64, ok bool) {
	execs := t.execs[pid].all()
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
func (t *ProcessTree) Descends(pid uint32, time uint64, from uint32) bool {
	for range MaxGenerations {
		b, ok := t.Fork(pid, time)
		if !ok || b.Parent == from {
			return ok
		}
		pid, time = b.Parent, b.Time
	}
	return false
}

// Heritage returns the processes of markers, at their times, and the ancestors that their memory
// comes from. An exec ends them. Each process is there once.
func (t *ProcessTree) Heritage(markers []Marker) (pids []uint32) {
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
			b, ok := t.Fork(pid, time)
			if !ok || b.Time < t.LastExec(pid, time) || followed[b] {
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
func (t *ProcessTree) Line(pid uint32) []uint32 {
	line, seen := []uint32{pid}, map[uint32]bool{pid: true}
	for i := 0; i < len(line) && i < MaxGenerations; i++ {
		for _, b := range t.ForksOf(line[i]) {
			if !seen[b.Parent] {
				seen[b.Parent] = true
				line = append(line, b.Parent)
			}
		}
	}
	return line
}

// A Program is a process from its fork, or an exec, on.
type Program struct {
	PID   uint32
	Since uint64 // in nanoseconds; 0 for one from before the recording
}

// Program returns the program that a process runs at a time.
func (t *ProcessTree) Program(pid uint32, time uint64) Program {
	return Program{pid, max(t.LastExec(pid, time), t.Born(pid, time))}
}

// LastExec returns the time of the latest exec of pid up to a time, or 0.
func (t *ProcessTree) LastExec(pid uint32, time uint64) uint64 {
	e, _ := t.execs[pid].latest(time)
	return uint64(e)
}

// Born returns the time of the fork of the process that is pid at a time, or 0.
func (t *ProcessTree) Born(pid uint32, time uint64) uint64 {
	b, _ := t.Fork(pid, time)
	return b.Time
}

// LifeEnd returns when the program ends that pid runs at a time: with an exec, or when another
// process gets the pid. It returns the highest time if neither is known.
func (t *ProcessTree) LifeEnd(pid uint32, time uint64) uint64 {
	end := uint64(math.MaxUint64)
	if e, ok := t.execs[pid].next(time); ok {
		end = uint64(e)
	}
	if b, ok := t.of[pid].next(time); ok {
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
func (r *Recording) PIDs() []uint32 {
	pids := make([]uint32, 0, len(r.Processes))
	for pid := range r.Processes {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}
