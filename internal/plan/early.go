package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jitinject/jitinject/internal/model"
	"github.com/jitinject/jitinject/internal/quote"
	"github.com/jitinject/jitinject/internal/recording"
)

// A bundle is mapped when the first of its functions is loaded. So it also shows the others,
// before they are loaded. That does no harm where no sample is. But a sample in such a function
// is in something else, without a known name. It must not get the name of a function that comes
// later.

// An earlyReference is a function that is referenced in a process that has not loaded it.
type earlyReference struct {
	pid    uint32
	placed int
}

// earlyReferences finds functions that are referenced before they are loaded.
type earlyReferences struct {
	*bundler
	// loaded has the time of a function's first mapping in each process other than its own.
	loaded map[earlyReference]uint64
	// shown has the time from which on a process maps a bundle.
	shown    map[shownBundle]uint64
	shows    map[uint32][]int            // the bundles that a process maps
	visible  descent[[]visibleBundle]    // the bundles that a process or one of its ancestors maps
	carriers recording.Carriers          // the processes that load functions or map bundles
	seen     [1 << 12]seenEarly          // a cache of references to loaded functions
	found    map[earlyReference]struct{} // the result
}

// A shownBundle is a bundle in a process.
type shownBundle struct {
	pid    uint32
	object int
}

// A visibleBundle is one of the bundles of a process, in a list by address.
type visibleBundle struct {
	object int
	low    uint64
	reach  uint64 // the highest end of it and of those before it in the list
}

// A seenEarly is a reference that was found to be right, from a time on.
type seenEarly struct {
	addr, since uint64
	pid         uint32
}

// findEarly returns the functions that are referenced before they are loaded. It walks the
// recording once more. If that does not show all references, it sets b.blind and adds a note.
func (b *bundler) findEarly(ctx context.Context) ([]earlyReference, error) {
	e := &earlyReferences{
		bundler: b, loaded: make(map[earlyReference]uint64), shown: make(map[shownBundle]uint64),
		shows: make(map[uint32][]int), found: make(map[earlyReference]struct{}),
	}
	e.visible = descent[[]visibleBundle]{tree: &b.rec.ProcessTree, own: func(pid uint32) bool { return e.shows[pid] != nil }, of: e.visibleOf}
	maps := make(map[uint32]bool)
	e.carriers = recording.Carriers{Tree: &b.rec.ProcessTree, Has: func(pid uint32) bool { return maps[pid] }, PastExec: true}
	for i := range b.old.Mappings {
		r := b.of[i]
		if r < 0 {
			continue
		}
		m := &b.old.Mappings[i]
		maps[m.PID] = true
		if b.placedFunctions[r].pid != m.PID {
			keepEarliest(e.loaded, earlyReference{m.PID, r}, m.Time)
		}
		if b.placedFunctions[r].generation == 0 && b.placedFunctions[r].region == noRegion {
			keepEarliest(e.shown, shownBundle{m.PID, b.placedFunctions[r].object}, m.Time)
		}
	}
	if len(e.shown) == 0 {
		return nil, nil
	}
	for s := range e.shown {
		e.shows[s.pid] = append(e.shows[s.pid], s.object)
	}
	err := eachReference(ctx, b.rec, e.bounds, e.reference)
	var why unknowable
	if errors.As(err, &why) {
		b.blind = true
		b.planner.Found.Note(fmt.Sprintf("%s: what it touches before that is loaded cannot be told: %s; so each function of a bundle has a mapping of its own", quote.Printable(b.rec.In.Path), why))
		return nil, nil
	}
	if err != nil {
		return nil, recording.Error(b.rec.In.Path, err)
	}
	found := make([]earlyReference, 0, len(e.found))
	for t := range e.found {
		found = append(found, t)
	}
	slices.SortFunc(found, func(x, y earlyReference) int {
		if x.pid != y.pid {
			return int(int64(x.pid) - int64(y.pid))
		}
		return x.placed - y.placed
	})
	return found, nil
}

// keepEarliest sets m[key] to time, unless there is an earlier one.
func keepEarliest[K comparable](m map[K]uint64, key K, time uint64) {
	if t, ok := m[key]; !ok || time < t {
		m[key] = time
	}
}

// visibleOf returns the bundles that processes map, by address.
func (e *earlyReferences) visibleOf(line []uint32) (list []visibleBundle) {
	seen := make(map[int]bool)
	for _, pid := range line {
		for _, object := range e.shows[pid] {
			if !seen[object] {
				seen[object] = true
				list = append(list, visibleBundle{object: object, low: e.planner.Objects[object].Bundle.Region.Low})
			}
		}
	}
	slices.SortFunc(list, func(x, y visibleBundle) int {
		return cmp.Or(cmp.Compare(x.low, y.low), cmp.Compare(x.object, y.object))
	})
	reach := uint64(0)
	for i := range list {
		reach = max(reach, e.planner.Objects[list[i].object].Bundle.Region.High)
		list[i].reach = reach
	}
	return list
}

// bounds returns the addresses between which a process may see bundles.
func (e *earlyReferences) bounds(pid uint32) (lo, hi uint64, ok bool) {
	list := e.visible.get(pid)
	if len(list) == 0 {
		return 0, 0, false
	}
	return list[0].low, list[len(list)-1].reach, true
}

// reference records that a process refers to an address at a time.
func (e *earlyReferences) reference(pid uint32, time, addr uint64) {
	s := &e.seen[(addr^addr>>12^uint64(pid))%uint64(len(e.seen))]
	if s.addr == addr && s.pid == pid && time >= s.since {
		return
	}
	list := e.visible.get(pid)
	n, _ := slices.BinarySearchFunc(list, addr, func(v visibleBundle, addr uint64) int {
		if v.low <= addr {
			return -1
		}
		return 1
	})
	there := true
	for i := n - 1; i >= 0 && list[i].reach > addr; i-- { // bundles of two dumps may overlap
		o := list[i].object
		r, ok := e.placedAt(o, addr)
		if !ok || e.isLoaded(pid, r, time) {
			continue
		}
		if e.isShown(pid, o, time) {
			e.found[earlyReference{pid, r}] = struct{}{}
		}
		there = false
	}
	if there {
		*s = seenEarly{addr, time, pid}
	}
}

// placedAt returns the placed function of a bundle at an address.
func (e *earlyReferences) placedAt(o int, addr uint64) (int, bool) {
	obj := &e.planner.Objects[o]
	if addr < obj.Bundle.Region.Low || addr >= obj.Bundle.Region.High {
		return 0, false
	}
	i, found := slices.BinarySearchFunc(obj.Bundle.Members, addr, func(m model.Member, addr uint64) int {
		switch {
		case m.Addr < addr:
			return -1
		case m.Addr > addr:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 {
		return 0, false
	}
	r := obj.Bundle.Members[i].Placed
	return r, addr < e.placedFunctions[r].hi
}

// isLoaded reports whether a process has a function at a time: its own, or inherited in a fork.
func (e *earlyReferences) isLoaded(pid uint32, r int, time uint64) bool {
	first := &e.placedFunctions[r]
	return e.inherits(pid, time, func(pid uint32, time uint64) bool {
		if pid == first.pid {
			return first.time <= time
		}
		t, ok := e.loaded[earlyReference{pid, r}]
		return ok && t <= time
	})
}

// isShown reports whether a process sees a bundle at a time.
func (e *earlyReferences) isShown(pid uint32, object int, time uint64) bool {
	return e.inherits(pid, time, func(pid uint32, time uint64) bool {
		t, ok := e.shown[shownBundle{pid, object}]
		return ok && t <= time
	})
}

// inherits reports whether is holds for a process at a time, or for one of its ancestors at the
// time of the fork.
func (e *earlyReferences) inherits(pid uint32, time uint64, is func(pid uint32, time uint64) bool) bool {
	for range recording.MaxGenerations {
		if is(pid, time) {
			return true
		}
		var more bool
		if pid, time, more = e.carriers.Next(pid, time); !more {
			break
		}
	}
	return false
}
