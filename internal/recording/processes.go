package recording

import (
	"math"
	"slices"
)

// ProgramStart returns when the program began that a process ran at a time, the last one
// if the time is 0.
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

// A ProcessTree knows the processes of a recording: which came from which, and
// when they became another program.
type ProcessTree struct {
	Forks []fork              // of processes, by time
	Of    map[uint32][]fork   // of a number, by time; a number may be used again
	By    map[uint32][]fork   // from a parent, by time
	Execs map[uint32][]uint64 // when, by time
}

// A birth is the fork of a process from another.
type fork struct {
	PID, Parent uint32
	Time        uint64

	// clones says that the child began with its parent's memory. Of a process
	// that was there before it, perf record only tells who its parent is, in a
	// record of its own making: that child may long be another program.
	Clones bool
}

// fork takes in a birth. The records of a recording are in order within one CPU
// only, so it may be a little earlier than others.
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

// born returns how many of the births of one number were up to a time.
func born(forks []fork, time uint64) int {
	n, _ := slices.BinarySearchFunc(forks, time, func(b fork, t uint64) int {
		if b.Time <= t {
			return -1
		}
		return 1
	})
	return n
}

// Fork returns the latest birth of pid up to a time.
func (g *ProcessTree) Fork(pid uint32, time uint64) (b fork, ok bool) {
	forks := g.Of[pid]
	n := born(forks, time)
	if n == 0 {
		return fork{}, false
	}
	return forks[n-1], true
}

// MaxGenerations bounds how far a line of forebears is followed: births at one
// time may go round in a circle.
const MaxGenerations = 1000

// Descends reports whether the process that is pid at a time comes from one of
// those for which is is true.
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

// An ancestor is a process whose memory another one began with, and until when.
type ancestor struct {
	PID  uint32
	time uint64
}

// Heritage returns the process that is pid at a time, and those from which its memory
// comes: the line of its forebears up to an exec.
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

// holds reports whether what came into a process at a time was still there.
func (g *ProcessTree) holds(a ancestor, pid uint32, time uint64) bool {
	return pid == a.PID && time <= a.time && time >= max(g.LastExec(a.PID, a.time), g.Born(a.PID, a.time))
}

// Line returns processes and those that they may have come from, at any time.
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

// CommOf returns what a process is called last, or "". A process that has no name of its own
// has that of the one from which it was forked.
func (s *Recording) CommOf(pid uint32) string {
	for _, pid := range s.ProcessTree.Line(pid) {
		if p := s.Processes[pid]; p != nil && p.Comm != "" {
			return p.Comm
		}
	}
	return ""
}

// LastExec returns when the latest exec of pid up to a time was, or 0.
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

// Born returns when the process that is pid at a time was forked, or 0.
func (g *ProcessTree) Born(pid uint32, time uint64) uint64 {
	b, _ := g.Fork(pid, time)
	return b.Time
}

// LifeEnd returns when the program that pid is at a time ends: with an exec, or
// when another process has got the number.
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

// A Span is a stretch of a process's life, in which anonymous memory is jitted
// code's: from a time, and a place in the stream where times are equal, to a time.
type Span struct {
	From, To uint64
	Pos      int64
}

func (s *Span) Holds(time uint64, pos int64) bool {
	return time < s.To && (time > s.From || time == s.From && pos > s.Pos)
}

// JitSpans returns when which processes have jitted code: from one of the
// markers on, or from being forked from such a process, up to an exec.
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
	// MaxReasons bounds how many processes are named.
	MaxReasons = 5

	// FewUnattributed is how many samples in no file say nothing about a process, and so is one
	// in how many of all: programs begin in memory that perf does not know yet.
	FewUnattributed = 20
	OneInAll        = 200
)

func (rec *Recording) PIDs() []uint32 {
	pids := make([]uint32, 0, len(rec.Processes))
	for pid := range rec.Processes {
		pids = append(pids, pid)
	}
	slices.Sort(pids)
	return pids
}

// HasDump reports whether the last program that a process runs has a marker, or began with
// the memory of one that had.
func (rec *Recording) HasDump(pid uint32) bool {
	line := rec.ProcessTree.Heritage(pid, math.MaxUint64)
	return slices.ContainsFunc(rec.Markers, func(m Marker) bool {
		return slices.ContainsFunc(line, func(a ancestor) bool { return rec.ProcessTree.holds(a, m.PID, m.Time) })
	})
}

// DumpingAncestor returns a process with a marker from which another one comes, or 0.
func (rec *Recording) DumpingAncestor(pid uint32) uint32 {
	for _, from := range rec.ProcessTree.Line(pid)[1:] {
		if slices.ContainsFunc(rec.Markers, func(m Marker) bool { return m.PID == from }) {
			return from
		}
	}
	return 0
}

// HasFiles reports whether the recording tells what a process has mapped. If it does not,
// nothing is known of where its samples are.
func (rec *Recording) HasFiles(pid uint32) bool {
	return slices.ContainsFunc(rec.ProcessTree.Line(pid), func(pid uint32) bool {
		p := rec.Processes[pid]
		return p != nil && slices.ContainsFunc(p.FileMaps, func(m FileMap) bool { return m.Name != "" })
	})
}
