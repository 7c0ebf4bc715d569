package count

import (
	"math"
	"slices"
	"sort"

	"github.com/jitinject/jitinject/internal/addrs"
)

// A page has the stays of functions in counterPage bytes.
type page struct {
	stays []stay                   // in the order of their times
	index addrs.TimelineOf[uint16] // of the first of them; the others were added since the last search
}

// A stay is a function at addresses of one page, from a time on.
type stay struct {
	time        uint64
	function    functionID // its function is noFunction if the code has left
	offset      uint32     // of its first byte in the function; noOffset if unknown
	first, last uint16     // offsets in the page, both included
}

// add adds a stay. Stays come in the order of their times, or nearly so.
func (p *page) add(s stay) {
	at := p.upTo(s.time)
	p.stays = slices.Insert(p.stays, at, s)
	if at < p.index.Len() {
		p.index = addrs.TimelineOf[uint16]{}
	}
}

// upTo returns how many stays began up to a time.
func (p *page) upTo(time uint64) int {
	if n := len(p.stays); n == 0 || p.stays[n-1].time <= time {
		return n
	}
	return sort.Search(len(p.stays), func(i int) bool { return p.stays[i].time > time })
}

// at returns the function at an offset at a time, if it is there since a time. next is when that
// may change.
func (p *page) at(c *Counter, since, time uint64, off uint16) (s sight, next uint64) {
	n := p.upTo(time)
	next = math.MaxUint64
	if n < len(p.stays) {
		next = p.stays[n].time
	}
	for i := p.last(off, n); i >= 0 && p.stays[i].time >= since; i = p.last(off, i) {
		if l := &p.stays[i]; len(c.lost) == 0 || !c.lost[l.function] {
			return sight{inFunction, l.time, l.function, offsetOf(uint64(l.offset), uint64(off-l.first))}, next
		}
	}
	return s, next
}

// loadsLater reports whether a function is put at an offset after a time, and before end.
func (p *page) loadsLater(c *Counter, time, end uint64, off uint16) bool {
	p.extend()
	here := addrs.Span[uint16]{Lo: off, Hi: off + 1}
	for i := p.index.First(here, p.upTo(time), len(p.stays)); i >= 0 && p.stays[i].time < end; i = p.index.First(here, i+1, len(p.stays)) {
		if f := p.stays[i].function; f.function != noFunction && !c.lost[f] {
			return true
		}
	}
	return false
}

// last returns the index of the last of the first n stays that has an offset, or -1.
func (p *page) last(off uint16, n int) int {
	p.extend()
	return p.index.Last(addrs.Span[uint16]{Lo: off, Hi: off + 1}, 0, n)
}

// extend adds all stays to the index.
func (p *page) extend() {
	for i := p.index.Len(); i < len(p.stays); i++ {
		p.index.Add(addrs.Span[uint16]{Lo: p.stays[i].first, Hi: p.stays[i].last + 1})
	}
}
