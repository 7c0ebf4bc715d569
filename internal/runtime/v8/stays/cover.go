package stays

import (
	"github.com/jitinject/jitinject/internal/addrs"
)

// A cover finds the code that an isolate, or a dump, has at an address.
type cover struct {
	log         *Log
	isolate     int32
	first, last addrs.Owners   // the first and the last stay at an address
	ends        map[int]uint64 // when other code came over a stay, at the latest
}

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

// ownerAt returns the owner of an address, or -1.
func ownerAt(o *addrs.Owners, ip uint64) int {
	t, ok := o.Next(ip)
	if !ok || t.Lo > ip {
		return -1
	}
	return t.Owner
}
