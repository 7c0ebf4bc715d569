package inject

import (
	"math"
	"slices"
)

// A genealogy knows the processes of a recording: which came from which, and
// when they became another program.
type genealogy struct {
	births []birth             // of processes, by time
	of     map[uint32][]birth  // of a number, by time; a number may be used again
	by     map[uint32][]birth  // from a parent, by time
	execs  map[uint32][]uint64 // when, by time
}

// A birth is the fork of a process from another.
type birth struct {
	pid, parent uint32
	time        uint64

	// clones says that the child began with its parent's memory. Of a process
	// that was there before it, perf record only tells who its parent is, in a
	// record of its own making: that child may long be another program.
	clones bool
}

// fork takes in a birth. The records of a recording are in order within one CPU
// only, so it may be a little earlier than others.
func (g *genealogy) fork(b birth) {
	if g.of == nil {
		g.of, g.by = make(map[uint32][]birth), make(map[uint32][]birth)
	}
	g.births = insertByTime(g.births, b)
	g.of[b.pid] = insertByTime(g.of[b.pid], b)
	g.by[b.parent] = insertByTime(g.by[b.parent], b)
}

func insertByTime(births []birth, b birth) []birth {
	i := len(births)
	for i > 0 && births[i-1].time > b.time {
		i--
	}
	return slices.Insert(births, i, b)
}

func (g *genealogy) exec(pid uint32, time uint64) {
	if g.execs == nil {
		g.execs = make(map[uint32][]uint64)
	}
	times := g.execs[pid]
	i, _ := slices.BinarySearch(times, time)
	g.execs[pid] = slices.Insert(times, i, time)
}

// born returns how many of the births of one number were up to a time.
func born(births []birth, time uint64) int {
	n, _ := slices.BinarySearchFunc(births, time, func(b birth, t uint64) int {
		if b.time <= t {
			return -1
		}
		return 1
	})
	return n
}

// birth returns the latest birth of pid up to a time.
func (g *genealogy) birth(pid uint32, time uint64) (b birth, ok bool) {
	births := g.of[pid]
	n := born(births, time)
	if n == 0 {
		return birth{}, false
	}
	return births[n-1], true
}

// maxGenerations bounds how far a line of forebears is followed: births at one
// time may go round in a circle.
const maxGenerations = 1000

// descends reports whether the process that is pid at a time comes from one of
// those for which is is true.
func (g *genealogy) descends(pid uint32, time uint64, is func(pid uint32) bool) bool {
	for range maxGenerations {
		b, ok := g.birth(pid, time)
		if !ok {
			return false
		}
		if is(b.parent) {
			return true
		}
		pid, time = b.parent, b.time
	}
	return false
}

// An ancestor is a process whose memory another one began with, and until when.
type ancestor struct {
	pid  uint32
	time uint64
}

// heritage returns the process that is pid at a time, and those from which its memory
// comes: the line of its forebears up to an exec.
func (g *genealogy) heritage(pid uint32, time uint64) []ancestor {
	line := []ancestor{{pid, time}}
	for len(line) < maxGenerations {
		b, ok := g.birth(pid, time)
		if !ok || b.time < g.lastExec(pid, time) {
			break
		}
		pid, time = b.parent, b.time
		line = append(line, ancestor{pid, time})
	}
	return line
}

// holds reports whether what came into a process at a time was still there.
func (g *genealogy) holds(a ancestor, pid uint32, time uint64) bool {
	return pid == a.pid && time <= a.time && time >= max(g.lastExec(a.pid, a.time), g.born(a.pid, a.time))
}

// line returns processes and those that they may have come from, at any time.
func (g *genealogy) line(pids ...uint32) []uint32 {
	line := slices.Clone(pids)
	for i := 0; i < len(line) && i < maxGenerations; i++ {
		for _, b := range g.of[line[i]] {
			if !slices.Contains(line, b.parent) {
				line = append(line, b.parent)
			}
		}
	}
	return line
}

// commOf returns what a process is called last, or "". A process that has no name of its own
// has that of the one from which it was forked.
func (s *recording) commOf(pid uint32) string {
	for _, pid := range s.genealogy.line(pid) {
		if p := s.processes[pid]; p != nil && p.comm != "" {
			return p.comm
		}
	}
	return ""
}

// lastExec returns when the latest exec of pid up to a time was, or 0.
func (g *genealogy) lastExec(pid uint32, time uint64) uint64 {
	execs := g.execs[pid]
	i, found := slices.BinarySearch(execs, time)
	if found {
		return time
	}
	if i == 0 {
		return 0
	}
	return execs[i-1]
}

// born returns when the process that is pid at a time was forked, or 0.
func (g *genealogy) born(pid uint32, time uint64) uint64 {
	b, _ := g.birth(pid, time)
	return b.time
}

// lifeEnd returns when the program that pid is at a time ends: with an exec, or
// when another process has got the number.
func (g *genealogy) lifeEnd(pid uint32, time uint64) uint64 {
	end := uint64(math.MaxUint64)
	execs := g.execs[pid]
	if i, _ := slices.BinarySearch(execs, time+1); time != math.MaxUint64 && i < len(execs) {
		end = execs[i]
	}
	births := g.of[pid]
	if n := born(births, time); n < len(births) {
		end = min(end, births[n].time)
	}
	return end
}

// A span is a stretch of a process's life, in which anonymous memory is jitted
// code's: from a time, and a place in the stream where times are equal, to a time.
type span struct {
	from, to uint64
	pos      int64
}

func (s *span) holds(time uint64, pos int64) bool {
	return time < s.to && (time > s.from || time == s.from && pos > s.pos)
}

// jitSpans returns when which processes have jitted code: from one of the
// markers on, or from being forked from such a process, up to an exec.
func (g *genealogy) jitSpans(markers []marker) map[uint32][]span {
	spans := make(map[uint32][]span)
	for _, m := range markers {
		spans[m.pid] = append(spans[m.pid], span{m.time, g.lifeEnd(m.pid, m.time), m.pos})
	}
	if len(spans) == 0 {
		return spans
	}
	for _, b := range g.births { // by time, so a parent comes before its children
		if !b.clones {
			continue
		}
		for _, s := range spans[b.parent] {
			if b.time >= s.from && b.time < s.to {
				spans[b.pid] = append(spans[b.pid], span{b.time, g.lifeEnd(b.pid, b.time), -1})
				break
			}
		}
	}
	return spans
}
