package count

import (
	"github.com/jitinject/jitinject/internal/recording"
)

// take counts the samples of an address histogram. It returns false, with all counts reset, if
// the histogram is not enough for that.
func (t *Counter) take(c *recording.Histogram) bool {
	if c == nil || c.Over {
		return false
	}
	for i := range c.Slots {
		s := &c.Slots[i]
		if s.N == 0 {
			continue
		}
		counter, _, to := t.find(s.PID, s.First, s.IP)
		for steps := 0; to <= s.Last; steps++ {
			next, _, until := t.find(s.PID, to, s.IP)
			if next != counter || steps == recording.MaxSteps {
				t.clear()
				return false
			}
			to = until // something else has changed near there
		}
		*counter += s.N
	}
	t.Total = c.Total
	return true
}
