package recording

import (
	"github.com/jitinject/jitinject/perfdata"
)

// A Histogram is an address histogram: the survey counts samples in it, so that they need not be
// read again. It has each address of user space once for each event, with the number of samples, the
// sum of their periods, and their first and last time. Mostly that is enough, because the code at an
// address rarely changes. If it changes, or if there are too many addresses, the samples are read
// again (package count).
type Histogram struct {
	// Total is the number of samples, those of the kernel included.
	Total int64
	// Events has the samples and periods of each attr, those of the kernel included. Attrs after the
	// last one with samples are missing.
	Events []Weight
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

// A Weight is a number of samples, and the sum of their periods: perf report shows shares of this sum.
type Weight struct {
	Samples int64
	Period  uint64
}

// Add adds the samples of another weight.
func (w *Weight) Add(other Weight) {
	w.Samples += other.Samples
	w.Period += other.Period
}

// AddTo adds the samples of an attr of the recording to its element of events, which it extends.
func (w Weight) AddTo(events []Weight, attr int) []Weight {
	for len(events) <= attr {
		events = append(events, Weight{})
	}
	events[attr].Add(w)
	return events
}

// A histogramSlot counts the samples of an event at an address of a process.
type histogramSlot struct {
	IP uint64
	// First and Last are times in nanoseconds; LatestTime for samples without.
	First, Last uint64
	N           int64 // number of samples; 0 for a free slot
	Period      uint64
	PID         uint32
	Attr        uint32 // number of the samples' attr
}

// MaxAttr is the highest number of an attr that is told from others. Samples of later ones count for
// it: perf record has fewer events.
const MaxAttr = 1<<10 - 1

const (
	minHistogram = 1 << 10
	maxHistogram = 1 << 17 // slots of 48 bytes; at most half of them are used

	// MaxSteps bounds how often the code near an address may change.
	MaxSteps = 1000
)

func newHistogram() *Histogram {
	c := new(Histogram)
	c.resize(minHistogram)
	return c
}

func (hist *Histogram) resize(n int) {
	old := hist.Slots
	hist.Slots, hist.shift = make([]histogramSlot, n), 64
	for n > 1 {
		hist.shift--
		n /= 2
	}
	for i := range old {
		if s := &old[i]; s.N > 0 {
			*hist.slot(s.PID, s.Attr, s.IP) = *s
		}
	}
}

// slot returns the slot of an event and an address. It may be free.
func (hist *Histogram) slot(pid, attr uint32, ip uint64) *histogramSlot {
	mask := uint64(len(hist.Slots) - 1)
	for i := ((ip ^ uint64(pid)<<44 ^ uint64(attr)<<32) * 0x9e3779b97f4a7c15) >> hist.shift; ; i++ {
		if s := &hist.Slots[i&mask]; s.N == 0 || s.IP == ip && s.PID == pid && s.Attr == attr {
			return s
		}
	}
}

// Of returns the addresses of a process that have samples, in no order. An address has a slot for each
// event with samples there. All samples must have been
// counted. c may be nil.
func (hist *Histogram) Of(pid uint32) []*histogramSlot {
	if hist == nil {
		return nil
	}
	if hist.of == nil {
		hist.of = make(map[uint32][]*histogramSlot)
		for i := range hist.Slots {
			if s := &hist.Slots[i]; s.N > 0 {
				hist.of[s.PID] = append(hist.of[s.PID], s)
			}
		}
	}
	return hist.of[pid]
}

// WeightOf returns the attr of a SAMPLE record and its weight. Damaged samples have the first attr and
// no period.
func WeightOf(layouts *perfdata.Layouts, rec perfdata.Record) (attr int, w Weight) {
	attr, period, _ := layouts.SamplePeriod(rec)
	return min(attr, MaxAttr), Weight{1, period}
}

// sample counts a SAMPLE record.
func (hist *Histogram) sample(rec perfdata.Record, layouts *perfdata.Layouts) {
	if hist == nil || hist.Over {
		return
	}
	hist.Total++
	attr, w := WeightOf(layouts, rec)
	hist.Events = w.AddTo(hist.Events, attr)
	if !IsUser(rec) {
		return
	}
	h, ok := layouts.SampleHead(rec)
	if !ok {
		return
	}
	time := min(h.Time, LatestTime)
	s := hist.slot(h.PID, uint32(attr), h.IP)
	if s.N == 0 {
		*s = histogramSlot{IP: h.IP, PID: h.PID, Attr: uint32(attr), First: time, Last: time}
		hist.used++
	}
	s.N++
	s.Period += w.Period
	s.First, s.Last = min(s.First, time), max(s.Last, time)
	switch {
	case 2*hist.used <= len(hist.Slots):
	case len(hist.Slots) < maxHistogram:
		hist.resize(2 * len(hist.Slots))
	default:
		hist.Over, hist.Slots = true, nil
	}
}
