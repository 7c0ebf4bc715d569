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

// A stay is a mapping of a function in one page. It is small, because there may be a million.
type stay struct {
	mapping     int32  // index in the counter's mappings
	first, last uint16 // offsets in the page, both included
}

// add adds a stay. Stays come in the order of their times, or nearly so.
func (p *page) add(c *Counter, s stay) {
	time, at := c.mapping(s).Time, len(p.stays)
	if c.latest = max(c.latest, time); time < c.latest {
		at = p.upTo(c, time)
	}
	p.stays = slices.Insert(p.stays, at, s)
	if at < p.index.Len() {
		p.index = addrs.TimelineOf[uint16]{}
	}
}

// upTo returns how many stays began up to a time.
func (p *page) upTo(c *Counter, time uint64) int {
	if n := len(p.stays); n == 0 || c.mapping(p.stays[n-1]).Time <= time {
		return n
	}
	return sort.Search(len(p.stays), func(i int) bool { return c.mapping(p.stays[i]).Time > time })
}

// at returns the function at an address at a time, if it is there since a time. next is when that
// may change.
func (p *page) at(c *Counter, since, time, ip uint64) (s sight, next uint64) {
	n, off := p.upTo(c, time), uint16(ip%counterPage)
	next = math.MaxUint64
	if n < len(p.stays) {
		next = c.mapping(p.stays[n]).Time
	}
	for i := p.last(off, n); i >= 0; i = p.last(off, i) {
		m := c.mapping(p.stays[i])
		if m.Time < since {
			break
		}
		if f := c.function(m); len(c.lost) == 0 || !c.lost[f] {
			return sight{inFunction, m.Time, f, offsetOf(m.Of().Off, ip-m.Addr)}, next
		}
	}
	return s, next
}

// loadsLater reports whether a function is put at an offset after a time, and before end.
func (p *page) loadsLater(c *Counter, time, end uint64, off uint16) bool {
	p.extend()
	here := addrs.Span[uint16]{Lo: off, Hi: off + 1}
	for i := p.index.First(here, p.upTo(c, time), len(p.stays)); i >= 0 && c.mapping(p.stays[i]).Time < end; i = p.index.First(here, i+1, len(p.stays)) {
		if f := c.function(c.mapping(p.stays[i])); f.function != noFunction && !c.lost[f] {
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
