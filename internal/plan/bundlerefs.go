package plan

import (
	"cmp"
	"context"
	"errors"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/samplerefs"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A bundle is mapped when the first of its functions is loaded. So it also shows the others, before
// they are loaded, and itself in the gaps between them. That does no harm where no sample is. But a
// sample in such a function is in something else, without a known name. It must not get the name of
// a function that comes later. In a gap, perf must see what it would see with an object for each
// function: some perfs follow a stack through memory without a file, and end it in a file.

// runReferences finds what samples refer to in runs: functions, early or not, and gaps.
type runReferences struct {
	*bundler
	// starts has, by run, the addresses at which its functions begin: a search among them stays in the cache.
	starts [][]uint64
	// loaded has the time of a function's first mapping in each process other than its own.
	loaded map[placedIn]uint64
	// shown has the time from which on a process may map bundles of a run.
	shown    map[shownRun]uint64
	shows    map[uint32][]int                // the runs that a process maps
	visible  recording.Descent[[]visibleRun] // the runs that a process or one of its ancestors maps
	carriers recording.Carriers              // the processes that load functions or map bundles
	mu       sync.Mutex                      // guards visible and carriers
}

// Uses of a placed function.
const (
	referenced = 1 << iota // a sample refers to its addresses
	early                  // a sample did so before it was loaded
	gapAfter               // a sample refers to the gap between it and the next function of its run
	headUsed               // a sample refers to where the head of an object would be that begins with it
)

// has reports whether a function has all of some uses, and use adds uses. Several goroutines may call both.
func (p *placed) has(uses uint32) bool { return atomic.LoadUint32(&p.uses)&uses == uses }
func (p *placed) use(uses uint32)      { atomic.OrUint32(&p.uses, uses) }

// A placedIn is a placed function in a process.
type placedIn struct {
	pid    uint32
	placed int
}

// A shownRun is a run in a process.
type shownRun struct {
	pid uint32
	run int
}

// A visibleRun is one of the runs of a process, in a list by address.
type visibleRun struct {
	run   int
	low   uint64 // regionGap below its first function
	reach uint64 // the highest end of it and of those before it in the list
}

// findReferences sets what is referenced in the functions of runs. It walks the recording once
// more. If that does not show all references, it sets b.blind and adds a note.
func (b *bundler) findReferences(ctx context.Context) error {
	if len(b.runs) == 0 {
		return nil
	}
	refs := &runReferences{bundler: b, loaded: make(map[placedIn]uint64), shown: make(map[shownRun]uint64), shows: make(map[uint32][]int)}
	refs.visible = recording.Descent[[]visibleRun]{Tree: &b.rec.ProcessTree, Own: func(pid uint32) bool { return refs.shows[pid] != nil }, Of: refs.visibleOf}
	runOf := make([]int, len(b.placedFunctions))
	for i := range runOf {
		runOf[i] = -1
	}
	all := make([]uint64, 0, len(runOf))
	for i := range b.runs {
		from := len(all)
		for _, r := range b.runs[i].members {
			runOf[r] = i
			all = append(all, b.placedFunctions[r].lo())
		}
		refs.starts = append(refs.starts, all[from:])
	}
	maps := make(map[uint32]bool)
	refs.carriers = recording.Carriers{Tree: &b.rec.ProcessTree, Has: func(pid uint32) bool { return maps[pid] }, PastExec: true}
	last := shownRun{run: -2}
	for i := range b.in.Mappings {
		r := b.of[i]
		if r < 0 {
			continue
		}
		m := &b.in.Mappings[i]
		if b.placedFunctions[r].first.PID != m.PID {
			keepEarliest(refs.loaded, placedIn{m.PID, int(r)}, m.Time)
		}
		if s := (shownRun{m.PID, runOf[r]}); s != last { // the first one is the earliest
			last, maps[m.PID] = s, true
			if s.run >= 0 {
				keepEarliest(refs.shown, s, m.Time)
			}
		}
	}
	for s := range refs.shown {
		refs.shows[s.pid] = append(refs.shows[s.pid], s.run)
	}
	err := samplerefs.Each(ctx, b.rec, refs.bounds, refs.reference)
	var why samplerefs.Unknowable
	if errors.As(err, &why) {
		b.blind = true
		b.functions.found(allAlone, b.rec.In.Path, why)
		return nil
	}
	if err != nil {
		return recording.Error(b.rec.In.Path, err)
	}
	return nil
}

// keepEarliest sets m[key] to time, unless there is an earlier one.
func keepEarliest[K comparable](m map[K]uint64, key K, time uint64) {
	if t, ok := m[key]; !ok || time < t {
		m[key] = time
	}
}

// visibleOf returns the runs that processes map, by address.
func (refs *runReferences) visibleOf(line []uint32) (list []visibleRun) {
	seen := make(map[int]bool)
	for _, pid := range line {
		for _, run := range refs.shows[pid] {
			if !seen[run] {
				seen[run] = true
				lo := refs.placedFunctions[refs.runs[run].members[0]].lo()
				list = append(list, visibleRun{run: run, low: lo - min(lo, regionGap)})
			}
		}
	}
	sorting.By(list, func(x, y visibleRun) int {
		return cmp.Or(cmp.Compare(x.low, y.low), cmp.Compare(x.run, y.run))
	})
	reach := uint64(0)
	for i := range list {
		members := refs.runs[list[i].run].members
		reach = max(reach, refs.placedFunctions[members[len(members)-1]].hi())
		list[i].reach = reach
	}
	return list
}

// runsOf returns the runs that a process or one of its ancestors maps. Several goroutines may call it.
func (refs *runReferences) runsOf(pid uint32) []visibleRun {
	refs.mu.Lock()
	defer refs.mu.Unlock()
	return refs.visible.Get(pid)
}

// bounds returns the addresses between which a process may see runs. A return address may be one
// byte after them.
func (refs *runReferences) bounds(pid uint32) (lo, hi uint64, ok bool) {
	list := refs.runsOf(pid)
	if len(list) == 0 {
		return 0, 0, false
	}
	return list[0].low, list[len(list)-1].reach + 1, true
}

// reference records that a process refers to an address at a time. For return addresses, perf looks
// up the byte before. Several goroutines may call it.
func (refs *runReferences) reference(pid uint32, time, addr uint64) (until uint64) {
	list := refs.runsOf(pid)
	if known := refs.lookedUp(list, pid, time, addr); refs.lookedUp(list, pid, time, addr-1) && known {
		return samplerefs.Always
	}
	return 0
}

// lookedUp records that perf may look up an address of a process at a time. It reports whether a
// later look-up adds nothing. list has the runs of the process.
func (refs *runReferences) lookedUp(list []visibleRun, pid uint32, time, addr uint64) (known bool) {
	n := sort.Search(len(list), func(i int) bool { return list[i].low > addr })
	known = true
	for i := n - 1; i >= 0 && list[i].reach > addr; i-- { // runs of two dumps may overlap
		run := list[i].run
		members, starts := refs.runs[run].members, refs.starts[run]
		at := sort.Search(len(starts), func(i int) bool { return starts[i] > addr }) - 1 // the last one that begins below
		if at+1 < len(starts) && addr-headOf(starts[at+1]) < maxHead {
			refs.placedFunctions[members[at+1]].use(headUsed)
		}
		if at < 0 {
			continue
		}
		r := members[at]
		p := &refs.placedFunctions[r]
		inside := addr < p.hi()
		switch {
		case !inside && (at+1 == len(members) || p.has(gapAfter)):
		case inside && p.has(referenced|early):
		case inside && refs.isLoaded(pid, r, time):
			p.use(referenced)
		case !refs.isShown(pid, run, time):
			known = false
		case inside:
			p.use(referenced | early)
		default:
			p.use(gapAfter)
		}
	}
	return known
}

// isLoaded reports whether a process has a function at a time: its own, or inherited in a fork.
func (refs *runReferences) isLoaded(pid uint32, r int, time uint64) bool {
	first := &refs.placedFunctions[r]
	return refs.inherits(pid, time, func(pid uint32, time uint64) bool {
		if pid == first.first.PID {
			return first.first.Time <= time
		}
		t, ok := refs.loaded[placedIn{pid, r}]
		return ok && t <= time
	})
}

// isShown reports whether a process may see bundles of a run at a time.
func (refs *runReferences) isShown(pid uint32, run int, time uint64) bool {
	return refs.inherits(pid, time, func(pid uint32, time uint64) bool {
		t, ok := refs.shown[shownRun{pid, run}]
		return ok && t <= time
	})
}

// inherits reports whether is holds for a process at a time, or for one of its ancestors at the
// time of the fork.
func (refs *runReferences) inherits(pid uint32, time uint64, is func(pid uint32, time uint64) bool) bool {
	for range recording.MaxCarriers {
		if is(pid, time) {
			return true
		}
		var more bool
		refs.mu.Lock()
		pid, time, more = refs.carriers.Next(pid, time)
		refs.mu.Unlock()
		if !more {
			break
		}
	}
	return false
}
