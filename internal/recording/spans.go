package recording

import (
	"cmp"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/sorting"
)

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
func (t *ProcessTree) JitSpans(markers []*Marker) map[uint32]Spans {
	spans := make(map[uint32]Spans)
	if len(markers) == 0 {
		return spans
	}
	markers = slices.Clone(markers)
	sorting.Stable(markers, func(a, b *Marker) int { return cmp.Compare(a.Time, b.Time) })
	mark := func(m *Marker) {
		spans[m.PID] = spans[m.PID].with(Span{m.Time, t.LifeEnd(m.PID, m.Time), m.Pos})
	}
	next := 0
	for _, b := range t.Forks() { // by time, so a parent comes before its children
		for ; next < len(markers) && markers[next].Time <= b.Time; next++ {
			mark(markers[next])
		}
		if of := spans[b.Parent]; b.Clones && len(of) > 0 && b.Time < of[len(of)-1].To {
			spans[b.PID] = spans[b.PID].with(Span{b.Time, t.LifeEnd(b.PID, b.Time), -1})
		}
	}
	for ; next < len(markers); next++ {
		mark(markers[next])
	}
	return spans
}
