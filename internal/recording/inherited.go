package recording

import (
	"cmp"
	"slices"
	"sort"
)

// An Inherited holds one value for each process: a forked child begins with a copy of its
// parent's, an exec resets it. Queries must be in the order of their times.
type Inherited[T any] struct {
	Tree  *ProcessTree
	Make  func() T
	Clone func(T) T

	next      int // index of the next fork to apply
	processes map[uint32]T
	execs     map[uint32]uint64 // time of the latest exec applied, by process
}

// Of returns the value of process pid at a time. It belongs to p.
func (in *Inherited[T]) Of(pid uint32, time uint64) T {
	if in.processes == nil {
		in.processes, in.execs = make(map[uint32]T), make(map[uint32]uint64)
	}
	for forks := in.Tree.Forks(); in.next < len(forks) && forks[in.next].Time <= time; in.next++ {
		b := &forks[in.next]
		in.exec(b.Parent, b.Time)
		delete(in.processes, b.PID)
		if parent, ok := in.processes[b.Parent]; ok && b.Clones {
			in.processes[b.PID] = in.Clone(parent)
		}
	}
	in.exec(pid, time)
	has, ok := in.processes[pid]
	if !ok {
		has = in.Make()
		in.processes[pid] = has
	}
	return has
}

// exec resets the value of a process that has called exec by a time.
func (in *Inherited[T]) exec(pid uint32, time uint64) {
	if exec := in.Tree.LastExec(pid, time); exec > in.execs[pid] {
		in.execs[pid] = exec
		delete(in.processes, pid)
	}
}

// A Descent holds what processes have from their ancestors, at any time. Processes that add
// nothing of their own share it.
type Descent[T any] struct {
	Tree *ProcessTree
	Own  func(pid uint32) bool // whether a process has something of its own
	Of   func(line []uint32) T // what a process and its possible ancestors have together

	all map[uint32]T // by process
}

// Get returns what a process and all its possible ancestors have.
func (d *Descent[T]) Get(pid uint32) T {
	if has, known := d.all[pid]; known {
		return has
	}
	if d.all == nil {
		d.all = make(map[uint32]T)
	}
	// The nearest ancestor with something of its own has the same, as long as the way to it
	// is the only one.
	var has T
	line, passed := []uint32{pid}, map[uint32]bool{pid: true}
	for {
		last := line[len(line)-1]
		known := false
		if has, known = d.all[last]; known {
			break
		}
		parent, only := d.Tree.OnlyParent(last)
		if d.Own(last) || !only || passed[parent] {
			has = d.Of(d.Tree.Line(last))
			break
		}
		line, passed[parent] = append(line, parent), true
	}
	for _, pid := range line {
		d.all[pid] = has
	}
	return has
}

// OnlyParent returns the process from which all forks of a process were. It returns false if
// there is none, or more than one.
func (t *ProcessTree) OnlyParent(pid uint32) (parent uint32, ok bool) {
	for i, b := range t.ForksOf(pid) {
		if i > 0 && b.Parent != parent {
			return 0, false
		}
		parent, ok = b.Parent, true
	}
	return parent, ok
}

// A Span is a part of a process's life in which its anonymous memory has jitted code. It reaches
// from From to To; where times are equal, it begins after position Pos in the stream. Times are
// in nanoseconds.
type Span struct {
	From, To uint64
	Pos      int64
}

// Spans are those of one process, in order and disjoint.
type Spans []Span

// Hold reports whether a record at a time and position is in one of the spans.
func (s Spans) Hold(time uint64, pos int64) bool {
	n := sort.Search(len(s), func(i int) bool { return s[i].From > time })
	if n == 0 {
		return false
	}
	last := &s[n-1]
	return time < last.To && (time > last.From || pos > last.Pos)
}

// with returns the spans with another one that begins later, or at the same time. To is the end
// of the program that it begins in: a program has one span, from the first one's beginning on.
func (s Spans) with(next Span) Spans {
	n := len(s)
	if n == 0 || s[n-1].To <= next.From {
		return append(s, next)
	}
	if s[n-1].From == next.From {
		s[n-1].Pos = min(s[n-1].Pos, next.Pos)
	}
	return s
}

// JitSpans returns the times during which processes have jitted code. They begin at a marker, or
// at the fork from such a process. They end at an exec.
func (t *ProcessTree) JitSpans(markers []Marker) map[uint32]Spans {
	spans := make(map[uint32]Spans)
	if len(markers) == 0 {
		return spans
	}
	markers = slices.Clone(markers)
	slices.SortStableFunc(markers, func(a, b Marker) int { return cmp.Compare(a.Time, b.Time) })
	mark := func(m *Marker) {
		spans[m.PID] = spans[m.PID].with(Span{m.Time, t.LifeEnd(m.PID, m.Time), m.Pos})
	}
	next := 0
	for _, b := range t.Forks() { // by time, so a parent comes before its children
		for ; next < len(markers) && markers[next].Time <= b.Time; next++ {
			mark(&markers[next])
		}
		if of := spans[b.Parent]; b.Clones && len(of) > 0 && b.Time < of[len(of)-1].To {
			spans[b.PID] = spans[b.PID].with(Span{b.Time, t.LifeEnd(b.PID, b.Time), -1})
		}
	}
	for ; next < len(markers); next++ {
		mark(&markers[next])
	}
	return spans
}
