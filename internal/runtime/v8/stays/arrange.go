package stays

import (
	"cmp"
	"slices"

	"github.com/jitinject/jitinject/internal/addrs"
	"github.com/jitinject/jitinject/internal/jitcode"
	"github.com/jitinject/jitinject/internal/sorting"
)

// V8 reuses the memory of code. Code has its name from the latest time at which it may have come to an address, to
// the earliest at which other code may have come there. In between, the address has no name, because a wrong one is
// worse.

// An arrival is code that came to an address, of a log or of a jitdump.
type arrival struct {
	log        *Log // nil for a jitdump
	stay       int32
	clock      int32 // arrivals of one clock have a known order
	addr, size uint64
	key        uint64
	since      int64 // it came in this time of the recording, in nanoseconds, or later
	sure       int64 // it came in this time, or earlier
	until      int64 // the next one may have come in this time, or never
	moved      int64 // it may have left in this time, or never
	follows    bool  // there was code before
	overDump   bool  // of a jitdump
	replaced   bool  // the next one is of a log
	mixed      bool  // so may arrivals of other clocks before it, up to sure
	unordered  bool  // it is not known which of two came last
	always     bool  // of a dump without times: nothing else is known there
	gives      bool  // it gives way to one
	dumped     bool  // a dump has it, too: it is part of the dump's
}

// dumpClock is that of all jitdumps of a process.
const dumpClock = 0

// Arrange makes the events of logs of a process. dumped are the loads of its jitdumps.
func Arrange(f *Life, logs []*Log, dumped *Loads) {
	all := slices.Clone(dumped.arrivals)
	clock := int32(dumpClock)
	for _, l := range logs {
		clock++
		moves := make(map[int32]bool) // never where V8 writes a dump
		for i := range l.Stays {
			if c := l.Stays[i].Code; l.Codes[c].First != int32(i) {
				moves[c] = true
			}
		}
		for i := range l.Stays {
			s := &l.Stays[i]
			c := &l.Codes[s.Code]
			b := l.Offsets[c.Isolate]
			if b.IsEmpty() || !f.holds(c, s.Addr) {
				continue
			}
			a := arrival{log: l, stay: int32(i), clock: clock + c.Isolate, addr: s.Addr, size: s.Size, key: c.Key, until: never, moved: never}
			start := int64(f.earliest(s.Addr))
			a.since = max(start, int64(s.From)+b.Lo-f.drift(s.From))
			a.sure = never
			if s.To < never && b.Hi < never-int64(s.To) {
				a.sure = max(a.since, int64(s.To)+b.Hi+precision+f.drift(s.To))
			}
			if load := dumped.find(&a, c); load != nil {
				if load.always || moves[s.Code] {
					continue
				}
				a.dumped, a.since = true, load.since
			}
			all = append(all, a)
		}
		clock += int32(len(l.Offsets))
	}
	sorting.Stable(all, func(a, b arrival) int { return cmp.Compare(a.since, b.since) })
	follow(all)
	of := make(map[*Log][]*arrival)
	for i := range all {
		if a := &all[i]; a.log != nil {
			of[a.log] = append(of[a.log], a)
		}
	}
	for _, l := range logs {
		l.take(of[l])
	}
}

// earliest returns the time from which an address may have code.
func (f *Life) earliest(addr uint64) uint64 { return max(f.rec.MarkerTime(f.pid), f.starts.At(addr)) }

// follow finds what comes after what. all are in the order of their times.
func follow(all []arrival) {
	var owners addrs.Owners
	for i := range all {
		a := &all[i]
		if a.dumped {
			continue
		}
		var before []int
		owners.Each(a.addr, a.addr+a.size, func(t addrs.Tenancy) bool {
			if len(before) == 0 || before[len(before)-1] != t.Owner {
				before = append(before, t.Owner)
			}
			return true
		})
		if len(before) == 1 && all[before[0]].isSame(a) {
			a.until = a.since
			a.log = nil // it is described already
			continue
		}
		for _, k := range before {
			p := &all[k]
			a.follows = true
			a.gives, p.gives = a.gives || p.always, p.gives || a.always
			if p.until == never {
				p.until, p.replaced = a.since, a.log != nil
			}
			a.overDump = a.overDump || p.clock == dumpClock
			if (p.clock != a.clock || p.mixed) && p.sure > a.since {
				p.unordered, a.unordered, a.mixed = true, true, true
				a.sure = max(a.sure, p.sure)
			}
		}
		owners.Place(a.addr, a.addr+a.size, i)
	}
}

// isSame reports whether two arrivals of logs are of one function, which was logged again, or by several isolates.
func (a *arrival) isSame(b *arrival) bool {
	if a.log == nil || b.log == nil || a.addr != b.addr || a.size != b.size || a.key != b.key {
		return false
	}
	x, y := &a.log.Codes[a.log.Stays[a.stay].Code], &b.log.Codes[b.log.Stays[b.stay].Code]
	return x.InFile && y.InFile || a.log == b.log && x.Isolate == y.Isolate && x.Lines == y.Lines
}

// take makes the events of a log, and leaves out what has no time in which it is sure.
func (l *Log) take(arrivals []*arrival) {
	last := make(map[int32]*arrival) // by code
	for _, a := range arrivals {
		c := l.Stays[a.stay].Code
		if before := last[c]; before != nil {
			before.moved = a.since
		}
		last[c] = a
	}
	at := make(map[int32]uint64) // addresses of codes
	add := func(kind jitcode.Kind, a *arrival, time int64) {
		c := l.Stays[a.stay].Code
		e := jitcode.Event{Kind: kind, Function: int32(c), Time: uint64(max(time, 0)), Addr: a.addr}
		if kind == jitcode.Load {
			e.Size = a.size
			if old, ok := at[c]; ok {
				e.Kind, e.More = jitcode.Move, old
			}
			at[c] = a.addr
		}
		l.Events = append(l.Events, e)
	}
	for _, a := range arrivals {
		from := a.since
		if a.follows {
			from = min(a.sure, never-1) + 1 // what was there is gone since
		}
		isSure := !a.unordered && (a.sure < never || !a.follows) && from < min(a.until, a.moved)
		if a.overDump && !a.gives && (!isSure || a.since < from) {
			add(jitcode.Load, a, a.since)
			add(jitcode.Gone, a, a.since)
		}
		switch {
		case a.dumped:
			add(jitcode.Load, a, a.since)
		case isSure:
			l.Own++
			add(jitcode.Load, a, from)
			end := a.moved
			if a.replaced {
				end = min(end, a.until)
			}
			if end < never {
				add(jitcode.Gone, a, end)
			}
		default:
			l.Unclear++
		}
	}
	sorting.Stable(l.Events, func(a, b jitcode.Event) int { return cmp.Compare(a.Time, b.Time) })
}
