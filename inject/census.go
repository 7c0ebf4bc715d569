package inject

import "github.com/jitinject/jitinject/perfdata"

// A census is what the survey keeps of samples, so that they can be counted without
// reading them once more: each address of user space once, how often it was sampled, and
// from when to when. Mostly that is enough, for what is at an address rarely changes; if
// not, or if there are too many addresses, the samples are read again (count.go).
type census struct {
	total int64
	slots []censusSlot // a power of two of them; a hash table with open addressing
	shift uint         // of hashes
	used  int
	over  bool // there were too many addresses
}

type censusSlot struct {
	ip          uint64
	first, last uint64
	n           int64 // 0 for a free one
	pid         uint32
}

const (
	minCensus = 1 << 10
	maxCensus = 1 << 16 // slots of 40 bytes; half of them are used

	// maxSteps bounds how often something may change near an address.
	maxSteps = 1000
)

func newCensus() *census {
	c := new(census)
	c.resize(minCensus)
	return c
}

func (c *census) resize(n int) {
	old := c.slots
	c.slots, c.shift = make([]censusSlot, n), 64
	for n > 1 {
		c.shift--
		n /= 2
	}
	for i := range old {
		if s := &old[i]; s.n > 0 {
			*c.slot(s.pid, s.ip) = *s
		}
	}
}

// slot returns the slot of an address, which may be free.
func (c *census) slot(pid uint32, ip uint64) *censusSlot {
	mask := uint64(len(c.slots) - 1)
	for i := ((ip ^ uint64(pid)<<44) * 0x9e3779b97f4a7c15) >> c.shift; ; i++ {
		if s := &c.slots[i&mask]; s.n == 0 || s.ip == ip && s.pid == pid {
			return s
		}
	}
}

// sample takes in a SAMPLE record.
func (c *census) sample(rec perfdata.Record, layouts *perfdata.Layouts) {
	if c == nil || c.over {
		return
	}
	c.total++
	if !isUser(rec) {
		return
	}
	pid, ip, time, ok := layouts.SamplePlace(rec)
	if !ok {
		return
	}
	time = min(time, latestTime)
	s := c.slot(pid, ip)
	if s.n == 0 {
		*s = censusSlot{ip: ip, pid: pid, first: time, last: time}
		c.used++
	}
	s.n++
	s.first, s.last = min(s.first, time), max(s.last, time)
	switch {
	case 2*c.used <= len(c.slots):
	case len(c.slots) < maxCensus:
		c.resize(2 * len(c.slots))
	default:
		c.over, c.slots = true, nil
	}
}

// take counts the samples of a census, and reports whether it could tell.
func (t *tally) take(c *census) bool {
	if c == nil || c.over {
		return false
	}
	for i := range c.slots {
		s := &c.slots[i]
		if s.n == 0 {
			continue
		}
		counter, _, to := t.find(s.pid, s.first, s.ip)
		for steps := 0; to <= s.last; steps++ {
			next, _, until := t.find(s.pid, to, s.ip)
			if next != counter || steps == maxSteps {
				t.clear()
				return false
			}
			to = until // something else has changed near there
		}
		*counter += s.n
	}
	t.total = c.total
	return true
}
