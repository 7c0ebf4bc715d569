package checkrecording

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/sorting"
	"github.com/jitinject/jitinject/perfdata"
)

// samples counts the samples of a recording, and where those after the first mapping of an object are.
type samples struct {
	total int64
	at    map[place]int64
}

// A place is an address in a process.
type place struct {
	pid  uint32
	addr uint64
}

// A span is memory from an address up to an end.
type span struct{ addr, end uint64 }

// joined returns spans sorted, those that touch as one.
func joined(list []span) []span {
	sorting.By(list, func(a, b span) int { return cmp.Compare(a.addr, b.addr) })
	out := list[:0]
	for _, r := range list {
		if n := len(out); n > 0 && r.addr <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, r.end)
		} else {
			out = append(out, r)
		}
	}
	return out
}

// maxPlaces bounds how many places are kept. Samples at further ones count as not shown.
const maxPlaces = 1 << 20

// add counts a sample. ok says that its event has these fields.
func (s *samples) add(h perfdata.SampleHead, ok bool) {
	s.total++
	at := place{h.PID, h.IP}
	if _, known := s.at[at]; !ok || !known && len(s.at) == maxPlaces {
		return
	}
	if s.at == nil {
		s.at = make(map[place]int64)
	}
	s.at[at]++
}

// shown returns how many samples are where the recording maps objects that perf can use, at any time.
func (c *checker) shown() (n int64) {
	mapped := make(map[uint32][]span)
	for _, o := range c.objects {
		for _, m := range o.mappings {
			if o.usable {
				mapped[m.pid] = append(mapped[m.pid], span{m.addr, m.addr + m.len})
			}
		}
	}
	for pid := range mapped {
		mapped[pid] = joined(mapped[pid])
	}
	for at, count := range c.samples.at {
		list := mapped[at.pid]
		_, found := slices.BinarySearchFunc(list, at.addr, func(r span, addr uint64) int {
			switch {
			case r.end <= addr:
				return -1
			case r.addr > addr:
				return 1
			}
			return 0
		})
		if found {
			n += count
		}
	}
	return n
}

// rounds follows up to which time readers of a recording may use its records.
//
// At the end of a round, perf hands out what is no later than the latest record before
// the round in front of it ended [perf, ordered_events__flush].
type rounds struct {
	off      bool
	latest   uint64 // of all so far
	previous uint64 // latest at the end of the last round
	handed   uint64 // up to this time, records have been handed out
}

func (r *rounds) finished() {
	r.handed = max(r.handed, r.previous)
	r.previous = r.latest
}

// record returns by how much a record comes too late, or 0.
func (r *rounds) record(time uint64) uint64 {
	r.latest = max(r.latest, time)
	if r.off || time >= r.handed {
		return 0
	}
	return r.handed - time
}
