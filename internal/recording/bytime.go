package recording

import "slices"

// A byTime is a list of events in the order of their times. Records come in order within one CPU
// only, so an event may be a little earlier than those before it, and in a damaged recording
// anything. Adding takes O(log n) on average, in any order.
//
// Events of one time stay in the order in which they were added.
type byTime[T interface{ at() uint64 }] struct {
	// runs are ascending lists. The events of a run were added before those of the next one.
	// Each run but the last is longer than the next one, so they are few.
	runs [][]T
}

// add adds an event.
func (b *byTime[T]) add(event T) {
	n := len(b.runs)
	if n == 0 || lastOf(b.runs[n-1]).at() > event.at() {
		b.runs = append(b.runs, []T{event})
	} else {
		b.runs[n-1] = append(b.runs[n-1], event)
	}
	for n = len(b.runs); n > 1 && len(b.runs[n-1]) >= len(b.runs[n-2]); n-- {
		b.join()
	}
}

func lastOf[T any](list []T) T { return list[len(list)-1] }

// join merges the last two runs.
func (b *byTime[T]) join() {
	n := len(b.runs)
	early, late := b.runs[n-2], b.runs[n-1]
	all := make([]T, 0, len(early)+len(late))
	for len(early) > 0 && len(late) > 0 {
		if early[0].at() <= late[0].at() {
			all, early = append(all, early[0]), early[1:]
		} else {
			all, late = append(all, late[0]), late[1:]
		}
	}
	b.runs[n-2] = append(append(all, early...), late...)
	b.runs = b.runs[:n-1]
}

// all returns the events in order. They belong to the list, and are valid until the next add.
func (b *byTime[T]) all() []T {
	if b == nil || len(b.runs) == 0 {
		return nil
	}
	for len(b.runs) > 1 {
		b.join()
	}
	return b.runs[0]
}

// latest returns the last event up to a time.
func (b *byTime[T]) latest(time uint64) (event T, ok bool) {
	if b == nil {
		return event, false
	}
	for _, run := range b.runs {
		if n := upTo(run, time); n > 0 && (!ok || run[n-1].at() >= event.at()) {
			event, ok = run[n-1], true
		}
	}
	return event, ok
}

// next returns the first event after a time.
func (b *byTime[T]) next(time uint64) (event T, ok bool) {
	if b == nil {
		return event, false
	}
	for _, run := range b.runs {
		if n := upTo(run, time); n < len(run) && (!ok || run[n].at() < event.at()) {
			event, ok = run[n], true
		}
	}
	return event, ok
}

// upTo returns how many events of a run were up to a time.
func upTo[T interface{ at() uint64 }](run []T, time uint64) int {
	n, _ := slices.BinarySearchFunc(run, time, func(event T, time uint64) int {
		if event.at() <= time {
			return -1
		}
		return 1
	})
	return n
}
