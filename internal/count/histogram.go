package count

import (
	"cmp"
	"runtime"
	"slices"
	"sync"

	"github.com/jitinject/jitinject/internal/recording"
	"github.com/jitinject/jitinject/internal/sorting"
)

// maxDoubt is the share of samples that the counts of functions may lack: one in so many.
const maxDoubt = 2000

// take counts the samples of an address histogram. It returns false, with all counts reset, if
// the histogram is not enough for that.
//
// At an address where functions followed each other, the histogram does not say how many samples are in
// which. The counts of functions lack such samples, if these are few.
func (c *Counter) take(h *recording.Histogram) bool {
	if h == nil || h.Over {
		return false
	}
	// Searching extends the index of a page, so all samples in one are found by one worker.
	workers := make([][]foundSlot, runtime.GOMAXPROCS(0))
	for i := range h.Slots {
		if s := &h.Slots[i]; s.N > 0 {
			c.process(s.PID) // workers must not add it
			at := s.IP / counterPage % uint64(len(workers))
			workers[at] = append(workers[at], foundSlot{slot: int32(i)})
		}
	}
	var group sync.WaitGroup
	for _, list := range workers {
		group.Go(func() { // page by page, which stay in the cache
			sorting.By(list, func(a, b foundSlot) int { return cmp.Compare(h.Slots[a.slot].IP, h.Slots[b.slot].IP) })
			for i := range list {
				list[i].find(c, h)
			}
		})
	}
	group.Wait()
	doubtful := int64(0)
	for _, found := range slices.Concat(workers...) {
		s := &h.Slots[found.slot]
		if found.counter == nil {
			c.clear()
			return false
		}
		*found.counter += s.N
		if !found.same {
			doubtful += s.N
		} else if w, _ := c.hot.at(found.spot, int(s.Attr)); w != nil {
			w.Add(recording.Weight{Samples: s.N, Period: s.Period})
		}
	}
	if doubtful > h.Total/maxDoubt {
		c.clear()
		return false
	}
	c.Total, c.hot.events = h.Total, h.Events
	return true
}

// A foundSlot is where the samples of a slot are. Its counter is nil if that changes from one counter to another.
type foundSlot struct {
	spot
	slot int32 // its index
	same bool  // all are in one function
}

// find fills a foundSlot.
func (f *foundSlot) find(c *Counter, h *recording.Histogram) {
	s := &h.Slots[f.slot]
	at, _, to := c.find(s.PID, s.First, s.IP)
	f.same = true
	for steps := 0; to <= s.Last; steps++ {
		next, _, until := c.find(s.PID, to, s.IP)
		if next.counter != at.counter || steps == recording.MaxSteps {
			return
		}
		f.same = f.same && next == at
		to = until // something else has changed near there
	}
	f.spot = at
}
