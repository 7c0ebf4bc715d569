package source

import (
	"cmp"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// An EventIndex has the times and addresses of a listing's events in order, because thousands of processes may name one
// dump, and each of them is compared with the events.
type EventIndex struct {
	events []jitcode.Event
	first  map[uint32]uint64 // earliest time, by process
	// Last is the latest time of all events; 0 if there is none.
	Last  uint64
	times []uint64 // other than 0, in order; nil before the first use
	addrs []uint64 // likewise
}

// EventIndex returns the index of the events. They must not change afterwards; more may follow.
func (l *Listing) EventIndex() *EventIndex {
	if x := l.index; x != nil && len(x.events) == len(l.Events) {
		return x
	}
	x := &EventIndex{events: l.Events, first: make(map[uint32]uint64)}
	pid, first := uint32(0), uint64(0) // the latest of x.first
	for i := range l.Events {
		ev := &l.Events[i]
		if x.Last = max(x.Last, ev.Time); ev.Time > 0 && (ev.PID != pid || ev.Time < first || first == 0) {
			pid, first = ev.PID, min(ev.Time, cmp.Or(x.first[ev.PID], math.MaxUint64))
			x.first[pid] = first
		}
	}
	l.index = x
	return x
}

// DropIndex frees the index; a later use makes it again.
func (l *Listing) DropIndex() { l.index = nil }

// First returns the earliest time of the events of some processes, or of all events if these have no times. It is
// 0 if no event has one.
func (x *EventIndex) First(pids ...uint32) (first uint64) {
	for _, pid := range pids {
		if t := x.first[pid]; t > 0 {
			first = min(t, cmp.Or(first, math.MaxUint64))
		}
	}
	if first == 0 && len(x.first) > 0 {
		return x.sortedTimes()[0]
	}
	return first
}

// Low returns the time that one sixteenth of all times precede. There must be one.
func (x *EventIndex) Low() uint64 { return x.sortedTimes()[len(x.sortedTimes())/16] }

func (x *EventIndex) sortedTimes() []uint64 {
	return sortedOnce(&x.times, x.events, func(ev *jitcode.Event) (uint64, bool) { return ev.Time, ev.Time > 0 })
}

// HasRepeats reports whether two events have the same address.
func (x *EventIndex) HasRepeats() bool {
	all := x.sortedAddrs()
	for i := 1; i < len(all); i++ {
		if all[i] == all[i-1] {
			return true
		}
	}
	return false
}

func (x *EventIndex) sortedAddrs() []uint64 {
	return sortedOnce(&x.addrs, x.events, func(ev *jitcode.Event) (uint64, bool) { return ev.Addr, true })
}

// Between returns how many events have an address from lo up to hi, hi excluded.
func (x *EventIndex) Between(lo, hi uint64) int {
	all := x.sortedAddrs()
	i, _ := slices.BinarySearch(all, lo)
	j, _ := slices.BinarySearch(all, max(lo, hi))
	return j - i
}

// sortedOnce fills a list with numbers of events, at the first call, and returns it.
func sortedOnce(list *[]uint64, events []jitcode.Event, of func(*jitcode.Event) (n uint64, counts bool)) []uint64 {
	if *list == nil {
		*list = make([]uint64, 0, len(events))
		for i := range events {
			if n, ok := of(&events[i]); ok {
				*list = append(*list, n)
			}
		}
		slices.Sort(*list)
	}
	return *list
}
