package source

import (
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/jitcode"
)

// A Summary answers what is asked of a listing's events once for each process that may be theirs. Thousands of
// processes may name one dump.
type Summary struct {
	events []jitcode.Event
	first  map[uint32]uint64 // earliest time, by process
	// Last is the latest time of all events; 0 if there is none.
	Last  uint64
	times []uint64 // other than 0, in order; nil before the first use
	addrs []uint64 // likewise
}

// Summary returns the summary of the events. They must not change afterwards; more may follow.
func (l *Listing) Summary() *Summary {
	if s := l.summary; s != nil && len(s.events) == len(l.Events) {
		return s
	}
	s := &Summary{events: l.Events, first: make(map[uint32]uint64)}
	for i := range l.Events {
		ev := &l.Events[i]
		if s.Last = max(s.Last, ev.Time); ev.Time > 0 {
			s.first[ev.PID] = min(ev.Time, orNever(s.first[ev.PID]))
		}
	}
	l.summary = s
	return s
}

// orNever returns a time, or the highest one if it is 0.
func orNever(time uint64) uint64 {
	if time == 0 {
		return math.MaxUint64
	}
	return time
}

// First returns the earliest time of the events of some processes, or of all events if these have no times. It is
// 0 if no event has one.
func (s *Summary) First(pids ...uint32) (first uint64) {
	for _, pid := range pids {
		if t := s.first[pid]; t > 0 {
			first = min(t, orNever(first))
		}
	}
	if first == 0 && len(s.first) > 0 {
		return s.sortedTimes()[0]
	}
	return first
}

// Low returns the time that one sixteenth of all times precede. There must be one.
func (s *Summary) Low() uint64 { return s.sortedTimes()[len(s.sortedTimes())/16] }

func (s *Summary) sortedTimes() []uint64 {
	return sortedOnce(&s.times, s.events, func(ev *jitcode.Event) (uint64, bool) { return ev.Time, ev.Time > 0 })
}

// Between returns how many events have an address from lo up to hi, hi excluded.
func (s *Summary) Between(lo, hi uint64) int {
	all := sortedOnce(&s.addrs, s.events, func(ev *jitcode.Event) (uint64, bool) { return ev.Addr, true })
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
