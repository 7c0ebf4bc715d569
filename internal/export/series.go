package export

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/profile"
	"github.com/jitinject/jitinject/internal/sorting"
)

// A series has the samples of one event in one thread. Weights of different events have different
// units, so no sum mixes them.
type series struct {
	thread, event int   // indices
	samples       []int // indices, ordered by time
}

// divide returns the series of a profile: those with the most samples first, then in the order of
// threads and events.
func divide(p *profile.Profile) []series {
	type key struct{ thread, event int }
	counts := make(map[key]int)
	for i := range p.Samples {
		counts[key{p.Samples[i].Thread, p.Samples[i].Event}]++
	}
	all := make([]series, 0, len(counts))
	for k, n := range counts {
		all = append(all, series{k.thread, k.event, make([]int, 0, n)})
	}
	sorting.By(all, func(a, b series) int {
		return cmp.Or(cmp.Compare(cap(b.samples), cap(a.samples)), cmp.Compare(a.thread, b.thread), cmp.Compare(a.event, b.event))
	})
	place := make(map[key]int, len(all))
	for i, s := range all {
		place[key{s.thread, s.event}] = i
	}
	for i := range p.Samples {
		s := &all[place[key{p.Samples[i].Thread, p.Samples[i].Event}]]
		s.samples = append(s.samples, i)
	}
	for _, s := range all {
		slices.SortStableFunc(s.samples, func(a, b int) int {
			return cmp.Compare(p.Samples[a].Time, p.Samples[b].Time)
		})
	}
	return all
}

// span is the time of the first and of the last sample.
func span(p *profile.Profile) (first, last uint64) {
	first = p.Samples[0].Time
	for i := range p.Samples {
		first, last = min(first, p.Samples[i].Time), max(last, p.Samples[i].Time)
	}
	return first, last
}

func busiestEvent(p *profile.Profile) int {
	counts := make([]int, len(p.Events))
	for i := range p.Samples {
		counts[p.Samples[i].Event]++
	}
	return slices.Index(counts, slices.Max(counts))
}

func usedEvents(p *profile.Profile) (events []int) {
	used := make([]bool, len(p.Events))
	for i := range p.Samples {
		used[p.Samples[i].Event] = true
	}
	for e, yes := range used {
		if yes {
			events = append(events, e)
		}
	}
	return events
}

// usualPeriod is the most frequent period of an event, the least of several such.
func usualPeriod(p *profile.Profile, event int) (usual uint64) {
	counts := make(map[uint64]int)
	for i := range p.Samples {
		if s := &p.Samples[i]; s.Event == event {
			counts[weight(s)]++
		}
	}
	for period, n := range counts {
		if n > counts[usual] || n == counts[usual] && period < usual {
			usual = period
		}
	}
	return usual
}
