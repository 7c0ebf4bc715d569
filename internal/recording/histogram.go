package recording

import (
	"github.com/jitinject/jitinject/perfdata"
)

// A Histogram is what the survey keeps of samples, so that they can be counted without
// reading them once more: each address of user space once, how often it was sampled, and
// from when to when. Mostly that is enough, for what is at an address rarely changes; if
// not, or if there are too many addresses, the samples are read again (count.go).
type Histogram struct {
	Total int64
	Slots []histogramSlot // a power of two of them; a hash table with open addressing
	shift uint            // of hashes
	used  int
	Over  bool // there were too many addresses
}

type histogramSlot struct {
	IP          uint64
	First, Last uint64
	N           int64 // 0 for a free one
	PID         uint32
}

const (
	minHistogram = 1 << 10
	maxHistogram = 1 << 16 // slots of 40 bytes; half of them are used

	// MaxSteps bounds how often something may change near an address.
	MaxSteps = 1000
)

func newHistogram() *Histogram {
	c := new(Histogram)
	c.resize(minHistogram)
	return c
}

func (c *Histogram) resize(n int) {
	old := c.Slots
	c.Slots, c.shift = make([]histogramSlot, n), 64
	for n > 1 {
		c.shift--
		n /= 2
	}
	for i := range old {
		if s := &old[i]; s.N > 0 {
			*c.slot(s.PID, s.IP) = *s
		}
	}
}

// slot returns the slot of an address, which may be free.
func (c *Histogram) slot(pid uint32, ip uint64) *histogramSlot {
	mask := uint64(len(c.Slots) - 1)
	for i := ((ip ^ uint64(pid)<<44) * 0x9e3779b97f4a7c15) >> c.shift; ; i++ {
		if s := &c.Slots[i&mask]; s.N == 0 || s.IP == ip && s.PID == pid {
			return s
		}
	}
}

// sample takes in a SAMPLE record.
func (c *Histogram) sample(rec perfdata.Record, layouts *perfdata.Layouts) {
	if c == nil || c.Over {
		return
	}
	c.Total++
	if !IsUser(rec) {
		return
	}
	h, ok := layouts.SampleHead(rec)
	if !ok {
		return
	}
	time := min(h.Time, LatestTime)
	s := c.slot(h.PID, h.IP)
	if s.N == 0 {
		*s = histogramSlot{IP: h.IP, PID: h.PID, First: time, Last: time}
		c.used++
	}
	s.N++
	s.First, s.Last = min(s.First, time), max(s.Last, time)
	switch {
	case 2*c.used <= len(c.Slots):
	case len(c.Slots) < maxHistogram:
		c.resize(2 * len(c.Slots))
	default:
		c.Over, c.Slots = true, nil
	}
}
