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
	Forks []fork // all forks of processes, by time
	// Of has the forks that created a pid, by time. A pid may be used again.
	Of    map[uint32][]fork
	By    map[uint32][]fork   // the forks of a parent, by time
	Execs map[uint32][]uint64 // the times of a process's execs, ascending
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

// fork adds a fork. Records are in order within one CPU only, so it may be a little earlier than
// others.
func (g *ProcessTree) fork(b fork) {
	if g.Of == nil {
		g.Of, g.By = make(map[uint32][]fork), make(map[uint32][]fork)
	}
	g.Forks = insertByTime(g.Forks, b)
	g.Of[b.PID] = insertByTime(g.Of[b.PID], b)
	g.By[b.Parent] = insertByTime(g.By[b.Parent], b)
}

func insertByTime(forks []fork, b fork) []fork {
	i := len(forks)
	for i > 0 && forks[i-1].Time > b.Time {
		i--
	}
	return slices.Insert(forks, i, b)
}

func (g *ProcessTree) exec(pid uint32, time uint64) {
	if g.Execs == nil {
		g.Execs = make(map[uint32][]uint64)
	}
	times := g.Execs[pid]
	i, _ := slices.BinarySearch(times, time)
	g.Execs[pid] = slices.Insert(times, i, time)
}

// born returns how many of the forks of one pid were up to a time.
func born(forks []fork, time uint64) int {
	n, _ := slices.BinarySearchFunc(forks, time, func(b fork, t uint64) int {
		if b.Time <= t {
			return -1
		}
		return 1
	})
	return n
}

// Fork returns the latest fork that created pid, up to a time.
func (g *ProcessTree) Fork(pid uint32, time uint64) (b fork, ok bool) {
	forks := g.Of[pid]
	n := born(forks, time)
	if n == 0 {
		return fork{}, false
	}
	return forks[n-1], true
}

// MaxGenerations bounds the ancestors of a process that are followed: forks with equal times may
// form a circle.
const MaxGenerations = 1000

// Descends reports whether is holds for an ancestor of the process that is pid at a time.
func (g *ProcessTree) Descends(pid uint32, time uint64, is func(pid uint32) bool) bool {
	for range MaxGenerations {
		b, ok := g.Fork(pid, time)
		if !ok {
			return false
		}
		if is(b.Parent) {
			return true
		}
		pid, time = b.Parent, b.Time
	}
	return false
}

// An ancestor is a process whose memory another one began with, up to a time.
type ancestor struct {
	PID  uint32
	time uint64
}

// Heritage returns the process that is pid at a time, and the ancestors that its memory comes
// from. An exec ends them.
func (g *ProcessTree) Heritage(pid uint32, time uint64) []ancestor {
	line := []ancestor{{pid, time}}
	for len(line) < MaxGenerations {
		b, ok := g.Fork(pid, time)
		if !ok || b.Time < g.LastExec(pid, time) {
			break
		}
		pid, time = b.Parent, b.Time
		line = append(line, ancestor{pid, time})
	}
	return line
}

// holds reports whether something that came into process pid at a time still existed in a.
func (g *ProcessTree) holds(a ancestor, pid uint32, time uint64) bool {
	return pid == a.PID && time <= a.time && time >= max(g.LastExec(a.PID, a.time), g.Born(a.PID, a.time))
}

// Line returns processes and all their possible ancestors, at any time.
func (g *ProcessTree) Line(pids ...uint32) []uint32 {
	line := slices.Clone(pids)
	for i := 0; i < len(line) && i < MaxGenerations; i++ {
		for _, b := range g.Of[line[i]] {
			if !slices.Contains(line, b.Parent) {
				line = append(line, b.Parent)
			}
		}
	}
	return line
}

// CommOf returns the last name of a process, or "". A process without a name of its own has that
// of the process from which it was forked.
func (s *Recording) CommOf(pid uint32) string {
	for _, pid := range s.ProcessTree.Line(pid) {
		if p := s.Processes[pid]; p != nil && p.Comm != "" {
			return p.Comm
		}
	}
	return ""
}

// LastExec returns the time of the latest exec of pid up to a time, or 0.
func (g *ProcessTree) LastExec(pid uint32, time uint64) uint64 {
	execs := g.Execs[pid]
	i, found := slices.BinarySearch(execs, time)
	if found {
		return time
	}
	if i == 0 {
		return 0
	}
	return execs[i-1]
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
	execs := g.Execs[pid]
	if i, _ := slices.BinarySearch(execs, time+1); time != math.MaxUint64 && i < len(execs) {
		end = execs[i]
	}
	forks := g.Of[pid]
	if n := born(forks, time); n < len(forks) {
		end = min(end, forks[n].Time)
	}
	return end
}

// A Span is a part of a process's life in which its anonymous memory has jitted code. It reaches
// from From to To; where times are equal, it begins after position Pos in the stream. Times are
// in nanoseconds.
type Span struct {
	From, To uint64
	Pos      int64
}

// Holds reports whether a record at a time and position is in the span.
func (s *Span) Holds(time uint64, pos int64) bool {
	return time < s.To && (time > s.From || time == s.From && pos > s.Pos)
}

// JitSpans returns the times during which processes have jitted code. They begin at a marker, or
// at the fork from such a process. They end at an exec.
func (g *ProcessTree) JitSpans(markers []Marker) map[uint32][]Span {
	spans := make(map[uint32][]Span)
	for _, m := range markers {
		spans[m.PID] = append(spans[m.PID], Span{m.Time, g.LifeEnd(m.PID, m.Time), m.Pos})
	}
	if len(spans) == 0 {
		return spans
	}
	for _, b := range g.Forks { // by time, so a parent comes before its children
		if !b.Clones {
			continue
		}
		for _, s := range spans[b.Parent] {
			if b.Time >= s.From && b.Time < s.To {
				spans[b.PID] = append(spans[b.PID], Span{b.Time, g.LifeEnd(b.PID, b.Time), -1})
				break
			}
		}
	}
	return spans
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

// HasDump reports whether the last program that a process runs has a marker, or began with the
// memory of one that had.
func (rec *Recording) HasDump(pid uint32) bool {
	line := rec.ProcessTree.Heritage(pid, math.MaxUint64)
	return slices.ContainsFunc(rec.Markers, func(m Marker) bool {
		return slices.ContainsFunc(line, func(a ancestor) bool { return rec.ProcessTree.holds(a, m.PID, m.Time) })
	})
}

// DumpingAncestor returns a possible ancestor of a process that has a marker, or 0.
func (rec *Recording) DumpingAncestor(pid uint32) uint32 {
	for _, from := range rec.ProcessTree.Line(pid)[1:] {
		if slices.ContainsFunc(rec.Markers, func(m Marker) bool { return m.PID == from }) {
			return from
		}
	}
	return 0
}

// HasFiles reports whether the recording shows which files a process has mapped. If it does not,
// the location of its samples is unknown.
func (rec *Recording) HasFiles(pid uint32) bool {
	return slices.ContainsFunc(rec.ProcessTree.Line(pid), func(pid uint32) bool {
		p := rec.Processes[pid]
		return p != nil && slices.ContainsFunc(p.FileMaps, func(m FileMap) bool { return m.Name != "" })
	})
}
