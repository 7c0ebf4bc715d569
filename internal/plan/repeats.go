package plan

import (
	"cmp"
	"context"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/source"
)

// Code may be loaded again at an address where it is already, or at another mapping of the same
// part of a file. Each isolate of V8 (a worker thread has one) logs all builtins, and may map a
// copy of them. One object is enough.

// maxRepeatScan bounds the loads that a search for replacing code reads, in each direction. A
// load with more neighbours does not count as a repeat.
const maxRepeatScan = 4096

// findRepeats returns the functions of a dump that are loaded where an equal one is. It returns
// nil for dumps in which code moves. When ctx is cancelled, it returns some of them.
func (d *Dump) findRepeats(ctx context.Context, files *fileCode) map[int]bool {
	comparer, ok := d.Source.(source.Comparer)
	if !ok {
		return nil
	}
	events := d.Source.Scanned().Events
	r := repeatFinder{same: comparer.Same(), loads: make([]placedLoad, 0, len(events))}
	r.covered = func(was *placedLoad, until uint64) bool {
		return files.rec.MapsOver(was.pid, addrs.Range{Lo: was.lo, Hi: was.hi}, d.Clock(was.time), d.Clock(until))
	}
	for i := range events {
		switch e := &events[i]; {
		case e.Kind != jitcode.Load:
			return nil
		case e.Size > 0:
			l := placedLoad{lo: e.Addr, hi: e.Addr + e.Size, time: e.Time, pid: e.PID, function: e.Function}
			// If nothing is unwound, no function is mapped at the copies of its home.
			if pid, _, ok := d.attribution.resolve(e); ok && files.rec.CopiesStacks() {
				if home, ok := files.homeAddr(pid, d.Clock(e.Time), e.Addr, e.Size); ok {
					l.lo, l.hi = home, home+e.Size
				}
			}
			r.loads = append(r.loads, l)
		}
	}
	slices.SortStableFunc(r.loads, func(a, b placedLoad) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi), cmp.Compare(a.time, b.time))
	})
	first := 0
	for at := 1; at < len(r.loads) && (at%1024 != 0 || ctx.Err() == nil); at++ {
		if r.repeats(at, first) {
			r.found[r.loads[at].function] = true
		} else {
			first = at
		}
	}
	return r.found
}

// A placedLoad is a load at its home: the first mapping of the part of a file that it lies in.
// Outside files, the home is its own address.
type placedLoad struct {
	lo, hi, time uint64
	pid          uint32
	function     int
}

// A repeatFinder looks for repeats among loads in the order of their addresses, lengths and
// times.
type repeatFinder struct {
	loads []placedLoad
	reach []uint64 // the highest end of code up to each load
	same  func(i, j int) bool

	// covered reports whether the process mapped something over a load until a time.
	covered func(was *placedLoad, until uint64) bool

	found map[int]bool
}

// repeats reports whether the load at index at repeats the one at index first.
func (r *repeatFinder) repeats(at, first int) bool {
	l, was := &r.loads[at], &r.loads[first]
	if l.lo != was.lo || l.hi != was.hi || l.pid != was.pid || r.replaced(was, l.time, at) || r.covered(was, l.time) || !r.same(was.function, l.function) {
		return false
	}
	if r.found == nil {
		r.found = make(map[int]bool)
	}
	return true
}

// replaced reports whether other code came, or may have come, to the addresses of a load until a
// time. at is the index of a load near them.
func (r *repeatFinder) replaced(was *placedLoad, until uint64, at int) bool {
	if r.reach == nil {
		r.reach = make([]uint64, len(r.loads))
		end := uint64(0)
		for i := range r.loads {
			end = max(end, r.loads[i].hi)
			r.reach[i] = end
		}
	}
	other := func(l *placedLoad) bool {
		return (l.lo != was.lo || l.hi != was.hi) && l.lo < was.hi && l.hi > was.lo && l.time >= was.time && l.time <= until
	}
	for i := at - 1; i >= 0 && r.reach[i] > was.lo; i-- {
		if at-i > maxRepeatScan || other(&r.loads[i]) {
			return true
		}
	}
	for i := at + 1; i < len(r.loads) && r.loads[i].lo < was.hi; i++ {
		if i-at > maxRepeatScan || other(&r.loads[i]) {
			return true
		}
	}
	return false
}
