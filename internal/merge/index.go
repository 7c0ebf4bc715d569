package merge

import (
	"cmp"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
)

// An index has the functions of a dump by time and address.
type index struct {
	*model.Dump
	timed  bool
	places []place // in the order of time
	line   addrs.Timeline
	codes  func(function int) (name, code []byte, err error) // of one of its functions, until the next call
	end    uint64                                            // until when the dump knows what is loaded
}

// A place is where a function is from a time on. Times are the recording's.
type place struct {
	addrs.Range
	time     uint64
	pid      uint32
	function int
	gone     uint64 // when it left, or may have
}

// newIndex returns the index of the functions that a dump still has.
func newIndex(d *model.Dump) *index {
	x := &index{Dump: d, timed: d.HasTimes(), end: recording.LatestTime}
	events := d.Source.Scanned().Events
	last := make(map[int32]int) // the places of functions, counted from 1
	for i := range events {
		e := &events[i]
		time := d.Clock(e.Time)
		switch {
		case d.Unmapped[int(e.Function)] || d.LeftOut[int(e.Function)]:
		case e.Kind == jitcode.Gone:
			if n := last[e.Function] - 1; n >= 0 {
				x.places[n].gone = time
			}
		case e.Size > 0:
			x.places = append(x.places, place{addrs.Range{Lo: e.Addr, Hi: e.Addr + e.Size}, time, e.PID, int(e.Function), recording.LatestTime})
			last[e.Function] = len(x.places)
		}
	}
	x.places = slices.DeleteFunc(x.places, func(p place) bool { return p.gone == p.time })
	sorting.Stable(x.places, func(a, b place) int { return cmp.Compare(a.time, b.time) })
	for i := range x.places {
		x.line.Add(x.places[i].Range)
	}
	if n := len(x.places); n > 0 && x.timed && d.Source.Scanned().Cut >= 0 {
		x.end = x.places[n-1].time
	}
	if c, ok := d.Source.(source.Coder); ok {
		x.codes = c.Codes()
	} else {
		r := d.Inspector()
		x.codes = func(function int) (name, code []byte, err error) {
			fn, err := r.Function(function)
			r.TakeProblems() // building reads them again
			if err != nil {
				return nil, nil, err
			}
			return fn.Name, fn.Code, nil
		}
	}
	return x
}

// maxOverlaps bounds how many functions of a dump are compared with one of another, before and after a time.
const maxOverlaps = 64

// overlapping calls f for places that share addresses with a range: those nearest to a time.
func (x *index) overlapping(r addrs.Range, time uint64, f func(i int)) {
	at := sort.Search(len(x.places), func(i int) bool { return x.places[i].time > time })
	for i, n := x.line.Last(r, 0, at), 0; i >= 0 && n < maxOverlaps; i, n = x.line.Last(r, 0, i), n+1 {
		f(i)
	}
	for i, n := x.line.First(r, at, len(x.places)), 0; i >= 0 && n < maxOverlaps; i, n = x.line.First(r, i+1, len(x.places)), n+1 {
		f(i)
	}
}

// until returns when another function comes to the i-th place, or when the dump ends.
func (x *index) until(i int) uint64 {
	end := max(x.end, x.places[i].time)
	if next := x.line.First(x.places[i].Range, i+1, len(x.places)); next >= 0 {
		end = x.places[next].time
	}
	return min(end, x.places[i].gone)
}
