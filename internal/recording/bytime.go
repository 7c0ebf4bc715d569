package recording

import (
	"cmp"
	"sort"

	"github.com/jitinject/jitinject/internal/sorting"
)

// A byTime is a list of events in the order of their times. Events of one time stay in the order in
// which they were added. Records come in order within one CPU only, so the list is put in order when
// it is first asked: all events are added before that.
type byTime[T interface{ at() uint64 }] struct {
	events   []T
	disorder bool // an event is earlier than one before it
}

// add adds an event.
func (b *byTime[T]) add(event T) {
	n := len(b.events)
	b.disorder = b.disorder || n > 0 && b.events[n-1].at() > event.at()
	b.events = append(b.events, event)
}

// all returns the events in order. They belong to the list, and are valid until the next add.
func (b *byTime[T]) all() []T {
	if b == nil {
		return nil
	}
	if b.disorder {
		sorting.Stable(b.events, func(x, y T) int { return cmp.Compare(x.at(), y.at()) })
		b.disorder = false
	}
	return b.events
}

// latest returns the last event up to a time.
func (b *byTime[T]) latest(time uint64) (event T, ok bool) {
	events := b.all()
	if n := upTo(events, time); n > 0 {
		return events[n-1], true
	}
	return event, false
}

// next returns the first event after a time.
func (b *byTime[T]) next(time uint64) (event T, ok bool) {
	events := b.all()
	if n := upTo(events, time); n < len(events) {
		return events[n], true
	}
	return event, false
}

// upTo returns how many events of a list in order were up to a time.
func upTo[T interface{ at() uint64 }](events []T, time uint64) int {
	return sort.Search(len(events), func(i int) bool { return events[i].at() > time })
}
