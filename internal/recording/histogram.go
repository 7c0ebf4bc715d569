package recording

import (
	"github.com/jitinject/jitinject/perfdata"
)

// A Histogram is an address histogram: the survey counts samples in it, so that they need not be
// read again. It has each address of user space once, with the number of samples and their first
// and last time. Mostly that is enough, because the code at an address rarely changes. If it
// changes, or if there are too many addresses, the samples are read again (package count).
type Histogram struct {
	// Total is the number of samples, those of the kernel included.
	Total int64
	// Slots are a hash table with open addressing. Their number is a power of two.
	Slots []histogramSlot
	// 64 less the logarithm of the number of slots: hashes are shifted right by it
	shift uint
	// used is the number of slots in use.
	used int
	Over bool // there were too many addresses; Slots is nil then
	// of has the slots of each process, once Of was called.
	of map[uint32][]*histogramSlot
}

// A histogramSlot counts the samples at an address of a process.
type histogramSlot struct {
	IP uint64
	// First and Last are times in nanoseconds; LatestTime for samples without.
	First, Last uint64
	N           int64 // number of samples; 0 for a free slot
	PID         uint32
}

const (
	minHistogram = 1 << 10
	maxHistogram = 1 << 16 // slots of 40 bytes; at most half of them are used

	// MaxSteps bounds how often the code near an address may change.
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

// slot returns the slot of an address. It may be free.
func (c *Histogram) slot(pid uint32, ip uint64) *histogramSlot {
	mask := uint64(len(c.Slots) - 1)
	for i := ((ip ^ uint64(pid)<<44) * 0x9e3779b97f4a7c15) >> c.shift; ; i++ {
		if s := &c.Slots[i&mask]; s.N == 0 || s.IP == ip && s.PID == pid {
			return s
		}
	}
}

// Of returns the addresses of a process that have samples, in no order. All samples must have been
// counted. c may be nil.
func (c *Histogram) Of(pid uint32) []*histogramSlot {
	if c == nil {
		return nil
	}
	if c.of == nil {
		c.of = make(map[uint32][]*histogramSlot)
		for i := range c.Slots {
			if s := &c.Slots[i]; s.N > 0 {
				c.of[s.PID] = append(c.of[s.PID], s)
			}
		}
	}
	return c.of[pid]
}

// sample counts a SAMPLE record.
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
