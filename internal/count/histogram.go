package count

import (
	"github.com/jitinject/jitinject/internal/recording"
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
	doubtful := int64(0)
	for i := range h.Slots {
		s := &h.Slots[i]
		if s.N == 0 {
			continue
		}
		at, _, to := c.find(s.PID, s.First, s.IP)
		same := true
		for steps := 0; to <= s.Last; steps++ {
			next, _, until := c.find(s.PID, to, s.IP)
			if next.counter != at.counter || steps == recording.MaxSteps {
				c.clear()
				return false
			}
			same = same && next == at
			to = until // something else has changed near there
		}
		*at.counter += s.N
		if !same {
			doubtful += s.N
		} else if w, _ := c.hot.at(at, int(s.Attr)); w != nil {
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
