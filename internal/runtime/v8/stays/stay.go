package stays

import (
	"math"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/recording"
)

// A Log is the code of a log.
type Log struct {
	Codes []Code
	Stays []Stay   // in the order of the log
	Ends  []uint64 // the last time of each isolate, in nanoseconds of it

	Offsets []Bounds // of the isolates, once they are known
	// Events are those of Arrange, in the order of their times. Their functions are Codes.
	Events  []jitcode.Event
	Own     int // stays with events that no dump has
	Unclear int // stays that are left out: see Arrange

	contradicted map[int32]Bounds // the bounds of isolates that functions of a dump contradict

	life   *Life // that of covers
	covers []*cover
}

// A Code is a piece of code.
type Code struct {
	Key      uint64 // hash of the name, as in a dump
	Lines    uint64 // hash of its lines and inlined calls, and of what else differs; 0 for none
	Isolate  int32
	First    int32 // index of its first stay
	Bytecode bool  // perhaps no machine code
	Prompt   bool  // it is logged before it runs, unlike WebAssembly
	InFile   bool  // it lies in a file, and is the same in all isolates
}

// A Stay is code at an address. It came there between two times of its isolate, in nanoseconds: lines about moves
// have no time.
type Stay struct {
	Code       int32
	Addr, Size uint64
	From, To   uint64
}

// IsIn reports whether code of the log lies in memory.
func (l *Log) IsIn(memory recording.Ranges) bool {
	for i := 0; i < len(l.Stays); i += 1 + len(l.Stays)/recording.MaxProbes {
		if s := &l.Stays[i]; !l.Codes[s.Code].Bytecode && memory.Hold(s.Addr) {
			return true
		}
	}
	return false
}

// Never is the end of a move after which the log has no time, and of all that has no end.
const Never = math.MaxInt64

const never = Never

// A place is where code lies.
type place struct{ addr, size uint64 }

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
