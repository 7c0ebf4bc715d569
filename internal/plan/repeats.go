package plan

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/internal/source"
)

// Code may be loaded again at an address where it is already, or at another mapping of the same
// part of a file. Each isolate of V8 (a worker thread has one) logs all builtins, and may map a
// copy of them. One object is enough.

// findRepeats returns the functions of a dump that are loaded where an equal one is. It returns
// nil for dumps in which code moves. When ctx is cancelled, it returns some of them.
func (d *placedDump) findRepeats(ctx context.Context, files *fileCode) map[int]bool {
	comparer, ok := d.Source.(source.Comparer)
	if !ok {
		return nil
	}
	if !files.rec.CopiesStacks() && !d.Source.Scanned().EventIndex().HasRepeats() {
		return nil
	}
	events := d.Source.Scanned().Events
	same := comparer.Same()
	r := repeatFinder{loads: make([]placedLoad, 0, len(events))}
	r.same = func(i, j int) bool { // other sources describe code at one address
		return len(d.Parts[i])+len(d.Parts[j]) == 0 && same(i, j)
	}
	r.covered = func(was *placedLoad, until uint64) bool {
		return files.histories.Maps(was.pid, addrs.Range{Lo: was.lo, Hi: was.hi}, d.Clock(was.time), d.Clock(until))
	}
	for i := range events {
		switch e := &events[i]; {
		case e.Kind != jitcode.Load:
			return nil
		case e.Size > 0:
			l := placedLoad{lo: e.Addr, hi: e.Addr + e.Size, time: e.Time, pid: e.PID, function: e.Function}
			// If nothing is unwound, no function is mapped at the copies of its home.
			if pid, _, ok := d.attribution.Resolve(e); ok && files.rec.CopiesStacks() {
				if home, ok := files.homeAddr(pid, d.Clock(e.Time), e.Addr, e.Size); ok {
					l.lo, l.hi = home, home+e.Size
				}
			}
			r.loads = append(r.loads, l)
		}
	}
	sorting.Stable(r.loads, func(a, b placedLoad) int {
		return cmp.Or(cmp.Compare(a.lo, b.lo), cmp.Compare(a.hi, b.hi), cmp.Compare(a.time, b.time))
	})
	first := 0
	for at := 1; at < len(r.loads) && (at%1024 != 0 || ctx.Err() == nil); at++ {
		if r.repeats(at, first) {
			r.found[int(r.loads[at].function)] = true
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
	function     int32
}

// A repeatFinder looks for repeats among loads in the order of their addresses, lengths and
// times.
type repeatFinder struct {
	loads []placedLoad
	same  func(i, j int) bool

	// covered reports whether the process mapped something over a load until a time.
	covered func(was *placedLoad, until uint64) bool
	// others has the loads from index first up to last, which no other ones overlap. It is
	// nil until it is needed.
	others      *otherLoads
	first, last int

	found map[int]bool
}

// repeats reports whether the load at index at repeats the one at index first.
func (r *repeatFinder) repeats(at, first int) bool {
	l, was := &r.loads[at], &r.loads[first]
	if l.lo != was.lo || l.hi != was.hi || l.pid != was.pid || r.replaced(at, was, l.time) || r.covered(was, l.time) || !r.same(int(was.function), int(l.function)) {
		return false
	}
	if r.found == nil {
		r.found = make(map[int]bool)
	}
	return true
}

// replaced reports whether other code came to the addresses of a load until a time. at is the
// index of a load at the same place.
func (r *repeatFinder) replaced(at int, was *placedLoad, until uint64) bool {
	for r.last <= at {
		r.first, r.others = r.last, nil
		for reach := uint64(0); r.last < len(r.loads) && (r.last == r.first || r.loads[r.last].lo < reach); r.last++ {
			reach = max(reach, r.loads[r.last].hi)
		}
	}
	if r.others == nil {
		r.others = newOtherLoads(r.loads[r.first:r.last])
	}
	return r.others.came(was.lo, was.hi, was.time, until)
}

// otherLoads finds loads that overlap a place and are not at that place themselves. They begin
// inside it, or below it, or where it begins and end elsewhere.
type otherLoads struct {
	times  []uint64       // of all loads, ascending
	begins addrs.Timeline // the first address of each
	inside addrs.Timeline // the other addresses of each
	at     map[uint64]*loadsAt
}

// loadsAt are the loads that begin at one address, in the order of their times.
type loadsAt struct {
	times []uint64
	ends  []uint64
	// next is the index of the first later load with another end.
	next []int
}

func newOtherLoads(loads []placedLoad) *otherLoads {
	byTime := slices.Clone(loads)
	sorting.Stable(byTime, func(a, b placedLoad) int { return cmp.Compare(a.time, b.time) })
	o := &otherLoads{at: make(map[uint64]*loadsAt)}
	for _, l := range byTime {
		o.times = append(o.times, l.time)
		o.begins.Add(addrs.Range{Lo: l.lo, Hi: l.lo + 1})
		o.inside.Add(addrs.Range{Lo: l.lo + 1, Hi: l.hi})
		at := o.at[l.lo]
		if at == nil {
			at = new(loadsAt)
			o.at[l.lo] = at
		}
		at.times, at.ends, at.next = append(at.times, l.time), append(at.ends, l.hi), append(at.next, 0)
	}
	for _, at := range o.at {
		for i := len(at.next) - 1; i >= 0; i-- {
			switch {
			case i+1 == len(at.next) || at.ends[i+1] != at.ends[i]:
				at.next[i] = i + 1
			default:
				at.next[i] = at.next[i+1]
			}
		}
	}
	return o
}

// came reports whether such a load came to [lo, hi) at a time from since to until.
func (o *otherLoads) came(lo, hi, since, until uint64) bool {
	from, to := between(o.times, since, until)
	if o.begins.First(addrs.Range{Lo: lo + 1, Hi: hi}, from, to) >= 0 || o.inside.First(addrs.Range{Lo: lo, Hi: lo + 1}, from, to) >= 0 {
		return true
	}
	at := o.at[lo]
	if at == nil {
		return false
	}
	i, n := between(at.times, since, until)
	return i < n && (at.ends[i] != hi || at.next[i] < n)
}

// between returns the indexes of the times from since to until.
func between(times []uint64, since, until uint64) (from, to int) {
	from, _ = slices.BinarySearch(times, since)
	return from, sort.Search(len(times), func(i int) bool { return times[i] > until })
}
