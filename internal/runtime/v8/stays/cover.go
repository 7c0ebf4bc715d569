package stays

import (
	"cmp"
	"math"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
)

// A cover finds the code that an isolate, or a dump, has at an address.
type cover struct {
	log         *Log
	isolate     int32
	first, last addrs.Owners   // the first and the last stay at an address
	ends        map[int]uint64 // when other code came over a stay, at the latest
}

// Release drops what is kept of a log for the life that it was compared with.
func (l *Log) Release() { l.life, l.covers = nil, nil }

// covers returns those of the isolates of a log, if it is of the process.
func (f *Life) covers(l *Log) []*cover {
	if l.life == f {
		return l.covers
	}
	l.life, l.covers = f, nil
	for i := range l.Stays {
		s := &l.Stays[i]
		l.Codes[s.Code].InFile = f.known && f.executable.Hold(s.Addr) && f.mapped(s.Addr) < 0
	}
	for i := range l.Ends {
		l.covers = append(l.covers, &cover{log: l, isolate: int32(i), ends: make(map[int]uint64)})
	}
	each := func(i int, place func(c *cover, s *Stay)) {
		s := &l.Stays[i]
		if c := &l.Codes[s.Code]; f.holds(c, s.Addr) && !c.InFile {
			place(l.covers[c.Isolate], s)
		}
	}
	for i := range l.Stays {
		each(i, func(c *cover, s *Stay) {
			c.last.Each(s.Addr, s.Addr+s.Size, func(t addrs.Tenancy) bool {
				if _, ok := c.ends[t.Owner]; !ok && l.Stays[t.Owner].Code != s.Code {
					c.ends[t.Owner] = s.To
				}
				return true
			})
			c.last.Place(s.Addr, s.Addr+s.Size, i)
		})
	}
	for i := len(l.Stays) - 1; i >= 0; i-- {
		each(i, func(c *cover, s *Stay) { c.first.Place(s.Addr, s.Addr+s.Size, i) })
	}
	return l.covers
}

// several stands for the covers of code at an address.
var several = new(cover)

// onlyCovers returns, for each sample, the cover with code at its address: nil for none, several for more than one.
func (f *Life) onlyCovers(covers []*cover) []*cover {
	if f.only != nil && slices.Equal(f.onlyOf, covers) {
		return f.only
	}
	f.only, f.onlyOf = make([]*cover, len(f.samples)), covers
	next := make([]int, len(f.samples)+1) // the first sample from there on that more covers may have, nearly
	for i := range next {
		next[i] = i
	}
	from := func(i int) int {
		for next[i] != i {
			next[i] = next[next[i]]
			i = next[i]
		}
		return i
	}
	for _, c := range covers {
		c.first.Each(0, math.MaxUint64, func(t addrs.Tenancy) bool {
			i, _ := slices.BinarySearchFunc(f.samples, t.Lo, func(s sampled, lo uint64) int { return cmp.Compare(s.ip, lo) })
			for i = from(i); i < len(f.samples) && f.samples[i].ip < t.Hi; i = from(i + 1) {
				if f.only[i] != nil {
					f.only[i], next[i] = several, i+1
				} else {
					f.only[i] = c
				}
			}
			return true
		})
	}
	return f.only
}

// ownerAt returns the owner of an address, or -1.
func ownerAt(o *addrs.Owners, ip uint64) int {
	t, ok := o.Next(ip)
	if !ok || t.Lo > ip {
		return -1
	}
	return t.Owner
}
