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
func (t *Counter) take(c *recording.Histogram) bool {
	if c == nil || c.Over {
		return false
	}
	doubtful := int64(0)
	for i := range c.Slots {
		s := &c.Slots[i]
		if s.N == 0 {
			continue
		}
		at, _, to := t.find(s.PID, s.First, s.IP)
		same := true
		for steps := 0; to <= s.Last; steps++ {
			next, _, until := t.find(s.PID, to, s.IP)
			if next.counter != at.counter || steps == recording.MaxSteps {
				t.clear()
				return false
			}
			same = same && next == at
			to = until // something else has changed near there
		}
		*at.counter += s.N
		if !same {
			doubtful += s.N
		} else if w, _ := t.hot.at(at, int(s.Attr)); w != nil {
			w.Add(recording.Weight{Samples: s.N, Period: s.Period})
		}
	}
	if doubtful > c.Total/maxDoubt {
		t.clear()
		return false
	}
	t.Total, t.hot.events = c.Total, c.Events
	return true
}
